"""The family ``speed``: megabytes per second, and what is measured of time and memory."""

from tokbench.measuring.family import MetricFamily
from tokbench.metrics.speed.measure import RATIO, VALUES, Speed, SpeedOptions
from tokbench.report.section import SectionSpec

SPEC = MetricFamily(
    name="speed",
    summary="MB/s of encoding and decoding: one thread, unseen text, interleaved rounds",
    values=(*VALUES, RATIO),
    timed=Speed,
    options=SpeedOptions,
)


def late_specs() -> tuple[SectionSpec, ...]:
    """Return the sections on speed, and on compression against speed."""
    from tokbench.metrics.speed.section import SPEED
    from tokbench.metrics.speed.tradeoff import TRADEOFF

    return SPEED, TRADEOFF
