"""The drawing interface of all charts: axes, ticks, and a picture in SVG.

>>> axis = Axis(0, 10, start=20, end=220)
>>> drawing = Drawing(240, 60, "An example")
>>> drawing.grid(Box(20, 5, 220, 40), x_ticks=[Tick(axis.at(5), "5")])
>>> drawing.draw("circle", cx=axis.at(5), cy=20, r=4)
>>> print(drawing.__html__())
<svg viewBox="0 0 240 60" role="img" aria-label="An example">
<g class="grid">
<path d="M120.0 5V40"/>
<text x="120.0" y="56" text-anchor="middle">5</text>
</g>
<circle cx="120.0" cy="20" r="4"/>
</svg>
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import escape

from tokbench.foundation.visible_text import visible
from tokbench.report.charts.labels import Box, Label

_KEY: Final = 18

COLOURS: Final = 8


@dataclass(frozen=True, slots=True)
class Tick:
    """A line of the grid, its text, and whether it is strong."""

    at: float
    text: str
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Axis:
    """A linear or logarithmic scale from ``low``–``high`` to ``start``–``end``."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def exactly(self, value: float) -> float:
        low, high = (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)
        value = math.log(max(value, self.low / 10)) if self.log else value
        return self.start + (value - low) / (high - low) * (self.end - self.start)

    def at(self, value: float) -> float:
        return round(min(max(self.exactly(value), min(self.start, self.end)), max(self.start, self.end)), 1)

    def ticks(self) -> list[Tick]:
        values = _decades(self.low, self.high) if self.log else []
        if len(values) < 2:  # noqa: PLR2004 - a scale needs two
            values = _steps(self.low, self.high)
        return [Tick(self.at(value), f"{value:g}") for value in values]


def _decades(low: float, high: float) -> list[float]:
    spans = math.log10(high / low)
    leads = (1,) if spans > 4 else (1, 2, 5)  # noqa: PLR2004
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [lead * 10.0**power for power in powers for lead in leads if low <= lead * 10.0**power <= high]


def _steps(low: float, high: float) -> list[float]:
    raw = (high - low) / 6
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(lead * power for lead in (1, 2, 5, 10) if lead * power >= raw)
    first = math.ceil(low / step - 1e-9)
    return [round(step * number, 10) for number in range(first, math.floor(high / step + 1e-9) + 1)]


