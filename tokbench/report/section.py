"""The contract of a section of the report: what a plugin registers for it, with its charts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tokbench.report.charts.svg import Drawing
from tokbench.report.document import Line, Node, Section
from tokbench.report.tables import CellTables


class Chart(NamedTuple):
    """One chart of a section as a picture of its own, with its key."""

    name: str
    """The name of its files without ending; letters, digits and ``. _ -`` are kept."""
    drawing: Drawing
    """The chart."""
    keys: tuple[tuple[str, Drawing], ...] = ()
    """The names of colours and marks, each with what is drawn beside it."""
    headings: tuple[str, ...] = ()
    """Lines above the chart, for one that does not say by itself what it shows."""


class SectionNotes(NamedTuple):
    """Notes of a run that stand in a section, and not at the head of the page."""

    notes: Sequence[str]
    """The notes."""
    hint: Line
    """The line that the head of the page has instead."""


def _no_charts(tables: CellTables) -> Iterator[Chart]:  # noqa: ARG001 - the default of `charts`
    yield from ()


@dataclass(frozen=True, kw_only=True)
class SectionSpec:
    """The description of a section, or of several that stand one behind the other."""

    name: str
    """Its name among the sections of a report."""
    place: int
    """Sections stand in the order of their places; those of tokbench are multiples of ten."""
    build: Callable[[CellTables], Section | Sequence[Section] | None]
    """Returns the section as a tree; ``None`` if a run has nothing for it."""
    charts: Callable[[CellTables], Iterator[Chart]] = _no_charts
    """Yields the charts of the section, which ``tokbench report --pictures`` writes."""
    lead: Callable[[CellTables], Sequence[Node]] | None = None
    """Returns what it adds to the answer, before the corpora; ``None`` for a section that adds nothing."""
    notes: Callable[[CellTables], SectionNotes] | None = None
    """Returns the notes of the run that stand in the section; ``None`` for a section without any."""
    page_only: bool = False
    """``True`` if it is left out of formats without charts."""

    def sections(self, tables: CellTables) -> list[Section]:
        """Return what a run has for it."""
        built = self.build(tables)
        return [] if built is None else [built] if isinstance(built, Section) else list(built)
