"""What the themes of the family ``code`` share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple

from numpy.typing import NDArray

from tokbench.plugin import EncodedShard, EncodesWithOffsets, HasTokenBytes, Measured, Metric, NotApplicable, Sums

__all__ = ["Columns", "Theme", "Values", "over", "value"]

Columns = dict[str, NDArray[Any]]
"""Quantities by name, one number a document."""

Values = Mapping[str, Measured | NotApplicable]

_LAID: Final = (HasTokenBytes, EncodesWithOffsets)


class Theme(NamedTuple):
    """A part of the family.

    Attributes:
        values: the numbers it yields.
        measure: the sums of a shard, over the documents that could be laid out.
        finish: the numbers, from the sums and the number of documents they rest on.
    """

    values: tuple[Metric, ...]
    measure: Callable[[EncodedShard], Columns]
    finish: Callable[[Sums, int], Values]


def value(name: str, unit: str, direction: Literal["higher", "lower", "none"], formula: str, says: str) -> Metric:
    """A number that needs to know where tokens lie."""
    return Metric(id=name, unit=unit, direction=direction, formula=formula, definition=says, needs=_LAID)


def over(sums: Sums, above: str, below: str, documents: int, *, share: bool = False) -> Measured | NotApplicable:
    """A ratio of sums that rests on so many documents."""
    ratio = sums.share(above, below) if share else sums.ratio(above, below)
    return ratio._replace(n=documents) if isinstance(ratio, Measured) else ratio
