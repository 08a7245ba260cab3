"""A plane with two axes: points of cells, their intervals, and the Pareto front."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tokbench.report.charts.labels import Box
from tokbench.report.charts.svg import Axis, Drawing
from tokbench.results.cells import Cell
from tokbench.statistics.front import pareto_front

_REACH: Final = 7.0


@dataclass(frozen=True, slots=True)
class Plane:
    """A chart's place in its picture, with both scales."""

    frame: Box
    x: Axis
    y: Axis

    def draw_front(self, drawing: Drawing, points: Sequence[tuple[float, float]]) -> None:
        """Draw the stairs of the Pareto front: left and up is better."""
        if not points:
            return
        kept = pareto_front(points, ["lower", "higher"])
        corners = sorted({point for point, on_front in zip(points, kept, strict=True) if on_front})
        steps = "".join(f"H{self.x.at(x)}V{self.y.at(y)}" for x, y in corners)
        path = f"M{self.x.at(corners[0][0])} {self.frame.bottom:g}{steps}"
        with drawing.group("grid"):
            drawing.draw("path", css="one", d=f"{path}H{self.frame.right:g}")

    def draw_level_interval(self, drawing: Drawing, spot: tuple[float, float], cell: Cell) -> None:
        if ends := _drawn_ends(cell, self.x):
            drawing.draw("path", css="bar", d=f"M{ends[0]} {spot[1]}H{ends[1]}")

    def draw_upright_interval(self, drawing: Drawing, spot: tuple[float, float], cell: Cell) -> None:
        if ends := _drawn_ends(cell, self.y):
            drawing.draw("path", css="bar", d=f"M{spot[0]} {ends[0]}V{ends[1]}")


def ends_of(cell: Cell) -> list[float]:
    """Return the value of a cell and the ends of its interval, if any."""
    return [end for end in (cell.ci_low, cell.value, cell.ci_high) if end is not None]


def log_axis(values: Sequence[float], start: float, end: float) -> Axis:
    """Return a logarithmic scale with margins; it leaves out values that are not positive."""
    positive = [value for value in values if value > 0]
    return Axis(min(positive) / 1.3, max(positive) * 1.5, start, end, log=True)


def linear_axis(values: Sequence[float], start: float, end: float) -> Axis:
    """Return a scale with margins; it need not begin at 0."""
    margin = (max(values) - min(values)) * 0.06 or 0.5
    return Axis(min(values) - margin, max(values) + margin, start, end)


def _drawn_ends(cell: Cell, axis: Axis) -> tuple[float, float] | None:
    if cell.ci_low is None or cell.ci_high is None:
        return None
    ends = axis.at(cell.ci_low), axis.at(cell.ci_high)
    return ends if abs(ends[1] - ends[0]) > _REACH else None
