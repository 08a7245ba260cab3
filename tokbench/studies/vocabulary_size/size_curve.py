"""The charts of compression, and of the cost of a byte, over vocabulary sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.report.charts.labels import Box, Label, place
from tokbench.report.charts.svg import COLOURS, Axis, Drawing, Tick
from tokbench.studies.vocabulary_size.block import SizeAdvice, SizePick, VocabularySizes


@dataclass(frozen=True)
class SizeTrace:
    """A line over sizes: int64[s] sizes and tokens, and float64[s] what is drawn, such as bytes per token."""

    line: str
    kind: Literal["curve", "ladder", "point"]
    sizes: NDArray[np.int64]
    ratio: NDArray[np.float64]
    tokens: NDArray[np.int64] | None = None


class ChartSize(NamedTuple):
    """The size of a chart and of its plane."""

    width: int
    height: int
    frame: Box
    labelled: bool
    upright: str = "compression, bytes/token"


LARGE: Final = ChartSize(960, 520, Box(56.0, 14.0, 800.0, 470.0), labelled=True)
SMALL: Final = ChartSize(230, 170, Box(30.0, 20.0, 222.0, 150.0), labelled=False)


class SizeSpan(NamedTuple):
    """The ranges of the axes of a chart."""

    smallest: float
    largest: float
    ratios: tuple[float, float] | None = None

    @classmethod
    def shared(cls, smallest: float, largest: float, traces: Iterable[SizeTrace]) -> SizeSpan:
        ratios = [trace.ratio for trace in traces]
        if not ratios:
            return cls(smallest, largest)
        return cls(smallest, largest, (min(float(r.min()) for r in ratios), max(float(r.max()) for r in ratios)))


class _Plane(NamedTuple):
    x: Axis
    y: Axis
    traces: Mapping[str, SizeTrace]


def size_chart(
    title: str,
    traces: Sequence[SizeTrace],
    chart: ChartSize,
    styles: Mapping[str, int],
    *,
    span: SizeSpan,
    of: str = "",
    marks: Mapping[str, str] | None = None,
) -> Drawing | None:
    """Return bytes per token over the logarithm of the size, names with their marks; ``None`` without a line."""
    if not traces:
        return None
    left, top, _, bottom = frame = chart.frame
    low, high = span.ratios or SizeSpan.shared(span.smallest, span.largest, traces).ratios or (0.0, 1.0)
    margin = (high - low) * 0.06 or 0.5
    x_axis = size_axis(span, chart)
    y_axis = Axis(low - margin, high + margin, bottom, top)
    plane = _Plane(x_axis, y_axis, {trace.line: trace for trace in traces})
    names = {trace.line: trace.line + (marks or {}).get(trace.line, "") for trace in traces}
    ends = [(*_points(plane, trace)[-1], names[trace.line]) for trace in traces]
    room = Box(left, top, float(chart.width), bottom)
    labels: Sequence[Label | None] = place(ends, room) if chart.labelled else [None] * len(ends)
    drawing = Drawing(chart.width, chart.height, f"{title}{of}; the numbers are in the tables")
    x_ticks, y_ticks = size_ticks(x_axis, few=not chart.labelled), y_axis.ticks()[:: 1 if chart.labelled else 2]
    titles = ("vocabulary size, tokens", chart.upright) if chart.labelled else ("", "")
    heading = "" if chart.labelled else title
    drawing.grid(frame, x_ticks, y_ticks, titles=titles, heading=heading, below=14, beside=5)
    for trace, label in zip(traces, labels, strict=True):
        css = line_css(styles[trace.line], steps=trace.kind != "curve")
        with drawing.group(css, f"{names[trace.line]}: {trace.ratio[-1]:.3f} at {int(trace.sizes[-1]):,}"):
            _draw_line(drawing, plane, trace, large=chart.labelled)
            drawing.label(label)
    return drawing


def size_axis(span: SizeSpan, chart: ChartSize) -> Axis:
    """Return the axis of sizes."""
    return Axis(span.smallest / 1.05, span.largest * 1.05, chart.frame.left, chart.frame.right, log=True)


def _draw_line(drawing: Drawing, plane: _Plane, trace: SizeTrace, *, large: bool) -> None:
    drawing.draw("path", css="trace", d=_path(plane, trace))
    for x, y in _points(plane, trace) if large or trace.kind != "curve" else ():
        drawing.draw("circle", css="mark", cx=x, cy=y, r=4 if large else 2.4)


def _points(plane: _Plane, trace: SizeTrace) -> list[tuple[float, float]]:
    first = -1 if trace.kind == "curve" else 0
    points = zip(trace.sizes[first:].tolist(), trace.ratio[first:].tolist(), strict=True)
    return [(plane.x.at(size), plane.y.at(ratio)) for size, ratio in points]


def size_ticks(axis: Axis, *, few: bool = False) -> list[Tick]:
    """Return ticks at 1, 2 and 5 of each power of ten, or at 1 alone."""
    sizes = [lead * 10**power for power in range(12) for lead in ((1,) if few else (1, 2, 5))]
    return [Tick(axis.at(size), _short(size)) for size in sizes if axis.low <= size <= axis.high]


def _short(size: int) -> str:
    return f"{size // 1000}k" if size >= 1000 else str(size)  # noqa: PLR2004


def _path(plane: _Plane, trace: SizeTrace) -> str:
    sizes, ratio = trace.sizes, trace.ratio
    if trace.kind == "curve":
        # A size for each second pixel is enough.
        points = round(abs(plane.x.at(float(sizes[-1])) - plane.x.at(float(sizes[0])))) // 2 + 2
        places = np.unique(np.searchsorted(sizes, np.geomspace(sizes[0], sizes[-1], points).round()))
        sizes, ratio = sizes[places], ratio[places]
    spots = zip(sizes.tolist(), ratio.tolist(), strict=True)
    return "M" + "L".join(f"{plane.x.exactly(size):.1f} {plane.y.exactly(value):.1f}" for size, value in spots)


COST_TITLE: Final = "Cost of a byte of text by vocabulary size"
_UPRIGHT: Final = "FLOPs beyond the least, %"
BROAD: Final = ChartSize(620, 310, Box(52.0, 14.0, 500.0, 262.0), labelled=True, upright=_UPRIGHT)
NARROW: Final = ChartSize(368, 280, Box(46.0, 14.0, 268.0, 232.0), labelled=True, upright=_UPRIGHT)
_MOST: Final = 50
_SHADE: Final = 0.14


def cost_chart(
    study: VocabularySizes, styles: Mapping[str, int], shaded: SizePick, size: ChartSize = BROAD
) -> Drawing | None:
    """Return the chart for the model in the middle, with a range of sizes shaded; ``None`` without an advice."""
    taken = study.best
    if not taken:
        return None
    traces = [_trace(advice, min(taken.costs)) for advice in study.advice if advice.model == taken.model]
    traces = [trace for trace in traces if len(trace.sizes)]
    span = SizeSpan(min(trace.sizes[0] for trace in traces), max(trace.sizes[-1] for trace in traces))
    drawing = size_chart(COST_TITLE, traces, size, styles, span=span)
    if drawing:
        axis, frame = size_axis(span, size), size.frame
        left, right = axis.at(shaded.low), axis.at(shaded.high)
        drawing.draw(
            "rect", css="mark", x=left, y=frame.top, width=round(max(right - left, 1.0), 1),
            height=frame.bottom - frame.top, fill="currentColor", fill_opacity=_SHADE,
        )  # fmt: skip
    return drawing


def _trace(sizes: SizeAdvice, least: float) -> SizeTrace:
    beyond = 100 * (np.array(sizes.costs) / least - 1)
    near = beyond <= _MOST
    return SizeTrace(sizes.line, "curve" if near.sum() > 1 else "point", np.array(sizes.sizes)[near], beyond[near])


def line_key(style: int) -> Drawing:
    """Return a short stroke in the style of a line."""
    drawing = Drawing(26, 10, css=f"{line_css(style)} key")
    drawing.draw("path", css="trace", d="M1 5H25")
    return drawing


def line_css(style: int, *, steps: bool = False) -> str:
    """Return the classes of a line style; ``steps`` if it only leads from point to point."""
    return f"line p{style % COLOURS} d{style // COLOURS}" + (" steps" if steps else "")
