"""The report of a run with the sections of all plugins."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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
    return next((report for report in _shared if report.results is results), None) or Report(results, _sections())


_shared: list[Report] = []


@contextmanager
def shared_report(results: Results) -> Iterator[None]:
    """Let all formats of a run have one report: what they rank is ranked once."""
    _shared.append(Report(results, _sections()))
    try:
        yield
    finally:
        _shared.pop()


@cache
def _sections() -> tuple[SectionSpec, ...]:
    return tuple(load_registry().sections)
