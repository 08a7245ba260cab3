"""The section on speed: a table for each corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tokbench.report.cells import Series, legends
from tokbench.report.escaping import plain
from tokbench.report.tables import CellTables


@dataclass(frozen=True, slots=True)
class SpeedTable:
    """The speeds of one corpus, the fastest tokenizer first.

    Attributes:
        corpus: the corpus whose texts were timed.
        columns: the timed metrics.
        rows: name of the tokenizer, number of rounds for each column, its notes, and its engine.
    """

    corpus: str
    columns: Sequence[Series]
    rows: Sequence[tuple[str, Sequence[int | None], str, str]]

    @property
    def legends(self) -> list[str]:
        """The meaning of the marks in it."""
        return legends(cell for column in self.columns for cell in column.cells.values())


def speed_table(tables: CellTables, corpus: str) -> SpeedTable | None:
    """Return the speeds of a corpus, or ``None`` if none was measured."""
    names = [name for name in tables.metrics if tables.metric(name).timed]
    columns = [column for name in names if (column := tables.series(name, corpus)).measured]
    if not columns:
        return None
    rows = []
    for name in columns[0].ranked():
        cells = [tables.cell(column.metric, corpus, column.group, name) for column in columns]
        if any(cells):  # a tokenizer that was not ready stands in the section on problems
            rounds = [cell.n if cell and cell.value is not None else None for cell in cells]
            info = tables.tokenizer(name)
            rows.append((name, rounds, plain(info.notes), info.engine))
    return SpeedTable(corpus, columns, rows)
