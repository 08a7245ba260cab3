"""The place of a metric on a curve that reports draw, such as tokens over the strength of a change."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class CurvePoint:
    """A place on a curve. Metrics of one family with the same ``name`` and ``quantity`` are one line a tokenizer.

    >>> CurvePoint(name="typos", at=2, axis="places changed, %", quantity="tokens").start is None
    True
    """

    name: str
    """The name of the curve, a word or two."""
    at: float
    """The place of the metric on the axis."""
    axis: str
    """The name of the axis, with its unit."""
    quantity: str
    """The quantity that the values are, a few words; curves of one quantity are shown together."""
    start: float | None = None
    """The value at 0 of the axis, where it follows from the definition; ``None`` if it does not."""
