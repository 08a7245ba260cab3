"""The common part of the themes of the family ``code``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple

from numpy.typing import NDArray

from tokbench.plugin import EncodedShard, EncodesWithOffsets, HasTokenBytes, Measured, Metric, NotApplicable, Sums

Columns = dict[str, NDArray[Any]]
"""Quantities by name: an array with a number for each document."""

Values = Mapping[str, Measured | NotApplicable]

_LAID: Final = (HasTokenBytes, EncodesWithOffsets)


class Theme(NamedTuple):
    """One theme of the family ``code``."""

    values: tuple[Metric, ...]
    """The metrics of the theme."""
    measure: Callable[[EncodedShard], Columns]
    """Computes the quantities of a shard, over the aligned documents."""
    finish: Callable[[Sums, int], Values]
    """Computes the values from the sums and the number of aligned documents."""


def value(
    name: str,
    unit: str,
    direction: Literal["higher", "lower", "none"],
    formula: str,
    says: str,
    *,
    headline: bool = False,
) -> Metric:
    """Return a metric for which the places of the tokens are needed."""
    return Metric(
        id=name, unit=unit, direction=direction, formula=formula, definition=says, needs=_LAID, headline=headline
    )
