"""Sections and tables of the report: what groups and tokenizers share, and curves over a few metrics."""

from collections.abc import Sequence

from tokbench.plugin.report import ReporterSpec, SectionSpec


def late_specs() -> Sequence[SectionSpec | ReporterSpec]:
    """Return the sections and tables, which workers do not import."""
    from tokbench_research.sections.alike import SPECS
    from tokbench_research.sections.curves import SECTION

    return [*SPECS, SECTION]
