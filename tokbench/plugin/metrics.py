"""What metrics and studies are made of.

>>> from tokbench.plugin.metrics import Metric
>>> Metric("density", "tokens/byte", "lower", of=("tokens", "bytes")).id
'density'
"""

from __future__ import annotations

from tokbench.measuring.counted import TOKEN_PLACES, Basis, counted, declared
from tokbench.measuring.encoded_shard import EncodedShard
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.job import Job
from tokbench.measuring.metric import (
    CorpusOutcome,
    CorpusStates,
    Measured,
    Metric,
    NotApplicable,
)
from tokbench.measuring.study import AskedJobs, Kept, Outcome, StudyContext, StudyProblem, StudySpec, ask_each
from tokbench.measuring.sums import SummedMetric, Sums
from tokbench.results.cells import OWN_TEXTS, WHOLE, Cell
from tokbench.results.study_blocks import BlockType
from tokbench.statistics.jackknife import interval, student_t

__all__ = [
    "OWN_TEXTS",
    "TOKEN_PLACES",
    "WHOLE",
    "AskedJobs",
    "Basis",
    "BlockType",
    "Cell",
    "CorpusOutcome",
    "CorpusStates",
    "EncodedShard",
    "Job",
    "Kept",
    "Measured",
    "Metric",
    "MetricFamily",
    "NotApplicable",
    "Outcome",
    "StudyContext",
    "StudyProblem",
    "StudySpec",
    "SummedMetric",
    "Sums",
    "ask_each",
    "counted",
    "declared",
    "interval",
    "student_t",
]
