"""What metrics and studies are made of.

>>> from tokbench.plugin.metrics import Metric
>>> Metric("density", "tokens/byte", "lower", of=("tokens", "bytes")).id
'density'
"""

from __future__ import annotations

from tokbench.corpus.shards import Shard
from tokbench.measuring.counted import TOKEN_PLACES, Basis, counted, declared
from tokbench.measuring.encoded_shard import EncodedShard
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.job import Job, JobContext
from tokbench.measuring.metric import (
    CorpusOutcome,
    CorpusStates,
    Measured,
    Metric,
    NotApplicable,
)
from tokbench.measuring.spans import cut_patterns, find_spans, shard_bytes, sum_by_document
from tokbench.measuring.study import AskedJobs, Kept, Outcome, StudyContext, StudyProblem, StudySpec, ask_each
from tokbench.measuring.sums import SummedMetric, Sums
from tokbench.measuring.token_counts import DEPENDS_ON_AMOUNT, TokenCounts
from tokbench.measuring.word_units import NOT_ALIGNED, count_by_document, token_ends, word_counts_of
from tokbench.results.cells import OWN_TEXTS, WHOLE, Cell
from tokbench.results.study_blocks import BlockType
from tokbench.statistics.jackknife import interval, student_t
from tokbench.statistics.quantiles import quantile_interval

__all__ = [
    "DEPENDS_ON_AMOUNT",
    "NOT_ALIGNED",
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
    "JobContext",
    "Kept",
    "Measured",
    "Metric",
    "MetricFamily",
    "NotApplicable",
    "Outcome",
    "Shard",
    "StudyContext",
    "StudyProblem",
    "StudySpec",
    "SummedMetric",
    "Sums",
    "TokenCounts",
    "ask_each",
    "count_by_document",
    "counted",
    "cut_patterns",
    "declared",
    "find_spans",
    "interval",
    "quantile_interval",
    "shard_bytes",
    "student_t",
    "sum_by_document",
    "token_ends",
    "word_counts_of",
]
