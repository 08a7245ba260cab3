"""The family ``documents``: a row for each document."""

from collections.abc import Sequence

from tokbench.plugin.report import ReporterSpec
from tokbench_research.metrics.documents.documents import SPEC as SPEC


def load_formats() -> Sequence[ReporterSpec]:
    """Load lazily: workers need no tables."""
    from tokbench_research.metrics.documents.tables import SPECS

    return SPECS
