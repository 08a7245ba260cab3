"""The family ``fairness``: the cost of the same text in different languages."""

from tokbench.metrics.fairness.fairness import SPEC as SPEC
from tokbench.report.section import SectionSpec


def load_section() -> SectionSpec:
    """Load lazily: workers need no sections."""
    from tokbench.metrics.fairness.section import FAIRNESS

    return FAIRNESS
