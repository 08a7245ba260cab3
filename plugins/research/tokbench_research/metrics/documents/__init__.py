"""The family ``documents``: a row for each document."""

from collections.abc import Sequence

from tokbench.plugin.report import ReporterSpec
from tokbench_research.metrics.documents.documents import SPEC as SPEC


def late_specs() -> Sequence[ReporterSpec]:
    """Return the tables, which workers do not import."""
    from tokbench_research.metrics.documents.tables import SPECS

    return SPECS
