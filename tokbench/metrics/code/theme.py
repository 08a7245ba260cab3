"""The common part of the themes of the family ``code``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple

from numpy.typing import NDArray

from tokbench.plugin import EncodedShard, EncodesWithOffsets, HasTokenBytes, Measured, Metric, NotApplicable, Sums

Columns = dict[str, NDArray[Any]]
"""By name, a number for each document."""

Values = Mapping[str, Measured | NotApplicable]

_LAID: Final = (HasTokenBytes, EncodesWithOffsets)


class Theme(NamedTuple):
    """One theme of the family ``code``."""

    values: tuple[Metric, ...]
    measure: Callable[[EncodedShard], Columns]
    """Of the aligned documents."""
    finish: Callable[[Sums, int], Values]
    """Gets the number of aligned documents."""


def value(
    name: str,
    unit: str,
    direction: Literal["higher", "lower", "none"],
    formula: str,
    says: str,
    *,
    headline: bool = False,
) -> Metric:
    """Return a metric that needs the places of the tokens."""
    return Metric(
        id=name, unit=unit, direction=direction, formula=formula, definition=says, needs=_LAID, headline=headline
    )
