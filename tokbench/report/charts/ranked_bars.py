"""Ranked bars: text per token of each tokenizer, with its interval and what the others cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from tokbench.foundation.visible_text import visible
from tokbench.measuring.metric import Role
from tokbench.measuring.round_trip import RoundTrip
from tokbench.report.cells import DisplayCell, Series
from tokbench.report.charts.svg import Drawing
from tokbench.report.escaping import cut
from tokbench.report.tables import CellTables
from tokbench.results.cells import Cell

_TALL, _LOW, _MANY = 26, 22, 16
_MOST: Final = 40
_BLOCK: Final = 22
_TOP: Final = 4
_DIGITS: Final = 3
_BROKEN: Final = 20
_LOSSY: Final = "lossy: not ranked"
_WIDE: Final = 600


class BarBlock(NamedTuple):
    """Tokenizers shown together, best first."""

    heading: str
    names: Sequence[str]


def ranked_bars(tables: CellTables, corpus: str, width: int) -> Drawing | None:
    """Return the chart of a corpus, those that compete first; ``None`` without a number."""
    metric = tables.with_role(Role.TEXT_PER_TOKEN)
    series = tables.series(metric, corpus, digits=_DIGITS) if metric else None
    blocks = list(_blocks(series)) if series else []
    if series is None or not blocks:
        return None
    rows = sum(len(block.names) for block in blocks)
    step = _LOW if rows > _MANY else _TALL
    lines = sum(bool(block.heading) for block in blocks)
    what = f"{series.label} on {corpus}, {series.unit_label}"
    title = f"{what}, best first, with 95 % intervals; the numbers are in the tables"
    chart = _Bars(tables, series, Drawing(width, _TOP + rows * step + lines * _BLOCK, title, css="ranking"), step)
    chart.draw(blocks)
    return chart.drawing


def _blocks(series: Series) -> Iterator[BarBlock]:
    places: dict[str, list[str]] = {}
    for name in series.ranked():
        cell = series.cells[name]
        if cell.value is not None and sum(map(len, places.values())) < _MOST:
            places.setdefault(_reason(cell), []).append(name)
    for heading in sorted(places, key=bool):
        values = {name: series.cells[name].value or 0.0 for name in places[heading]}
        yield BarBlock(heading, sorted(values, key=lambda name: -values[name]))


def _reason(cell: DisplayCell) -> str:
    if cell.partial:
        return "measured in part"
    if cell.round_trip == RoundTrip.LOSSY:
        return _LOSSY
    if not cell.round_trip.ranked:
        return "round trip not measured: not ranked"
    if cell.in_sample:
        return "trained on these documents: not ranked"
    return "baselines" if cell.baseline else ""


class _Bars:
    def __init__(self, tables: CellTables, series: Series, drawing: Drawing, step: int) -> None:
        self.drawing = drawing
        self._tables = tables
        self._series = series
        self._step = step
        width = drawing.size[0]
        self._is_wide = width >= _WIDE
        self._left = 168 if self._is_wide else 118
        self._right = width - (196 if self._is_wide else 96)
        self._level = tables.level_with_best(series.metric, series.corpus)
        self._longest = 24 if self._is_wide else 15

    def draw(self, blocks: Sequence[BarBlock]) -> None:
        place = self._series.metric, self._series.corpus
        cells = {name: self._tables.whole_cell(*place, name) for block in blocks for name in block.names}
        # Those that lose text may have far longer bars, which are broken off.
        fair = [cells[name] for block in blocks if block.heading != _LOSSY for name in block.names] or list(
            cells.values()
        )
        highest = max(max(cell.value or 0.0, cell.ci_high or 0.0) for cell in fair)
        scale = (self._right - self._left) / (highest or 1.0)
        best = cells[blocks[0].names[0]].value if not blocks[0].heading else None
        y = float(_TOP)
        for block in blocks:
            if block.heading:
                self._heading(block.heading, y)
                y += _BLOCK
            for name in block.names:
                css = "aside" if block.heading else "top" if name in self._level else ""
                with self.drawing.group(css, f"{name}: {self._series.cells[name].title}"):
                    self._row(cells[name], y, scale, None if block.heading == _LOSSY else best)
                y += self._step

    def _heading(self, text: str, y: float) -> None:
        self.drawing.draw("path", css="rule", d=f"M0 {y + 5:g}H{self.drawing.size[0]:g}")
        self.drawing.text(0, y + 18, text, css="soft small")

    def _row(self, cell: Cell, y: float, scale: float, best: float | None) -> None:
        value, middle = cell.value or 0.0, y + self._step / 2
        end = min(round(self._left + value * scale, 1), self._right + _BROKEN)
        self.drawing.text(self._left - 8, middle + 4, cut(visible(cell.tokenizer), self._longest), "end", "name")
        size = {"width": round(end - self._left, 1), "height": self._step - 8}
        self.drawing.draw("rect", "", x=self._left, y=round(y + 4, 1), rx=2, **size)
        after = end
        if end > self._right:
            slash = f"M{end - 12:g} {y + self._step - 2:g}l6 {4 - self._step:g}"
            self.drawing.draw("path", css="break", d=slash)
        elif cell.ci_low is not None and cell.ci_high is not None:
            low, after = (round(self._left + limit * scale, 1) for limit in (cell.ci_low, cell.ci_high))
            self.drawing.draw("path", css="whisker", d=f"M{low:g} {middle:g}H{after:g}")
        text = self._series.cells[cell.tokenizer].text
        x = max(end, after) + 7
        self.drawing.text(round(x, 1), middle + 4, text, css="value")
        if best and value and value != best:
            more = f"{100 * (best / value - 1):+.0f} %{' tokens' if self._is_wide else ''}"
            self.drawing.text(round(x + 8.2 * len(text) + 4, 1), middle + 4, more, css="soft")
