"""Heat maps: groups down, tokenizers across, one metric of one corpus."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tokbench.foundation.visible_text import visible
from tokbench.measuring.metric import Role
from tokbench.report.answer.words import percent
from tokbench.report.cells import DisplayCell, Series, legends
from tokbench.report.charts.svg import Drawing
from tokbench.report.escaping import cut
from tokbench.report.number_format import Style, style_for, unit_label
from tokbench.report.tables import CellTables
from tokbench.results.cells import WHOLE, Status

LEVELS: Final = 9

_DIGITS: Final = 3
_WIDE: Final = 50.0

BEYOND: Final = "tokens beyond the best of the row"
BEST: Final = "best"
"""What the best of a row says instead of 0%: what the row is measured against must be found at a glance."""


@dataclass(frozen=True, slots=True)
class HeatRow:
    """One group."""

    group: str
    language: str
    documents: int | None
    unit: str
    cells: Sequence[tuple[DisplayCell, int | None]]
    """Each cell with its colour level; ``None`` for no colour."""


@dataclass(frozen=True, slots=True)
class HeatMap:
    """One metric of one corpus."""

    metric: str
    label: str
    family: str
    """Its family, or ``main`` for a headline metric of the study's subject."""
    unit: str
    direction: str
    """``higher``, ``lower`` or ``none``; ``none``, too, if the run did not check for losses."""
    shared: bool
    low: str
    high: str
    tokenizers: Sequence[str]
    absent: Sequence[tuple[str, str]]
    rows: Sequence[HeatRow]
    left_out: str = ""

    @property
    def legends(self) -> list[str]:
        return legends(cell for row in self.rows for cell, _ in row.cells)


@dataclass(frozen=True, slots=True)
class _Scale:
    """A colour scale over the middle 90% of the values, against outliers."""

    low: float
    high: float
    reverse: bool
    wide: float = _WIDE
    """From this ratio of the ends on the scale is logarithmic."""

    @classmethod
    def over(cls, values: Sequence[float], *, reverse: bool, wide: float = _WIDE) -> _Scale:
        ordered = sorted(values)
        last = len(ordered) - 1
        return cls(ordered[round(last * 0.05)], ordered[round(last * 0.95)], reverse, wide)

    def level(self, value: float) -> int:
        low, high = self.low, self.high
        value = min(max(value, low), high)
        if low > 0 and high / low > self.wide:
            low, high, value = math.log(low), math.log(high), math.log(value)
        # Values that are all equal get the middle colour.
        share = (value - low) / (high - low) if high > low else 0.5
        return round((1 - share if self.reverse else share) * (LEVELS - 1))


def heat_maps(tables: CellTables, corpus: str) -> list[HeatMap]:
    """Return the heat maps of a corpus, headline metrics first, without losses by cause."""
    first = tables.with_role(Role.TEXT_PER_TOKEN)
    subject = [name for name in tables.headline if tables.metric(name).leads]
    names = dict.fromkeys([*subject, first, *(name for name in tables.metrics if name not in tables.loss_counts)])
    return [heat for name in names if (heat := heat_map(tables, corpus, name, beyond=name == first))]


def heat_map(tables: CellTables, corpus: str, metric: str, *, beyond: bool = False) -> HeatMap | None:
    """Return the heat map of one metric; ``None`` if no group distinguishes tokenizers.

    With ``beyond`` it has the tokens beyond the best of each row: a byte of text is not as much in every script.
    """
    names = [group for group in tables.groups(metric, corpus) if tables.is_shown(corpus, group)]
    whole = tables.series(metric, corpus, WHOLE, digits=_DIGITS)
    ranked = (whole if whole.measured else tables.series(tables.with_role(Role.TEXT_PER_TOKEN), corpus)).ranked()
    # Tokenizers without any number have no column, so that the numbers stay in sight.
    measured = [
        name for name in ranked if any(_has_number(tables, metric, corpus, group, name) for group in [*names, WHOLE])
    ]
    order = tables.in_sight(measured)
    groups = [tables.series(metric, corpus, group, names=order) for group in names] if order else []
    values = _values([_beyond_best(row) for row in groups] if beyond else groups)
    if not any(row.tells_apart for row in groups):
        return None
    # All units of one metric have the same style, such as shares of words and shares of characters.
    style = style_for([value for some in values.values() for value in some], next(iter(values)), _DIGITS)
    info = tables.metric(metric)
    direction = info.direction if tables.losses_checked or info.loss_cannot_help else "none"
    reverse, wide = beyond or direction == "lower", 1.0 if beyond else _WIDE
    direction = "lower" if beyond and direction != "none" else direction
    scales = {unit: _Scale.over(some, reverse=reverse, wide=wide) for unit, some in values.items()}
    rows = [whole] if whole.measured else []
    rows += [tables.series(metric, corpus, row.group, digits=style, names=order) for row in groups]
    rows = [_beyond_best(row) for row in rows] if beyond else rows
    absent = [name for name in ranked if name not in set(measured)]
    words = tables.series(metric, corpus, groups[-1].group, names=absent).cells if absent else {}
    low, high = (f"+{percent(scales[BEYOND].high - 1)}", BEST) if beyond else _ends(scales, style, direction)
    return HeatMap(
        metric=metric,
        label=tables.label(metric),
        family="main" if info.leads else info.family,
        unit=unit_label(next(iter(values))) if len(values) == 1 else "",
        direction=direction,
        shared=len(values) == 1,
        low=low,
        high=high,
        tokenizers=order,
        absent=[(name, cell.text) for name, cell in words.items() if not cell.unbound],
        rows=[_row(tables, row, order, scales) for row in rows],
        left_out=" ".join(filter(None, [tables.left_out(corpus), tables.out_of_sight(measured)])),
    )


