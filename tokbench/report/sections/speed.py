"""The speeds of one corpus, each with what it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tokbench.report.cells import DisplayCell, Series
from tokbench.report.escaping import plain
from tokbench.report.tables import Tables

__all__ = ["SpeedTable", "speed_table"]


@dataclass(frozen=True, slots=True)
class SpeedTable:
    """A row a tokenizer, the fastest first.

    Attributes:
        corpus: whose texts were timed.
        columns: the metrics of the family.
        rows: name of the tokenizer, rounds for each column, and its notes.
    """

    corpus: str
    columns: Sequence[Series]
    rows: Sequence[tuple[str, Sequence[int | None], str]]

    @property
    def cells(self) -> list[DisplayCell]:
        """All that is measured in it."""
        return [cell for column in self.columns for cell in column.cells.values()]


def speed_table(tables: Tables, corpus: str) -> SpeedTable | None:
    """The speeds of a corpus, or ``None`` where none was measured."""
    names = [name for name in tables.metrics if tables.family(name) == "speed"]
    columns = [column for name in names if (column := tables.series(name, corpus)).measured]
    if not columns:
        return None
    rows = []
    for name in columns[0].ranked():
        cells = [tables.cell(column.metric, corpus, column.group, name) for column in columns]
        if any(cells):  # a tokenizer that never got ready has its line elsewhere
            notes = plain(tables.results.tokenizers.get(name, {}).get("notes") or "")
            rows.append((name, [cell.n if cell and cell.value is not None else None for cell in cells], notes))
    return SpeedTable(corpus, columns, rows)
