"""The section and the tables of the report: what groups and tokenizers share."""

from collections.abc import Sequence

from tokbench.plugin.report import ReporterSpec, SectionSpec


def late_specs() -> Sequence[SectionSpec | ReporterSpec]:
    """Return the section and the tables, which workers do not import."""
    from tokbench_research.sections.alike import SPECS

    return SPECS
