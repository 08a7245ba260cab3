"""The tables of whole corpora: a row for each tokenizer, a column for each metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tokbench.report.cells import DisplayCell, Series, legends
from tokbench.report.escaping import plain
from tokbench.report.tables import CellTables
from tokbench.results.cells import TokenizerState

_MANY: Final = 8
"""A family with more metrics than this has a table of its own."""


@dataclass(frozen=True, slots=True)
class OverviewRow:
    """One tokenizer, described without measuring it."""

    name: str
    backend: str
    state: TokenizerState
    reason: str
    vocab_size: int | None
    engine: str


@dataclass(frozen=True, slots=True)
class Overview:
    """A table with a row for each tokenizer.

    Attributes:
        title: the corpus; empty for the table over all corpora.
        family: the metric family that it shows; empty if it shows several.
        rows: the best of the first column first.
        columns: metrics of whole corpora.
    """

    title: str
    family: str
    rows: Sequence[OverviewRow]
    columns: Sequence[Series]

    @property
    def cells(self) -> list[DisplayCell]:
        """All cells of the table."""
        return [cell for column in self.columns for cell in column.cells.values()]

    @property
    def legends(self) -> list[str]:
        """The meaning of the marks in it."""
        return legends(self.cells)


def main_metrics(tables: CellTables) -> Overview:
    """Return the headline metrics of all corpora side by side; a column without any number is left out."""
    every = [tables.series(metric, corpus) for metric in tables.headline for corpus in tables.corpora]
    return _overview(tables, "", [column for column in every if column.measured])


def all_metrics(tables: CellTables, corpus: str) -> list[Overview]:
    """Return tables with every metric of one corpus, headline metrics first; large families have a table each.

    Losses by cause are left out, as they have a section of their own.
    """
    names = dict.fromkeys([*tables.headline, *tables.metrics])
    by_family: dict[str, list[Series]] = {}
    for name in names:
        column = tables.series(name, corpus)
        if column.tells_apart and name not in tables.loss_counts:
            by_family.setdefault(tables.metric(name).family, []).append(column)
    large = {family: columns for family, columns in by_family.items() if len(columns) > _MANY}
    small = [column for family, columns in by_family.items() if family not in large for column in columns]
    views = [_overview(tables, corpus, small)] if small else []
    return [*views, *(_overview(tables, corpus, columns, family) for family, columns in large.items())]


def _overview(tables: CellTables, title: str, columns: Sequence[Series], family: str = "") -> Overview:
    order = columns[0].ranked() if columns else tables.tokenizers
    if title:  # in the table of a corpus, tokenizers that are not measured on it have no row
        order = [name for name in order if not columns[0].cells[name].unbound]
    return Overview(title, family, [_row(tables, name) for name in order], columns)


def _row(tables: CellTables, name: str) -> OverviewRow:
    info = tables.tokenizer(name)
    return OverviewRow(name, plain(info.backend), info.state, plain(info.reason), info.vocab_size, plain(info.engine))
