"""The chart of lines over a few named places, one line per tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from tokbench.report.charts.labels import Box
from tokbench.report.charts.svg import COLOURS, Axis, Drawing, Tick

_ROOM: Final = 0.05


class ProfileLine(NamedTuple):
    """The line of one tokenizer."""

    name: str
    style: int
    values: Sequence[float]
    texts: Sequence[str]
    intervals: Sequence[tuple[float, float] | None] = ()
    rings: Sequence[int] = ()

    @property
    def ends(self) -> list[float]:
        return [*self.values, *(end for interval in self.intervals if interval for end in interval)]


class _ProfileSize(NamedTuple):
    """The picture's size, its plane's box, and the radius of dots."""

    width: int
    height: int
    frame: Box
    dot: float


_WIDE: Final = _ProfileSize(1240, 400, Box(64.0, 26.0, 1220.0, 364.0), 3.2)
_NARROW: Final = _ProfileSize(620, 400, Box(64.0, 14.0, 596.0, 350.0), 3.2)


def line_profile(
    title: str,
    places: Sequence[str],
    lines: Sequence[ProfileLine],
    *,
    upright: str = "",
    heading: str = "",
    wide: bool = False,
) -> Drawing:
    """Return a line for each tokenizer over equally spaced places, of which two are needed.

    ``upright`` names the upright axis; ``heading`` is above the plane.

    >>> drawing = line_profile("c", ["order 1", "order 2"], [ProfileLine("a", 0, [3.0, 2.0], ["3", "2"])])
    >>> [line for line in drawing.lines if "trace" in line]
    ['<path class="trace" d="M64.0 29.3L596.0 334.7"/>']
    >>> around = [ProfileLine("a", 0, [3.0, 2.0], ["3", "2"], [None, (1.0, 2.5)])]
    >>> [line for line in line_profile("c", ["0", "1"], around).lines if "whisker" in line]
    ['<path class="whisker" d="M596.0 334.7V105.6"/>']
    """
    size = _WIDE if wide else _NARROW
    ends = [end for line in lines for end in line.ends]
    low, high = min(ends), max(ends)
    room = (high - low) * _ROOM or 0.5
    x_axis = Axis(0, len(places) - 1, size.frame.left, size.frame.right)
    y_axis = Axis(low - room, high + room, size.frame.bottom, size.frame.top)
    drawing = Drawing(size.width, size.height, f"{title}; the numbers are in the table")
    ticks = [Tick(x_axis.at(number), name) for number, name in enumerate(places)]
    drawing.grid(size.frame, ticks, y_axis.ticks(), titles=("", upright), heading=heading, below=16)
    for line in lines:
        said = ", ".join(f"{place}: {text}" for place, text in zip(places, line.texts, strict=True))
        spots = [(x_axis.at(number), y_axis.at(value)) for number, value in enumerate(line.values)]
        with drawing.group(line_css(line.style), f"{line.name}: {said}"):
            for (x, _), interval in zip(spots, line.intervals, strict=False):
                if interval:
                    drawing.draw("path", css="whisker", d=f"M{x} {y_axis.at(interval[0])}V{y_axis.at(interval[1])}")
            drawing.draw("path", css="trace", d="M" + "L".join(f"{x} {y}" for x, y in spots))
            for x, y in spots:
                drawing.draw("circle", css="mark", cx=x, cy=y, r=size.dot)
            for number in line.rings:
                drawing.draw("circle", css="ring", cx=spots[number][0], cy=spots[number][1], r=2 * size.dot)
    return drawing


def line_key(style: int) -> Drawing:
    """Return a short stroke in the style of a line."""
    drawing = Drawing(26, 10, css=f"{line_css(style)} key")
    drawing.draw("path", css="trace", d="M1 5H25")
    return drawing


def line_css(style: int, *, steps: bool = False) -> str:
    """Return the classes of a line style; ``steps`` if it only leads from point to point."""
    return f"line p{style % COLOURS} d{style // COLOURS}" + (" steps" if steps else "")
