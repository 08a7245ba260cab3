"""One cell of a run: tokenizer x corpus x group x metric, with its value or the reason why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from itertools import chain, groupby, repeat
from operator import attrgetter
from typing import Annotated, Any, Final, TypeAlias

from pydantic import ConfigDict, Strict, TypeAdapter

from tokbench.foundation.failures import Failure

WHOLE: Final = "*"
"""The group that is the whole corpus."""

OWN_TEXTS: Final = "(own texts)"
"""The name in the place of the corpus in the cells of probes, which bring their texts; no corpus can have it."""


class Status(StrEnum):
    """Say whether a cell has a value, and if not, what kept it away."""

    OK = "ok"
    UNAVAILABLE = "unavailable"
    FAILED = "failed"
    TIMEOUT = "timeout"
    NOT_APPLICABLE = "not_applicable"

    @classmethod
    def of(cls, failure: Failure) -> Status:
        """Return the status of cells that a failure keeps from their value.

        >>> Status.of(Failure("no answer within 600 s", timed_out=True)).value
        'timeout'
        """
        if failure.no_ids:
            return cls.NOT_APPLICABLE
        return cls.TIMEOUT if failure.timed_out else cls.FAILED


FAILED: Final = frozenset({Status.FAILED, Status.TIMEOUT})
"""The statuses of cells that should have a value, and for which the run fails."""


class TokenizerState(StrEnum):
    """Say what became of a tokenizer that the configuration names."""

    READY = "ready"
    UNAVAILABLE = "unavailable"
    FAILED = "failed"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of a run."""

    tokenizer: str
    corpus: str
    group: str
    """The group; ``*`` is the whole corpus."""
    metric: str
    """The id of the metric."""
    value: float | None = None
    """The number, ``None`` unless ``status`` is ``ok``; never NaN."""
    unit: str = ""
    """Its unit. Where words are counted, the unit names the definition of a word."""
    ci_low: float | None = None
    """The lower end of its 95% interval; ``None`` where there is none."""
    ci_high: float | None = None
    """The upper end, likewise."""
    n: int = 0
    """The number of documents (for speed: rounds) behind the value."""
    status: Status = Status.OK
    """``ok``, or why the value is missing."""
    reason: str = ""
    """The same in words; always empty if the status is ``ok``."""
    in_sample: float | None = None
    """The share of the documents that this tokenizer was trained on, exactly; ``None`` if that is unknown. Reports mark
    it from :data:`TRAINED_ON_FROM` on."""
    caution: str = ""
    """What to know of the value, such as why it has no interval or a rough one; empty for nothing, and without a
    value."""


def group_name(group: str) -> str:
    """Return the name of a group for readers.

    >>> group_name("en"), group_name("*")
    ('en', 'whole corpus')
    """
    return "whole corpus" if group == WHOLE else group


COLUMNS: Final = tuple(Cell.__dataclass_fields__)
"""The columns of ``results.csv``, in order."""

TRAINED_ON_FROM: Final = 0.01
"""From this share of the evaluated documents on, a tokenizer counts as trained on them.

Fewer, such as a common phrase, do not move a ratio of sums by more than about its interval.
"""


def trained_on(share: float | None) -> bool:
    """Tell whether a tokenizer counts as trained on the text, from the share of the documents that it has seen.

    Args:
        share: the share of the evaluated documents, 0 to 1; ``None`` if it is not known.

    >>> trained_on(None), trained_on(1 / 2500), trained_on(0.01), trained_on(0.34)
    (False, False, True, True)
    """
    return share is not None and share >= TRAINED_ON_FROM


# Cells in results.json: a column for each number, and once all that many cells have alike.

Json: TypeAlias = Any
"""Plain JSON data."""

Text: TypeAlias = Annotated[str, Strict()]
Count: TypeAlias = Annotated[int, Strict()]
Number: TypeAlias = Annotated[float, Strict()] | None

_CONFIG: Final = ConfigDict(extra="forbid")


@dataclass(frozen=True, kw_only=True)
class CellPlace:
    """The place of some cells, one behind the other."""

    __pydantic_config__ = _CONFIG

    tokenizer: Text
    corpus: Text
    group: Text
    """The group; ``*`` is the whole corpus."""
    cells: Count
    """The number of cells there."""


