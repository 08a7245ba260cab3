"""The chart of the cost of a byte over sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tokbench.report.charts.labels import Box, place
from tokbench.report.charts.line_profile import line_css
from tokbench.report.charts.svg import Axis, Drawing, Tick
from tokbench.studies.vocabulary_size.block import SizeRange, SizeRecommendation
from tokbench.studies.vocabulary_size.size_curve import size_ticks

COST_TITLE: Final = "Cost of a byte of text by vocabulary size"
_WIDTH, _HEIGHT = 960, 400
_FRAME: Final = Box(56.0, 14.0, 800.0, 350.0)
_MOST: Final = 0.5

_SHADE: Final = 0.14


def cost_chart(recommendation: SizeRecommendation, styles: Mapping[str, int]) -> Drawing | None:
    """Return the chart; ``None`` without a recommendation."""
    taken = recommendation.range
    lines = {sizes.line: _beyond(sizes, taken.flops_per_byte) for sizes in recommendation.ranges} if taken else {}
    lines = {line: points for line, points in lines.items() if points}
    if not taken or not lines:
        return None
    every = [point for points in lines.values() for point in points]
    x_axis = Axis(
        min(size for size, _ in every) / 1.05,
        max(size for size, _ in every) * 1.05,
        _FRAME.left,
        _FRAME.right,
        log=True,
    )
    lowest = min(cost for _, cost in every)
    y_axis = Axis(lowest - 0.02, max(*(cost for _, cost in every), lowest + 0.05) * 1.04, _FRAME.bottom, _FRAME.top)
    drawing = Drawing(_WIDTH, _HEIGHT, f"{COST_TITLE}; the numbers are in the tables")
    left, right = x_axis.at(taken.smallest), x_axis.at(taken.largest)
    drawing.draw(
        "rect", css="mark", x=left, y=_FRAME.top, width=round(max(right - left, 1.0), 1),
        height=_FRAME.bottom - _FRAME.top, fill="currentColor", fill_opacity=_SHADE,
    )  # fmt: skip
    titles = "vocabulary size, tokens", "FLOPs per byte beyond the least, %"
    drawing.grid(_FRAME, size_ticks(x_axis), _cost_ticks(y_axis), titles=titles, below=14, beside=5)
    spots = {line: [(x_axis.at(size), y_axis.at(cost)) for size, cost in points] for line, points in lines.items()}
    labels = place([(*points[-1], line) for line, points in spots.items()], Box(56.0, 14.0, float(_WIDTH), 350.0))
    for (line, points), label in zip(spots.items(), labels, strict=True):
        with drawing.group(line_css(styles[line]), _tooltip(recommendation, line)):
            drawing.draw("path", css="trace", d="M" + "L".join(f"{x:g} {y:g}" for x, y in points))
            for x, y in points if len(points) == 1 else ():
                drawing.draw("circle", css="mark", cx=x, cy=y, r=4)
            drawing.label(label)
    return drawing


def _beyond(sizes: SizeRange, least: float) -> list[tuple[float, float]]:
    points = zip(sizes.sizes, sizes.costs, strict=True)
    return [(size, cost / least - 1) for size, cost in points if cost / least - 1 <= _MOST]


def _tooltip(recommendation: SizeRecommendation, line: str) -> str:
    [sizes] = [sizes for sizes in recommendation.ranges if sizes.line == line]
    return f"{line}: least at {sizes.best:,}, within 2 % from {sizes.smallest:,} to {sizes.largest:,}"


def _cost_ticks(axis: Axis) -> Sequence[Tick]:
    return [
        Tick(axis.at(share / 100), f"{share}", strong=share == 0)
        for share in range(-50, 51, 10)
        if axis.low <= share / 100 <= axis.high
    ]