def _beyond_best(row: Series) -> Series:
    """Return a row of bytes per token as tokens relative to the best that competes."""
    rates = [(cell.competes, cell.value) for cell in row.cells.values() if cell.value]
    best = max(rates, default=(False, 0.0))[1]
    cells = {}
    for name, cell in row.cells.items():
        share = best / cell.value - 1 if cell.value else 0.0
        text = f"{'+' * (share > 0)}{percent(share)}" if share else BEST
        cells[name] = replace(cell, text=text, value=1 + share, raw=cell.text) if cell.value else cell
    return replace(row, unit=BEYOND, cells=cells)


def _has_number(tables: CellTables, metric: str, corpus: str, group: str, name: str) -> bool:
    cell = tables.cell(metric, corpus, group, name)
    return cell is not None and cell.value is not None and cell.status == Status.OK


def _values(rows: Sequence[Series]) -> dict[str, list[float]]:
    values: dict[str, list[float]] = {}
    for row in rows:
        # A tokenizer that loses text could stretch the scale until all others looked alike.
        measured = [(cell.lossy, cell.value) for cell in row.cells.values() if cell.value is not None]
        known = [value for lossy, value in measured if not lossy] or [value for _, value in measured]
        if known:
            values.setdefault(row.unit, []).extend(known)
    return values


def _ends(scales: Mapping[str, _Scale], style: Style, direction: str) -> tuple[str, str]:
    if len(scales) > 1:
        return ("smaller", "larger") if direction == "none" else ("worse", "better")
    [scale] = scales.values()
    low, high = style.show(scale.low), style.show(scale.high)
    return (high, low) if scale.reverse else (low, high)


def _row(tables: CellTables, row: Series, order: Sequence[str], scales: Mapping[str, _Scale]) -> HeatRow:
    documents = tables.corpus(row.corpus).groups
    scale = scales.get(row.unit)
    return HeatRow(
        group=row.group,
        language=tables.language(row.corpus, row.group),
        documents=sum(documents.values()) if row.group == WHOLE else documents.get(row.group),
        unit=row.unit_label if len(scales) > 1 else "",
        cells=[(row.cells[name], _level(row.cells[name], scale)) for name in order],
    )


def _level(cell: DisplayCell, scale: _Scale | None) -> int | None:
    return None if cell.value is None or cell.lossy or scale is None else scale.level(cell.value)


_CELL: Final = (52, 18)
_CHAR: Final = 6.6
_LONGEST: Final = 44


def heat_drawing(heat: HeatMap, corpus: str) -> Drawing:
    """Return a heat map as a picture."""
    wide, high = _CELL
    groups = [cut(visible(_title(row)), _LONGEST) for row in heat.rows]
    names = [cut(visible(name), _LONGEST) for name in heat.tokenizers]
    left = 16 + _CHAR * max(map(len, groups))
    top = 44 + 0.75 * _CHAR * max(map(len, names), default=0)
    slant = 0.75 * _CHAR * len(names[-1]) if names else 0
    below = top + high * len(groups) + 18
    width = max(left + wide * len(names) + slant, 420, *(_CHAR * len(legend) for legend in heat.legends))
    size = round(width + 12), round(below + high * len(heat.legends))
    drawing = Drawing(*size, f"{heat.label} of {corpus} by group", css="heatmap")
    better = "" if heat.direction == "none" else f"; {heat.direction} is better"
    scale = f"{heat.low} (pale) to {heat.high} (strong) {heat.unit}".rstrip()
    drawing.text(8, 18, f"{visible(corpus)}: {heat.label}, {scale}{better}")
    for k, name in enumerate(names):
        turned = f"translate({left + wide * (k + 0.5):.1f} {top - 6:.1f}) rotate(-45)"
        drawing.draw("text", name, transform=turned)
    for line, (row, group) in enumerate(zip(heat.rows, groups, strict=True)):
        y = top + high * line
        drawing.text(left - 8, round(y + 13, 1), group, "end")
        for k, (shown, level) in enumerate(row.cells):
            x = round(left + wide * k, 1)
            with drawing.group("pale" if level is None else f"h{level}", shown.title):
                drawing.draw("rect", x=x, y=round(y, 1), width=wide - 1, height=high - 1)
                text = f"{shown.text}{shown.marks}"
                drawing.text(x + wide / 2, round(y + 13, 1), text, "middle", "best" if shown.best else "")
    for k, legend in enumerate(heat.legends):
        drawing.text(8, round(below + high * k, 1), legend)
    return drawing


def _title(row: HeatRow) -> str:
    group = "whole corpus" if row.group == WHOLE else row.group
    return " ".join(filter(None, (group, row.language, row.unit)))