@dataclass(frozen=True, kw_only=True)
class CellKind:
    """What cells have in common. A key that is left out has the default."""

    __pydantic_config__ = _CONFIG

    metric: Text
    """The id of the metric."""
    unit: Text = ""
    """The unit. Where words are counted, the unit names the definition of a word."""
    n: Count = 0
    """The number of documents (for speed: rounds) behind the value."""
    status: Status = Status.OK
    """``ok``, or why the value is missing."""
    reason: Text = ""
    """The same in words; always empty if the status is ``ok``."""
    in_sample: Number = None
    """The share of the documents that this tokenizer was trained on, exactly; ``null`` if that is unknown."""
    caution: Text = ""
    """What to know of the value, such as why it has no interval or a rough one; empty for nothing."""


@dataclass(frozen=True, kw_only=True)
class CellTable:
    """All cells of a run, in their order."""

    __pydantic_config__ = _CONFIG

    places: list[CellPlace] = field(default_factory=list)
    """The places of the cells."""
    kinds: list[CellKind] = field(default_factory=list)
    """What cells have in common, each once."""
    kind: list[Count] = field(default_factory=list)
    """For each cell the number of its kind, from 0."""
    value: list[Number] = field(default_factory=list)
    """For each cell its number, ``null`` unless ``status`` is ``ok``; never NaN."""
    ci_low: list[Number] = field(default_factory=list)
    """For each cell the lower end of its 95% interval; ``null`` where there is none."""
    ci_high: list[Number] = field(default_factory=list)
    """For each cell the upper end, likewise."""


_PLACE: Final = attrgetter("tokenizer", "corpus", "group")
_KIND: Final = {part.name: part.default for part in fields(CellKind)}
_KIND_OF: Final = attrgetter(*_KIND)
_COLUMNS: Final = ("value", "ci_low", "ci_high")


def cell_table(cells: Sequence[Cell]) -> Json:
    """Return cells as the plain data of a :class:`CellTable`, from which :func:`cells_of` makes the same list.

    >>> cells = [Cell("t", "c", group, "m", value, "bytes", n=3) for group, value in (("en", 1.5), ("*", 2.0))]
    >>> table = cell_table(cells)
    >>> table["kinds"], table["kind"], table["value"]
    ([{'metric': 'm', 'unit': 'bytes', 'n': 3}], [0, 0], [1.5, 2.0])
    >>> cells_of(table) == cells
    True
    """
    places = [
        dict(zip(("tokenizer", "corpus", "group"), place, strict=True), cells=len(list(some)))
        for place, some in groupby(cells, _PLACE)
    ]
    numbers: dict[tuple[Any, ...], int] = {}
    kinds: list[Json] = []
    kind: list[int] = []
    for cell in cells:
        key = *_KIND_OF(cell), repr(cell.in_sample)  # 0.0 is equal to -0.0 and written otherwise
        number = numbers.setdefault(key, len(kinds))
        if number == len(kinds):
            kinds.append(
                {name: getattr(cell, name) for name, default in _KIND.items() if getattr(cell, name) != default}
            )
        kind.append(number)
    columns = {name: list(map(attrgetter(name), cells)) for name in _COLUMNS}
    return {"places": places, "kinds": kinds, "kind": kind, **columns}


def cells_of(body: Json) -> list[Cell]:
    """Return the cells of the plain data of a :class:`CellTable`.

    Raises:
        ValidationError: a part is of another type.
        ValueError: the parts do not fit together; the message begins with the place.

    >>> cells_of({"places": [{"tokenizer": "t", "corpus": "c", "group": "*", "cells": 1}]})
    Traceback (most recent call last):
    ...
    ValueError: kind: has 0 entries for 1 cells
    """
    table = TypeAdapter(CellTable).validate_python(body)
    if any(place.cells < 1 for place in table.places):
        raise ValueError("places: a place has fewer cells than 1")
    many = sum(place.cells for place in table.places)
    for name in ("kind", *_COLUMNS):
        if len(getattr(table, name)) != many:
            raise ValueError(f"{name}: has {len(getattr(table, name))} entries for {many} cells")
    if table.kind and not 0 <= min(table.kind) <= max(table.kind) < len(table.kinds):
        raise ValueError(f"kind: a number is not that of one of the {len(table.kinds)} kinds")
    if any(kind.reason and kind.status == Status.OK for kind in table.kinds):
        raise ValueError("kinds: a result that is ok has a reason for its absence")
    place = list(chain.from_iterable(repeat(_PLACE(place), place.cells) for place in table.places))
    kinds = [tuple(getattr(kind, name) for name in _KIND) for kind in table.kinds]
    return [
        Cell(*where, metric, value, unit, low, high, *rest)
        for where, (metric, unit, *rest), value, low, high in zip(
            place, (kinds[number] for number in table.kind), table.value, table.ci_low, table.ci_high, strict=True
        )
    ]
