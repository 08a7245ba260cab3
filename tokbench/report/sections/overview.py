"""Which columns a table for the whole corpora has, and who stands in its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tokbench.report.cells import DisplayCell, Series
from tokbench.report.escaping import plain
from tokbench.report.sections.losses import COUNTED
from tokbench.report.tables import Tables
from tokbench.results.cells import TokenizerState

__all__ = ["MAIN", "Overview", "Row", "in_detail", "verdict"]

MAIN = ("compression_ratio", "fertility", "roundtrip_exact", "encode_mb_per_s")
"""The metrics by which tokenizers are told apart at first sight, in the order of a table."""

_MANY = 8
"""A family of more metrics than this has a table of its own."""


@dataclass(frozen=True, slots=True)
class Row:
    """What is known of a tokenizer without measuring it."""

    name: str
    backend: str
    state: str
    reason: str
    vocab_size: int | None


@dataclass(frozen=True, slots=True)
class Overview:
    """A table with a row a tokenizer.

    Attributes:
        title: the corpus, or ``""`` for the one over all corpora.
        family: the family that it shows, or ``""`` for those of a few metrics together.
        rows: the best of the first column first.
        columns: metrics of whole corpora.
    """

    title: str
    family: str
    rows: Sequence[Row]
    columns: Sequence[Series]

    @property
    def cells(self) -> list[DisplayCell]:
        """All that is measured in it."""
        return [cell for column in self.columns for cell in column.cells.values()]


def _row(name: str, entry: dict[str, Any]) -> Row:
    return Row(
        name=name,
        backend=plain(entry.get("backend", "")),
        state=str(entry.get("state", TokenizerState.READY)),
        reason=plain(entry.get("reason", "")),
        vocab_size=entry.get("vocab_size"),
    )


def _overview(tables: Tables, title: str, columns: Sequence[Series], family: str = "") -> Overview:
    order = columns[0].ranked() if columns else tables.tokenizers
    rows = [_row(name, tables.results.tokenizers.get(name, {})) for name in order]
    return Overview(title, family, rows, columns)


def verdict(tables: Tables) -> Overview:
    """The main metrics of all corpora side by side; a column without any number is left out."""
    every = [tables.series(metric, corpus) for metric in MAIN for corpus in tables.corpora]
    return _overview(tables, "", [column for column in every if column.measured])


def in_detail(tables: Tables, corpus: str) -> list[Overview]:
    """Every metric of one corpus, families of the main ones first; those of many metrics have a table each.

    Losses by cause are not among them: they have a table of their own.
    """
    names = [*(name for name in MAIN if name in tables.metrics), *tables.metrics]
    every = [tables.series(name, corpus) for name in dict.fromkeys(names) if name not in COUNTED]
    by_family: dict[str, list[Series]] = {}
    for column in every:
        if column.tells_apart:
            by_family.setdefault(tables.family(column.metric), []).append(column)
    large = {family: columns for family, columns in by_family.items() if len(columns) > _MANY}
    small = [column for family, columns in by_family.items() if family not in large for column in columns]
    views = [_overview(tables, corpus, small)] if small else []
    return [*views, *(_overview(tables, corpus, columns, family) for family, columns in large.items())]
