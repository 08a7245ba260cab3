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
    height = _TOP + len(bars) * step + len({bar.reason for bar in bars} - {""}) * _BLOCK
    title = "Bytes per token over all texts, best first; the numbers are in the tables"
    drawing = Drawing(width, height, title, css="ranking")
    y = float(_TOP)
    scale = max(bar.ends[1] if bar.ends else bar.value for bar in [one for one in bars if one.reason != LOSSY] or bars)
    for reason, block in groupby(bars, lambda bar: bar.reason):
        if reason:
            drawing.draw("path", css="rule", d=f"M0 {y + 5:g}H{width:g}")
            drawing.text(0, y + 18, reason, css="soft small")
            y += _BLOCK
        for bar in block:
            tied = bar.standing is not None and bar.standing.tied
            with drawing.group("aside" if reason else "top" if tied else "", bar.title):
                _row(drawing, bar, y, step, scale)
            y += step
    return drawing


def _row(drawing: Drawing, bar: Bar, y: float, step: int, highest: float) -> None:
    width = drawing.size[0]
    wide, middle = width >= _WIDE, y + step / 2
    left, right = (168, width - 196) if wide else (118, width - 96)
    scale = (right - left) / highest
    end = min(round(left + bar.value * scale, 1), right + _BROKEN)
    drawing.text(left - 8, middle + 4, cut(visible(bar.tokenizer), 24 if wide else 15), "end", "name")
    size = {"width": round(end - left, 1), "height": step - 8}
    drawing.draw("rect", "", x=left, y=round(y + 4, 1), rx=2, **size)
    after = end
    if end > right:  # what loses text may have a far longer bar, which is broken off
        drawing.draw("path", css="break", d=f"M{end - 12:g} {y + step - 2:g}l6 {4 - step:g}")
    elif bar.ends:
        low, after = (round(left + limit * scale, 1) for limit in bar.ends)
        drawing.draw("path", css="whisker", d=f"M{low:g} {middle:g}H{after:g}")
    text = f"{bar.value:.2f}"
    x = max(end, after) + 7
    drawing.text(round(x, 1), middle + 4, text, css="value")
    if bar.standing and bar.standing.more:
        more = f"+{percent(bar.standing.more)}{' tokens' if wide else ''}"
        drawing.text(round(x + 8.2 * len(text) + 4, 1), middle + 4, more, css="soft")
