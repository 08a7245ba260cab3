"""The contract of a section of the report: what a plugin registers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tokbench.report.answer.line import AnswerLine
from tokbench.report.charts.svg import Drawing
from tokbench.report.document import Line, Node, Section
from tokbench.report.tables import CellTables


class Chart(NamedTuple):
    """A chart of a section as a picture of its own."""

    name: str
    """The file name without ending; letters, digits and ``. _ -`` are kept."""
    drawing: Drawing
    keys: tuple[tuple[str, Drawing], ...] = ()
    headings: tuple[str, ...] = ()


class SectionNotes(NamedTuple):
    """Notes of a run that a section shows instead of the head of the page."""

    notes: Sequence[str]
    hint: Line
    """What the head of the page says instead."""


def _no_charts(tables: CellTables) -> Iterator[Chart]:  # noqa: ARG001 - the default of `charts`
    yield from ()


@dataclass(frozen=True, kw_only=True)
class SectionSpec:
    """The description of one section or of several in a row."""

    name: str
    place: int
    """The order; tokbench's own are multiples of ten."""
    build: Callable[[CellTables], Section | Sequence[Section] | None]
    """Returns ``None`` if a run has nothing for it."""
    charts: Callable[[CellTables], Iterator[Chart]] = _no_charts
    """Yields the charts that ``tokbench report --pictures`` writes."""
    answer: Callable[[CellTables], Iterable[AnswerLine]] | None = None
    """Returns what it adds to the answer of the run."""
    lead: Callable[[CellTables], Sequence[Node]] | None = None
    """Returns what a report shows with the answer, such as a chart."""
    notes: Callable[[CellTables], SectionNotes] | None = None
    """Returns the run's notes that the section shows."""
    study: str = ""
    """The study whose block it shows: the section is left out of a run without one."""
    page_only: bool = False
    """Leaves it out of formats without charts."""

    def sections(self, tables: CellTables) -> list[Section]:
        built = self.build(tables)
        return [] if built is None else [built] if isinstance(built, Section) else list(built)
