"""Lorenz curves: the share of all tokens that the cheapest languages need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tokbench.report.charts.labels import Box
from tokbench.report.charts.svg import COLOURS, Axis, Drawing, Tick
from tokbench.statistics.inequality import lorenz

_SIZE, _MARGIN = 420, 44.0
_DASHES: Final = ("", "6 3", "2 3", "8 3 2 3")


def lorenz_chart(title: str, premiums: Mapping[str, Sequence[float]], tooltips: Mapping[str, str]) -> Drawing:
    """Draw the premiums of all languages by tokenizer; ``tooltips`` in the same order."""
    near, far = _MARGIN, _SIZE - _MARGIN
    x_axis, y_axis = Axis(0, 1, near, far), Axis(0, 1, far, near)
    shares = (0, 0.25, 0.5, 0.75, 1)
    drawing = Drawing(_SIZE, _SIZE, title)
    drawing.grid(
        Box(near, near, far, far),
        [Tick(x_axis.at(share), f"{100 * share:.0f}") for share in shares],
        [Tick(y_axis.at(share), f"{100 * share:.0f}") for share in shares],
        titles=("% of the languages, cheapest first", "% of the tokens"),
        below=16,
        beside=6,
    )
    with drawing.group("grid"):
        drawing.draw("path", css="one", d=f"M{near:g} {far:g}L{far:g} {near:g}")
    for number, (name, values) in enumerate(premiums.items()):
        points = (f"{x_axis.exactly(x):.1f} {y_axis.exactly(y):.1f}" for x, y in lorenz(values))
        with drawing.group(f"p{number % COLOURS}", tooltips[name]):
            _curve(drawing, number, "M" + "L".join(points))
    return drawing


def lorenz_key(number: int) -> Drawing:
    """Return a short stroke that looks like a curve."""
    drawing = Drawing(26, 8, css=f"p{number % COLOURS}")
    _curve(drawing, number, "M0 4H26")
    return drawing


def _curve(drawing: Drawing, number: int, path: str) -> None:
    drawing.draw("path", css="bar curve", d=path, stroke_dasharray=_DASHES[number // COLOURS % len(_DASHES)])
