"""The report of a run with the sections of all plugins."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, Final

from tokbench.foundation.failures import Failure, attempt
from tokbench.foundation.plain_values import plain
from tokbench.registry.foreign import Remote
from tokbench.registry.plugins import load_registry
from tokbench.report.answer.line import AnswerLine
from tokbench.report.document import Node, Section
from tokbench.report.report import Report
from tokbench.report.section import Chart, SectionNotes, SectionSpec
from tokbench.report.tables import CellTables
from tokbench.results.model import Results

_GIVES: Final[dict[str, tuple[Any, Any]]] = {
    "build": (list[Section] | Section | None, None),
    "charts": (list[Chart], ()),
    "answer": (list[AnswerLine], ()),
    "lead": (list[Node], ()),
    "notes": (SectionNotes, SectionNotes((), ())),
}
"""By function of a section, what it returns, and what stands for that if it fails."""


def report_of(results: Results) -> Report:
    """Return the report of a run with the sections that the installed plugins bring.

    What a section of another package fails to do is a problem of the results, and the rest of the report is there.

    >>> report_of(Results(name="nothing yet")).sections[0].title
    'Overview'
    """
    return next((report for report in _shared if report.results is results), None) or _report_of(results)


def _report_of(results: Results) -> Report:
    return Report(results, [_guarded(spec, results) for spec in _sections(tuple(sys.path))])


_shared: list[Report] = []


@contextmanager
def shared_report(results: Results) -> Iterator[None]:
    """Let all formats of a run have one report: what they rank is ranked once."""
    _shared.append(_report_of(results))
    try:
        yield
    finally:
        _shared.pop()


@lru_cache(maxsize=1)
def _sections(_path: tuple[str, ...]) -> tuple[SectionSpec, ...]:
    return tuple(load_registry().sections)


def _guarded(spec: SectionSpec, results: Results) -> SectionSpec:
    functions = {name: getattr(spec, name) for name in _GIVES}
    remote: dict[str, Any] = {
        name: partial(_given, (spec.name, name), function, results)
        for name, function in functions.items()
        if isinstance(function, Remote)
    }
    return replace(spec, **remote)


def _given(
    place: tuple[str, str], function: Callable[[CellTables], Any], results: Results, tables: CellTables
) -> Any | Sequence[Any]:
    section, name = place
    kind, nothing = _GIVES[name]
    made = attempt(lambda: plain(function(tables), kind, name), f"the section {section!r} is left out")
    if not isinstance(made, Failure):
        return made
    if made.reason not in results.problems:
        results.problems.append(made.reason)
    return nothing
