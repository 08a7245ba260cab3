"""The chart of compression against vocabulary size, with its Pareto front."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from tokbench.foundation.visible_text import visible
from tokbench.report.answer.ranking import BASELINES, LOSSY, Bar
from tokbench.report.charts.labels import Box, place
from tokbench.report.charts.plane import Plane, linear_axis
from tokbench.report.charts.svg import Axis, Drawing, Tick
from tokbench.report.escaping import cut
from tokbench.report.tables import CellTables
from tokbench.statistics.front import pareto_front

_RATIO, _FLAT, _FEW = 0.72, 0.5, 6
_FEWEST: Final = 2
_MOST: Final = 40
_LONGEST: Final = 18
_ROOM: Final = 1.25
_STEP: Final = 78


class _Point(NamedTuple):
    size: int
    bar: Bar


def size_front(tables: CellTables, bars: Sequence[Bar], width: int) -> Drawing | None:
    """Return the chart, without baselines; ``None`` if fewer than two sizes are known. A page draws it again."""
    sizes = {bar.tokenizer: tables.tokenizer(bar.tokenizer).vocab_size for bar in bars}
    shown = [_Point(sizes[bar.tokenizer] or 0, bar) for bar in bars if sizes[bar.tokenizer]]
    points = [point for point in shown if point.bar.reason not in {BASELINES, LOSSY}][:_MOST]
    if len({point.size for point in points}) < _FEWEST:
        return None
    height = round(width * (_RATIO if len(points) > _FEW else _FLAT))
    frame = Box(42, 12, width - 8, height - 48)
    along = [point.size for point in points]
    x_axis = Axis(min(along) / _ROOM, max(along) * _ROOM, frame.left, frame.right, log=True)
    y_axis = linear_axis([point.bar.value for point in points], frame.bottom, frame.top)
    plane = Plane(frame, x_axis, y_axis)
    title = "Compression against vocabulary size over all texts; the line is the front; the numbers are in the tables"
    drawing = Drawing(width, height, title, css="front")
    drawing.grid(frame, _size_ticks(x_axis), y_axis.ticks(), titles=("vocabulary, tokens", ""))
    ranked = [point for point in points if point.bar.standing]
    pairs = [(float(point.size), point.bar.value) for point in ranked]
    plane.draw_front(drawing, pairs)
    kept = pareto_front(pairs, ["lower", "higher"]).tolist() if pairs else []
    leading = {point for point, on_front in zip(ranked, kept, strict=True) if on_front}
    spots = [(plane.x.at(point.size), plane.y.at(point.bar.value)) for point in points]
    names = [cut(visible(point.bar.tokenizer), _LONGEST) for point in points]
    labels = place([(x, y, name) for (x, y), name in zip(spots, names, strict=True)], frame)
    for point, spot, label in zip(points, spots, labels, strict=True):
        look = "p0" if point in leading else "p7 lossy" if point.bar.reason else "p7"
        with drawing.group(look, f"{point.bar.title}; vocabulary of {point.size:,} tokens"):
            drawing.label(label)
            drawing.draw("circle", css="mark", cx=spot[0], cy=spot[1], r=4.5)
    return drawing


def _size_ticks(axis: Axis) -> list[Tick]:
    room = abs(axis.end - axis.start) / max(_STEP, 1)
    spans = math.log2(axis.high / axis.low)
    every = next(step for step in (1, 2, 3, 4, 6, 30) if spans / step <= room)
    powers = range(math.ceil(math.log2(axis.low / 1000)), math.floor(math.log2(axis.high / 1000)) + 1)
    ticks = [power for power in powers if power % every == 0] or list(powers)
    return [Tick(axis.at(1000 * 2.0**power), size_label(1000 * 2.0**power)) for power in ticks]


def size_label(size: float) -> str:
    """Return a vocabulary size in short.

    >>> size_label(250), size_label(64_000), size_label(1_024_000)
    ('250', '64k', '1024k')
    """
    return f"{size / 1000:g}k" if size >= 1000 else f"{size:g}"  # noqa: PLR2004 - a thousand
