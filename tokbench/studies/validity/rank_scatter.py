"""The small chart of a metric against bits per byte."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from tokbench.plugin import Axis, Box, Drawing

_WIDTH, _HEIGHT, _FRAME = 290, 230, Box(54.0, 22.0, 280.0, 176.0)
_ROOM: Final = 0.06
_MOST_TICKS: Final = 4


class RankPoint(NamedTuple):
    """A tokenizer; y is bits per byte or the score."""

    name: str
    x: float
    y: float


def rank_scatter(
    title: str, heading: str, points: Sequence[RankPoint], x_title: str, unit: str = "bits per byte"
) -> Drawing:
    """Return the chart of one or more tokenizers.

    >>> drawing = rank_scatter("t", "order 3", [RankPoint("a", 1.0, 3.0), RankPoint("b", 2.0, 2.5)], "bytes per token")
    >>> [line for line in drawing.lines if "circle" in line]
    ['<circle class="mark" cx="66.1" cy="30.2" r="3"/>', '<circle class="mark" cx="267.9" cy="167.8" r="3"/>']
    """
    x_axis = _axis([point.x for point in points], _FRAME.left, _FRAME.right)
    y_axis = _axis([point.y for point in points], _FRAME.bottom, _FRAME.top)
    drawing = Drawing(_WIDTH, _HEIGHT, title)
    ticks = x_axis.ticks()
    ticks = ticks[:: 1 + (len(ticks) - 1) // _MOST_TICKS]
    drawing.grid(_FRAME, ticks, y_axis.ticks(), titles=(x_title, ""), heading=heading)
    for point in points:
        with drawing.group("p0", f"{point.name}: {point.x:.4g}, {point.y:.3f} {unit}"):
            drawing.draw("circle", css="mark", cx=x_axis.at(point.x), cy=y_axis.at(point.y), r=3)
    return drawing


def _axis(values: Sequence[float], start: float, end: float) -> Axis:
    room = (max(values) - min(values)) * _ROOM or 0.5
    return Axis(min(values) - room, max(values) + room, start, end)
