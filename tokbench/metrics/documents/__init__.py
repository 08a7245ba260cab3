"""The family ``documents``: a row for each document."""

from collections.abc import Sequence

from tokbench.metrics.documents.documents import SPEC as SPEC
from tokbench.plugin import ReporterSpec


def load_formats() -> Sequence[ReporterSpec]:
    """Load lazily: workers need no tables."""
    from tokbench.metrics.documents.tables import SPECS

    return SPECS