class Drawing:
    """A picture in SVG; its text is made visible and escaped.

    ``title`` is for screen readers; without it the picture is an ornament. ``css`` are classes, ``origin`` the upper
    left corner.
    """

    def __init__(
        self, width: float, height: float, title: str = "", *, css: str = "", origin: tuple[float, float] = (0, 0)
    ) -> None:
        view = f"{origin[0]} {origin[1]} {width} {height}"
        self.size = width, height
        self.title = title
        self.css = css
        self.view = view
        self._points = False
        self._lines: list[str] = []

    def __html__(self) -> str:
        role = "group" if self._points else "img"
        if self.title:
            frame: dict[str, object] = {"viewBox": self.view, "role": role, "aria_label": self.title}
        else:
            width, height = self.size
            frame = {"width": width, "height": height, "viewBox": self.view, "aria_hidden": "true"}
        return "\n".join([f"<svg{attributes({'class': self.css} | frame)}>", *self._lines, "</svg>"])

    def insert(self, other: Drawing, left: float, middle: float) -> None:
        x, y = (float(number) for number in other.view.split()[:2])
        place = f"translate({left - x:g} {middle - y - other.size[1] / 2:g})"
        self._lines.append(f"<g{attributes({'class': other.css, 'transform': place})}>")
        self._lines += [*other.lines, "</g>"]

    def standalone(self, style: str, keys: Sequence[tuple[str, Drawing]] = (), headings: Sequence[str] = ()) -> str:
        """Return the picture as a file of its own, on white.

        Args:
            style: the style sheet, without variables.
            keys: names of colours and marks with their strokes, for below the picture.
            headings: lines above the picture.
        """
        width, height = self.size
        above = _KEY * len(headings)
        page = Drawing(width, above + height + _KEY * len(keys), self.title)
        page.draw("rect", width=width, height=page.size[1], fill="#fff")
        for number, heading in enumerate(headings):
            page.text(6, _KEY * (number + 0.75), heading)
        page.insert(self, 0, above + height / 2)
        for number, (name, key) in enumerate(keys):
            middle = above + height + _KEY * (number + 0.5)
            page.insert(key, 10, middle)
            page.text(key.size[0] + 18, middle + 4, name)
        size = {"width": width, "height": page.size[1], "viewBox": page.view}
        head = f'<svg xmlns="http://www.w3.org/2000/svg"{attributes(size)}><title>{_safe(self.title)}</title>'
        return "\n".join([head, f"<style>{style}</style>", *page.lines, "</svg>", ""])

    @property
    def lines(self) -> Sequence[str]:
        return self._lines

    def draw(self, tag: str, content: str = "", **values: Any) -> None:
        """Draw an element such as ``path``; empty and ``None`` attributes are left out.

        ``css`` becomes ``class``, and underscores in attribute names become hyphens.
        """
        rest = attributes({"class": values.pop("css", "")} | values)
        self._lines.append(f"<{tag}{rest}>{_safe(content)}</{tag}>" if content else f"<{tag}{rest}/>")

    def text(self, x: float, y: float, content: str, anchor: str = "", css: str = "") -> None:
        self.draw("text", content, css=css, x=x, y=y, text_anchor=anchor)

    @contextmanager
    def group(self, css: str = "", title: str = "") -> Iterator[None]:
        """Group what is drawn meanwhile; a tooltip makes it a point that readers can open."""
        tooltip = f"<title>{_safe(title)}</title>" if title else ""
        self._points = self._points or bool(title)
        self._lines.append(f"<g{attributes({'class': css, 'role': 'img' if title else ''})}>{tooltip}")
        yield
        self._lines.append("</g>")

    def grid(
        self,
        frame: Box,
        x_ticks: Sequence[Tick] = (),
        y_ticks: Sequence[Tick] = (),
        *,
        titles: tuple[str, str] = ("", ""),
        heading: str = "",
        below: float = 16,
        beside: float = 7,
    ) -> None:
        """Draw the grid of a plane; ``below`` and ``beside`` are distances of tick texts."""
        with self.group("grid"):
            for tick in x_ticks:
                self.draw("path", css="one" if tick.strong else "", d=f"M{tick.at} {frame.top:g}V{frame.bottom:g}")
                self.text(tick.at, frame.bottom + below, tick.text, "middle")
            for tick in y_ticks:
                self.draw("path", css="one" if tick.strong else "", d=f"M{frame.left:g} {tick.at}H{frame.right:g}")
                self.text(frame.left - beside, tick.at + 4, tick.text, "end")
            if heading:
                self.text(frame.left, frame.top - 7, heading, css="axis")
            if titles[0]:
                self.text((frame.left + frame.right) / 2, frame.bottom + 40, titles[0], "middle", "axis")
            if titles[1]:
                turned = f"translate(14 {(frame.top + frame.bottom) / 2}) rotate(-90)"
                self.draw("text", titles[1], css="axis", transform=turned, text_anchor="middle")

    def label(self, label: Label | None) -> None:
        if label is None:
            return
        if label.leader:
            x1, y1, x2, y2 = label.leader
            self.draw("path", css="leader", d=f"M{x1} {y1}L{x2} {y2}")
        self.text(label.x, label.y, label.text, label.anchor)


def attributes(values: Mapping[str, object]) -> str:
    """Return the attributes of an element, escaped, without empty ones; underscores in names become hyphens."""
    known = {name.replace("_", "-"): value for name, value in values.items() if value not in {None, ""}}
    return "".join(f' {name}="{_safe(value)}"' for name, value in known.items())


def _safe(value: object) -> str:
    return str(escape(visible(str(value))))
