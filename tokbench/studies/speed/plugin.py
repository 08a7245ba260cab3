"""Registers the study of speed, and the family ``speed``."""

from __future__ import annotations

from typing import Final

from tokbench.measuring.family import MetricFamily
from tokbench.measuring.study import Outcome, StudyContext, StudySpec
from tokbench.measuring.timing.contract import TimedMetric
from tokbench.report.section import SectionSpec
from tokbench.studies.speed.measure import RATIO, VALUES, Speed, SpeedOptions
from tokbench.tokenizers.options import Options


def run(context: StudyContext, _: Options) -> Outcome:
    """Time the tokenizers."""
    from tokbench.studies.speed.study import time_all

    return time_all(context)


SPECS: Final = (
    StudySpec(
        name="speed",
        title="speed",
        summary="families that time all tokenizers together: speed, and those of plugins",
        run=run,
        makes=("a timed metric", TimedMetric),
        alone=True,
    ),
    MetricFamily(
        name="speed",
        summary="MB/s of encoding and decoding: one thread, unseen text, interleaved rounds",
        values=(*VALUES, RATIO),
        study="speed",
        make=Speed,
        options=SpeedOptions,
    ),
)


def late_specs() -> tuple[SectionSpec, ...]:
    """Return the sections on speed, and on compression against speed."""
    from tokbench.studies.speed.section import SPEED, TRADEOFF

    return SPEED, TRADEOFF
