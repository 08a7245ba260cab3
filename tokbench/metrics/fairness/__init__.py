"""The family ``fairness``: the cost of the same text in different languages, on corpora of translations."""

from tokbench.metrics.fairness.fairness import SPEC as SPEC
from tokbench.plugin import SectionSpec


def load_section() -> SectionSpec:
    """Return the section of the report, which a worker does not load."""
    from tokbench.metrics.fairness.section import FAIRNESS

    return FAIRNESS
