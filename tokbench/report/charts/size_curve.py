"""Lines over vocabulary sizes as a picture: only geometry, the drawing is the template's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.report.charts.axis import Axis, Tick
from tokbench.report.charts.labels import Box, Label, place
from tokbench.report.sections.size_data import Trace

__all__ = ["LARGE", "SMALL", "Chart", "Format", "Path", "draw"]

_COLOURS: Final = 8
_TOLERANCE: Final = 0.3
"""A path may leave the curve by so many pixels: less than can be seen."""


@dataclass(frozen=True, slots=True)
class Format:
    """The size of a picture and of its plane; labels at the ends of lines if there is room for them."""

    width: int
    height: int
    frame: tuple[float, float, float, float]
    labelled: bool


LARGE: Final = Format(960, 520, (56.0, 14.0, 800.0, 470.0), labelled=True)
SMALL: Final = Format(230, 170, (30.0, 20.0, 222.0, 150.0), labelled=False)


@dataclass(frozen=True, slots=True)
class Path:
    """One line of the picture.

    Attributes:
        name, title: of the line.
        style: number of its colour, and ``dash``, whether it is broken because the colours began anew.
        path: the ``d`` of an SVG path.
        steps: whether only some sizes are known: these are marked, and the line between them is a guess.
        marks: places of the known sizes, or of the largest one.
        knee: where it bends.
        label: its name at its end.
    """

    name: str
    title: str
    style: int
    dash: int
    path: str
    steps: bool
    marks: Sequence[tuple[float, float]]
    knee: tuple[float, float] | None
    label: Label | None


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture of several lines.

    Attributes:
        title: what it shows.
        shape: its size and plane.
        x_ticks, y_ticks: the grid.
        paths: the lines.
        rings: places of sizes that nobody beats (the Pareto front), and ``star`` of the one that is recommended.
    """

    title: str
    shape: Format
    x_ticks: Sequence[Tick]
    y_ticks: Sequence[Tick]
    paths: Sequence[Path]
    rings: Sequence[tuple[float, float]] = ()
    star: tuple[float, float] | None = None


def draw(
    title: str,
    traces: Sequence[Trace],
    shape: Format,
    styles: Mapping[str, int],
    *,
    span: tuple[float, float],
    knees: Mapping[str, int] | None = None,
    front: Sequence[tuple[str, int]] = (),
    take: tuple[str, int] | None = None,
) -> Chart | None:
    """Bytes per token over the logarithm of the size.

    Args:
        title: what the picture shows.
        traces: the lines.
        shape: its size.
        styles: number of the style of each line, by name.
        span: the least and the largest size of the axis.
        knees: the size at which each line bends.
        front: line and size of the points to ring.
        take: line and size of the point to mark with a star.
    """
    if not traces:
        return None
    left, top, right, bottom = shape.frame
    low = min(float(trace.ratio.min()) for trace in traces)
    high = max(float(trace.ratio.max()) for trace in traces)
    margin = (high - low) * 0.06 or 0.5
    x_axis = Axis(span[0] / 1.05, span[1] * 1.05, left, right, log=True)
    y_axis = Axis(low - margin, high + margin, bottom, top)
    spots = [(x_axis.at(float(t.sizes[-1])), y_axis.at(float(t.ratio[-1]))) for t in traces]
    names = [(*spot, trace.line) for spot, trace in zip(spots, traces, strict=True)]
    room = Box(left, top, float(shape.width), bottom)
    labels: Sequence[Label | None] = place(names, room) if shape.labelled else [None] * len(names)
    by_name = {trace.line: trace for trace in traces}

    def spot(line: str, size: int) -> tuple[float, float] | None:
        trace = by_name.get(line)
        if trace is None:
            return None
        k = min(int(np.searchsorted(trace.sizes, size)), len(trace.sizes) - 1)
        return x_axis.at(float(trace.sizes[k])), y_axis.at(float(trace.ratio[k]))

    paths = [
        Path(
            name=trace.line,
            title=_title(trace),
            style=styles[trace.line] % _COLOURS,
            dash=styles[trace.line] // _COLOURS,
            path=_path(x_axis, y_axis, trace),
            steps=trace.kind != "curve",
            marks=_marks(x_axis, y_axis, trace),
            knee=spot(trace.line, knees[trace.line]) if knees and trace.line in knees else None,
            label=label,
        )
        for trace, label in zip(traces, labels, strict=True)
    ]
    return Chart(
        title=title,
        shape=shape,
        x_ticks=_size_ticks(x_axis, few=not shape.labelled),
        y_ticks=y_axis.ticks()[:: 1 if shape.labelled else 2],
        paths=paths,
        rings=[each for line, size in front if (each := spot(line, size))],
        star=spot(*take) if take else None,
    )


def _title(trace: Trace) -> str:
    return f"{trace.line}: {trace.ratio[-1]:.3f} bytes per token at {int(trace.sizes[-1]):,}"


def _marks(x_axis: Axis, y_axis: Axis, trace: Trace) -> list[tuple[float, float]]:
    first = -1 if trace.kind == "curve" else 0
    points = zip(trace.sizes[first:].tolist(), trace.ratio[first:].tolist(), strict=True)
    return [(x_axis.at(size), y_axis.at(ratio)) for size, ratio in points]


def _size_ticks(axis: Axis, *, few: bool) -> list[Tick]:
    powers = range(math.ceil(math.log10(axis.low)), math.floor(math.log10(axis.high)) + 1)
    leads = (1,) if few else (1, 2, 5)
    sizes = [
        lead * 10**power for power in range(min(powers, default=2) - 1, max(powers, default=5) + 1) for lead in leads
    ]
    return [Tick(axis.at(size), _short(size)) for size in sizes if axis.low <= size <= axis.high]


def _short(size: int) -> str:
    return f"{size // 1000}k" if size >= 1000 else str(size)  # noqa: PLR2004


def _path(x_axis: Axis, y_axis: Axis, trace: Trace) -> str:
    """Every size that the picture can tell apart; what a straight line says as well is left out."""
    sizes, ratio = trace.sizes, trace.ratio
    if trace.kind == "curve":
        # Two sizes a pixel: the curve is known at each, and they follow one another.
        halves = 2 * round(abs(x_axis.at(float(sizes[-1])) - x_axis.at(float(sizes[0])))) + 2
        places = np.unique(np.geomspace(sizes[0], sizes[-1], halves).round().astype(np.int64)) - sizes[0]
        sizes, ratio = sizes[places], ratio[places]
    x = [x_axis.exactly(size) for size in sizes.tolist()]
    points = np.column_stack([x, [y_axis.exactly(each) for each in ratio.tolist()]])
    if trace.kind == "curve":
        points = points[_kept(points)]
    return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in points.tolist())


def _kept(points: NDArray[np.float64]) -> list[int]:
    """The points that are needed, by the rule of Ramer (1972), Douglas and Peucker (1973)."""
    kept, parts = {0, len(points) - 1}, [(0, len(points) - 1)]
    while parts:
        first, last = parts.pop()
        if last - first < 2:  # noqa: PLR2004 - nothing between
            continue
        (x, y), between = points[first], points[first + 1 : last]
        across, up = points[last] - points[first]
        away = np.abs(across * (between[:, 1] - y) - up * (between[:, 0] - x)) / max(math.hypot(across, up), 1e-9)
        farthest = int(away.argmax())
        if away[farthest] > _TOLERANCE:
            middle = first + 1 + farthest
            kept.add(middle)
            parts += [(first, middle), (middle, last)]
    return sorted(kept)
