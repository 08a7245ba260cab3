"""The family ``fairness``: the cost of the same text in different languages."""

from tokbench.metrics.fairness.fairness import SPEC as SPEC
from tokbench.report.section import SectionSpec


def late_specs() -> tuple[SectionSpec, ...]:
    """Return the section, which workers do not import."""
    from tokbench.metrics.fairness.section import FAIRNESS

    return (FAIRNESS,)
