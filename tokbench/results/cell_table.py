"""Cells in ``results.json``: a row for each tokenizer, corpus and metric, with columns over the groups."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import chain, repeat
from operator import attrgetter
from types import NoneType
from typing import Any, Final, TypeAlias

from tokbench.results.cells import Cell, Status

Json: TypeAlias = Any
"""Plain JSON data."""


@dataclass(frozen=True, kw_only=True)
class SharedColumn:
    """A column that stands among the shared ones, because rows have the same."""

    column: int
    """Its number there, from 0."""


@dataclass(frozen=True, kw_only=True)
class CellRow:
    """The cells of a tokenizer, corpus and metric, a cell for each group.

    Each key below the metric has one entry for all cells, a list with one for each, or a shared column. A key that is
    left out has the default.
    """

    tokenizer: str
    """The tokenizer."""
    corpus: str
    """The corpus."""
    metric: str
    """The id of the metric."""
    apart: bool = False
    """``True`` if its cells come behind those of all rows above. Else those of rows of the same tokenizer and corpus,
    one below the other, are in the order of ``groups``, and in one group in that of the rows."""
    group: str | list[str] | SharedColumn
    """The groups; ``*`` is the whole corpus."""
    value: float | list[float | None] | None = None
    """The numbers, ``null`` unless ``status`` is ``ok``; never NaN."""
    unit: str | list[str] | SharedColumn = ""
    """The units. Where words are counted, the unit names the definition of a word."""
    ci_low: float | list[float | None] | None = None
    """The lower ends of the 95 % intervals; ``null`` where there is none."""
    ci_high: float | list[float | None] | None = None
    """The upper ends, likewise."""
    n: int | list[int] | SharedColumn = 0
    """The numbers of documents (for speed: rounds) that the values rest on."""
    status: Status | list[Status] | SharedColumn = Status.OK
    """``ok``, or why there is no value."""
    reason: str | list[str] | SharedColumn = ""
    """The same in words; empty if the status is ``ok``."""
    in_sample: float | list[float | None] | SharedColumn | None = None
    """The shares of the documents that this tokenizer was trained on, exactly; ``null`` if that is unknown."""
    measured: float | list[float | None] | SharedColumn | None = None
    """The shares of the documents that the values rest on, above 0 and below 1, if the run was stopped before it had
    measured the others; ``null`` for values that rest on all of them."""


@dataclass(frozen=True, kw_only=True)
class CellTable:
    """All cells of a run, every number once."""

    groups: list[str] = field(default_factory=list)
    """The groups in their order, which that of the cells follows."""
    columns: list[list[str | float | None]] = field(default_factory=list)
    """The columns that rows share."""
    rows: list[CellRow] = field(default_factory=list)
    """The rows."""


_PLACE: Final = ("tokenizer", "corpus", "metric")
_GROUP: Final = "group"
_APART: Final = "apart"
_COLUMNS: Final = {part.name: part.default for part in fields(Cell) if part.name not in _PLACE}
"""By column the entry that is left out; a group has none."""
_OWN: Final = {"value", "ci_low", "ci_high"}
"""The columns that rows hardly share, so that each row has its own."""
_REAL: Final = {*_OWN, "in_sample", "measured"}
_STATUSES: Final = {status.value: status for status in Status}
_KINDS: Final[dict[str, set[type]]] = {_GROUP: {str}, "unit": {str}, "reason": {str}, "status": {str}, "n": {int}}
"""The types of the entries of a column, if they are not numbers that may be missing."""


def cell_table(cells: Sequence[Cell]) -> Json:
    """Return cells as the plain data of a :class:`CellTable`, from which :func:`cells_of` makes the same list.

    >>> cells = [Cell("t", "c", group, "m", value, "bytes", n=3) for group, value in (("en", 1.5), ("*", 2.0))]
    >>> [row] = cell_table(cells)["rows"]
    >>> row["group"], row["value"], row["unit"], row["n"]
    ({'column': 0}, [1.5, 2.0], 'bytes', 3)
    >>> cells_of(cell_table(cells)) == cells
    True
    """
    groups = _numbered(map(attrgetter(_GROUP), cells))
    writer, before = _Writer(), ("", "")
    for rows in _blocks(cells, groups):
        place = rows[0][0].tokenizer, rows[0][0].corpus
        for number, row in enumerate(rows):
            writer.add(row, apart=place == before and not number)
        before = place
    return {"groups": list(groups), "columns": writer.columns, "rows": writer.rows}


def _numbered(names: Iterable[str]) -> dict[str, int]:
    """Return names with their numbers, in the order in which they come first."""
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def _blocks(cells: Sequence[Cell], groups: Mapping[str, int]) -> Iterator[list[list[Cell]]]:
    """Yield the rows of cells of one tokenizer and corpus, as many as stand in the order of groups, then of metrics."""
    metrics = _numbered(cell.metric for cell in cells)
    block: list[Cell] = []
    last, place = (-1, -1), ("", "")
    for cell in cells:
        at = groups[cell.group], metrics[cell.metric]
        if block and (at <= last or (cell.tokenizer, cell.corpus) != place):
            yield _rows(block, metrics)
            block = []
        block.append(cell)
        last, place = at, (cell.tokenizer, cell.corpus)
    if block:
        yield _rows(block, metrics)


def _rows(block: Sequence[Cell], metrics: Mapping[str, int]) -> list[list[Cell]]:
    by_metric: dict[str, list[Cell]] = {}
    for cell in block:
        by_metric.setdefault(cell.metric, []).append(cell)
    return [by_metric[metric] for metric in sorted(by_metric, key=metrics.__getitem__)]


class _Writer:
    """Makes rows of cells, and keeps the columns that they share."""

    def __init__(self) -> None:
        self.columns: list[list[Json]] = []
        self.rows: list[Json] = []
        self._known: dict[str, int] = {}

    def add(self, cells: Sequence[Cell], *, apart: bool) -> None:
        """Add the row of some cells of one tokenizer, corpus and metric."""
        row = {name: getattr(cells[0], name) for name in _PLACE} | ({_APART: True} if apart else {})
        for name, default in _COLUMNS.items():
            entries = list(map(attrgetter(name), cells))
            if not _alike(entries):
                row[name] = entries if name in _OWN else {"column": self._shared(entries)}
            elif entries[0] != default:
                row[name] = entries[0]
        self.rows.append(row)

    def _shared(self, entries: list[Json]) -> int:
        """Return the number of a column among the shared ones."""
        number = self._known.setdefault(json.dumps(entries), len(self.columns))
        if number == len(self.columns):
            self.columns.append(entries)
        return number


def _alike(entries: Sequence[Json]) -> bool:
    """Tell whether all entries are written alike: 0.0 is equal to -0.0 and written otherwise."""
    first = entries[0]
    return entries.count(first) == len(entries) and (first != 0 or len(set(map(repr, entries))) == 1)


def cells_of(table: Json) -> list[Cell]:
    """Return the cells of the plain data of a :class:`CellTable`.

    Raises:
        ValueError: they are no such table; the message begins with the place.

    >>> row = {"tokenizer": "t", "corpus": "c", "metric": "m", "group": 1}
    >>> cells_of({"groups": ["*"], "columns": [], "rows": [row]})
    Traceback (most recent call last):
    ...
    ValueError: rows.0.group: is of type int, but must be str
    """
    reader = _Reader(table)
    cells: list[Cell] = []
    block: list[list[Cell]] = []
    place: Json = None
    for number, row in enumerate(reader.rows):
        of_row = reader.cells(row, f"rows.{number}")
        if row.get(_APART) or (row["tokenizer"], row["corpus"]) != place:
            cells += reader.in_order(block)
            block = []
        block.append(of_row)
        place = row["tokenizer"], row["corpus"]
    return cells + reader.in_order(block)


class _Reader:
    """Makes cells of rows, and checks every entry."""

    def __init__(self, table: Json) -> None:
        if not isinstance(table, dict) or table.keys() != {"groups", "columns", "rows"}:
            raise ValueError("must have 'groups', 'columns' and 'rows', and nothing else")
        for name, entries in table.items():
            if not isinstance(entries, list):
                raise ValueError(f"{name}: must be a list")  # noqa: TRY004 - one type of error says that data are wrong
        self.rows: list[Json] = table["rows"]
        self._columns: list[Json] = table["columns"]
        self._order = {group: k for k, group in enumerate(_checked(table["groups"], {str}, "groups"))}
        self._known: dict[tuple[str, int], list[Json]] = {}

    def in_order(self, block: list[list[Cell]]) -> list[Cell]:
        """Return the cells of rows by group; those of one group stay in the order of the rows."""
        return sorted(chain.from_iterable(block), key=lambda cell: self._order[cell.group])

    def cells(self, row: Json, where: str) -> list[Cell]:
        """Return the cells of a row."""
        if not isinstance(row, dict):
            raise ValueError(f"{where}: must be an object")  # noqa: TRY004
        _checked([row.get(_APART, False)], {bool}, f"{where}.{_APART}")
        if unknown := row.keys() - {*_PLACE, *_COLUMNS, _APART}:
            raise ValueError(f"{where}.{min(unknown)}: is not part of the schema")
        for name in (*_PLACE, _GROUP):
            if name not in row:
                raise ValueError(f"{where}.{name}: is missing")
        tokenizer, corpus, metric = _checked([row[name] for name in _PLACE], {str}, where)
        groups = self._entries(row[_GROUP], _GROUP, 0, f"{where}.{_GROUP}")
        if strange := set(groups) - self._order.keys():
            raise ValueError(f"{where}.{_GROUP}: {min(strange)!r} is not among the groups of the table")
        columns = [
            self._entries(row[name], name, len(groups), f"{where}.{name}") if name in row else [default] * len(groups)
            for name, default in _COLUMNS.items()
            if name != _GROUP
        ]
        return list(map(Cell, repeat(tokenizer), repeat(corpus), groups, repeat(metric), *columns))

    def _entries(self, given: Json, name: str, many: int, where: str) -> list[Json]:
        """Return the entries of a column; ``many`` is their number, 0 for as many as there are."""
        if isinstance(given, dict):
            entries = self._shared(given, name, where)
        elif isinstance(given, list):
            entries = _read(given, name, where)
        else:
            entries = _read([given], name, where) * (many or 1)
        if many and len(entries) != many:
            raise ValueError(f"{where}: has {len(entries)} entries for {many} groups")
        return entries

    def _shared(self, given: Json, name: str, where: str) -> list[Json]:
        number = given.get("column")
        if given.keys() != {"column"} or type(number) is not int or not 0 <= number < len(self._columns):
            raise ValueError(f"{where}: is not the number of one of the {len(self._columns)} columns")
        if (name, number) not in self._known:
            column = self._columns[number]
            if not isinstance(column, list):
                raise ValueError(f"columns.{number}: must be a list")
            self._known[name, number] = _read(column, name, where)
        return self._known[name, number]


def _read(entries: list[Json], name: str, where: str) -> list[Json]:
    """Return the entries of a column as a cell has them."""
    if name in _REAL:
        numbers = _checked(entries, {float, int, NoneType}, where)
        return [number if number is None else float(number) for number in numbers]
    checked = _checked(entries, _KINDS[name], where)
    if name != "status":
        return checked
    if unknown := set(checked) - _STATUSES.keys():
        raise ValueError(f"{where}: {min(unknown)!r} is none of {', '.join(_STATUSES)}")
    return [_STATUSES[status] for status in checked]


def _checked(entries: list[Json], kinds: set[type], where: str) -> list[Json]:
    """Return entries if each is of one of some types."""
    if others := set(map(type, entries)) - kinds:
        given, wanted = (" or ".join(sorted(kind.__name__ for kind in some)) for some in (others, kinds))
        raise ValueError(f"{where}: is of type {given}, but must be {wanted}")
    return entries
