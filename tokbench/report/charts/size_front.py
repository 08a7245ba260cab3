"""The chart of compression against vocabulary size, with its Pareto front."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from tokbench.foundation.visible_text import visible
from tokbench.measuring.metric import Role
from tokbench.report.cells import DisplayCell
from tokbench.report.charts.labels import Box, Label, place
from tokbench.report.charts.plane import Plane, ends_of, linear_axis
from tokbench.report.charts.svg import Axis, Drawing, Tick
from tokbench.report.escaping import cut
from tokbench.report.tables import CellTables
from tokbench.results.cells import WHOLE, Cell
from tokbench.statistics.front import pareto_front

_RATIO: Final = 0.8
_FEWEST: Final = 2
_MOST: Final = 40
_LONGEST: Final = 18
_ROOM: Final = 1.25
_STEP: Final = 78


class _Point(NamedTuple):
    size: int
    cell: Cell
    shown: DisplayCell


def size_front(tables: CellTables, corpus: str, width: int) -> Drawing | None:
    """Return the chart of a corpus, without baselines; ``None`` if fewer than two sizes are known."""
    points = _points(tables, corpus)
    if len({point.size for point in points}) < _FEWEST:
        return None
    height = round(width * _RATIO)
    frame = Box(42, 12, width - 8, height - 48)
    sizes = [point.size for point in points]
    x_axis = Axis(min(sizes) / _ROOM, max(sizes) * _ROOM, frame.left, frame.right, log=True)
    y_axis = linear_axis([end for point in points for end in ends_of(point.cell)], frame.bottom, frame.top)
    plane = Plane(frame, x_axis, y_axis)
    title = f"Compression against vocabulary size on {corpus}; the line is the front; the numbers are in the tables"
    drawing = Drawing(width, height, title, css="front")
    drawing.grid(frame, _size_ticks(x_axis), y_axis.ticks(), titles=("vocabulary, ids", ""))
    ranked = [point for point in points if point.shown.competes]
    pairs = [(float(point.size), point.cell.value or 0.0) for point in ranked]
    plane.draw_front(drawing, pairs)
    kept = pareto_front(pairs, ["lower", "higher"]).tolist() if pairs else []
    leading = {point for point, on_front in zip(ranked, kept, strict=True) if on_front}
    spots = [(plane.x.at(point.size), plane.y.at(point.cell.value or 0.0)) for point in points]
    names = [cut(visible(point.cell.tokenizer), _LONGEST) for point in points]
    labels = place([(x, y, name) for (x, y), name in zip(spots, names, strict=True)], frame)
    for point, spot, label in zip(points, spots, labels, strict=True):
        look = "p0" if point in leading else "p7 lossy" if point.shown.aside else "p7"
        _draw(drawing, plane, point, spot, label, look)
    return drawing


def _points(tables: CellTables, corpus: str) -> list[_Point]:
    metric = tables.with_role(Role.TEXT_PER_TOKEN)
    if not metric:
        return []
    series = tables.series(metric, corpus)
    points = []
    for name in series.ranked():
        cell, shown, size = (
            tables.cell(metric, corpus, WHOLE, name),
            series.cells[name],
            tables.tokenizer(name).vocab_size,
        )
        if cell and cell.value is not None and size and not shown.baseline and not shown.much_lost:
            points.append(_Point(size, cell, shown))
    return points[:_MOST]


def _draw(drawing: Drawing, plane: Plane, point: _Point, spot: tuple[float, float], label: Label, look: str) -> None:
    with drawing.group(look, f"{point.cell.tokenizer}: {point.size:,} ids; {point.shown.title}"):
        plane.draw_upright_interval(drawing, spot, point.cell)
        drawing.label(label)
        drawing.draw("circle", css="mark", cx=spot[0], cy=spot[1], r=4.5)


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
