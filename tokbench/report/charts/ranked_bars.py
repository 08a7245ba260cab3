"""Ranked bars: text per token of each tokenizer over all texts that count, and what the others cost."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from tokbench.foundation.visible_text import visible
from tokbench.report.answer.ranking import LOSSY, Bar
from tokbench.report.answer.words import percent
from tokbench.report.charts.svg import Drawing
from tokbench.report.escaping import cut

_TALL, _LOW, _MANY = 26, 22, 16
_MOST: Final = 40
_BLOCK: Final = 22
_TOP: Final = 4
_BROKEN: Final = 20
_WIDE: Final = 600


def ranked_bars(bars: Sequence[Bar], width: int) -> Drawing | None:
    """Return the chart, the ranked tokenizers first; ``None`` without a number. A page draws the like of it again."""
    bars = bars[:_MOST]
    if not bars:
        return None
    step = _LOW if len(bars) > _MANY else _TALL
    lines = len({bar.reason for bar in bars} - {""})
    title = "Bytes per token over all texts, best first; the numbers are in the tables"
    chart = _Bars(Drawing(width, _TOP + len(bars) * step + lines * _BLOCK, title, css="ranking"), step)
    chart.draw(bars)
    return chart.drawing


class _Bars:
    def __init__(self, drawing: Drawing, step: int) -> None:
        self.drawing = drawing
        self._step = step
        width = drawing.size[0]
        self._is_wide = width >= _WIDE
        self._left = 168 if self._is_wide else 118
        self._right = width - (196 if self._is_wide else 96)
        self._longest = 24 if self._is_wide else 15

    def draw(self, bars: Sequence[Bar]) -> None:
        # Those that lose text may have far longer bars, which are broken off.
        fair = [bar for bar in bars if bar.reason != LOSSY] or bars
        scale = (self._right - self._left) / max(bar.ends[1] if bar.ends else bar.value for bar in fair)
        y = float(_TOP)
        for reason, block in groupby(bars, lambda bar: bar.reason):
            if reason:
                self.drawing.draw("path", css="rule", d=f"M0 {y + 5:g}H{self.drawing.size[0]:g}")
                self.drawing.text(0, y + 18, reason, css="soft small")
                y += _BLOCK
            for bar in block:
                tied = bar.standing is not None and bar.standing.tied
                with self.drawing.group("aside" if reason else "top" if tied else "", bar.title):
                    self._row(bar, y, scale)
                y += self._step

    def _row(self, bar: Bar, y: float, scale: float) -> None:
        middle = y + self._step / 2
        end = min(round(self._left + bar.value * scale, 1), self._right + _BROKEN)
        self.drawing.text(self._left - 8, middle + 4, cut(visible(bar.tokenizer), self._longest), "end", "name")
        size = {"width": round(end - self._left, 1), "height": self._step - 8}
        self.drawing.draw("rect", "", x=self._left, y=round(y + 4, 1), rx=2, **size)
        after = end
        if end > self._right:
            slash = f"M{end - 12:g} {y + self._step - 2:g}l6 {4 - self._step:g}"
            self.drawing.draw("path", css="break", d=slash)
        elif bar.ends:
            low, after = (round(self._left + limit * scale, 1) for limit in bar.ends)
            self.drawing.draw("path", css="whisker", d=f"M{low:g} {middle:g}H{after:g}")
        text = f"{bar.value:.2f}"
        x = max(end, after) + 7
        self.drawing.text(round(x, 1), middle + 4, text, css="value")
        if bar.standing and bar.standing.more:
            more = f"+{percent(bar.standing.more)}{' tokens' if self._is_wide else ''}"
            self.drawing.text(round(x + 8.2 * len(text) + 4, 1), middle + 4, more, css="soft")
