"""The report of a run with the sections of all plugins."""

from __future__ import annotations

from functools import cache

from tokbench.registry.plugins import load_registry
from tokbench.report.report import Report
from tokbench.report.section import SectionSpec
from tokbench.results.model import Results


def report_of(results: Results) -> Report:
    """Return the report of a run with the sections that the installed plugins bring.

    >>> report_of(Results(name="nothing yet")).sections[0].title
    'Overview'
    """
    return Report(results, _sections())


@cache
def _sections() -> tuple[SectionSpec, ...]:
    return tuple(load_registry().sections)
