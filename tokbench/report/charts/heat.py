"""Heat maps: groups down, tokenizers across, one metric of one corpus."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tokbench.report.cells import DisplayCell, Series, label, legends
from tokbench.report.number_format import Style, style_for, unit_label
from tokbench.report.sections.losses import COUNTED
from tokbench.report.tables import Tables
from tokbench.results.cells import WHOLE

__all__ = ["FIRST", "LEVELS", "HeatMap", "HeatRow", "heat_map", "heat_maps"]

LEVELS = 9
"""Steps of the colour scale; more could not be told apart."""

FIRST = "compression_ratio"
"""The metric that is shown first."""

_DIGITS = 3
_WIDE = 50.0


@dataclass(frozen=True, slots=True)
class HeatRow:
    """One group; ``unit`` is given only where the rows do not share one."""

    group: str
    documents: int | None
    unit: str
    cells: Sequence[tuple[DisplayCell, int | None]]


@dataclass(frozen=True, slots=True)
class HeatMap:
    """One metric of one corpus.

    Attributes:
        metric, label, family: the metric.
        unit: of all cells; ``""`` if it differs from row to row.
        direction: ``higher``, ``lower`` or ``none``; the better, the stronger the colour.
        shared: whether all rows share one scale; if not, there is one for each unit.
        low, high: what the weakest and the strongest colour stand for.
        tokenizers: the columns, best first by their value for the whole corpus, or by compression
            where there is no such value.
        absent: tokenizers without any number here, and the word for it.
        rows: the whole corpus first, if there is a value for it.
    """

    metric: str
    label: str
    family: str
    unit: str
    direction: str
    shared: bool
    low: str
    high: str
    tokenizers: Sequence[str]
    absent: Sequence[tuple[str, str]]
    rows: Sequence[HeatRow]

    @property
    def legends(self) -> list[str]:
        """What the marks in it say."""
        return legends(cell for row in self.rows for cell, _ in row.cells)


@dataclass(frozen=True, slots=True)
class _Scale:
    """From the middle nine tenths of the values to a level, so that one outlier does not bleach the rest."""

    low: float
    high: float
    reverse: bool

    @classmethod
    def over(cls, values: Sequence[float], *, reverse: bool) -> _Scale:
        ordered = sorted(values)
        last = len(ordered) - 1
        return cls(ordered[round(last * 0.05)], ordered[round(last * 0.95)], reverse)

    def level(self, value: float) -> int:
        low, high = self.low, self.high
        value = min(max(value, low), high)
        if low > 0 and high / low > _WIDE:
            low, high, value = math.log(low), math.log(high), math.log(value)
        # All alike is neither good nor bad.
        share = (value - low) / (high - low) if high > low else 0.5
        return round((1 - share if self.reverse else share) * (LEVELS - 1))


def heat_maps(tables: Tables, corpus: str) -> list[HeatMap]:
    """The heat maps of a corpus, compression first: one for each metric with a number in some group."""
    names = [FIRST, *(name for name in tables.metrics if name != FIRST and name not in COUNTED)]
    return [found for name in names if (found := heat_map(tables, corpus, name))]


def heat_map(tables: Tables, corpus: str, metric: str) -> HeatMap | None:
    """The heat map of one metric, or ``None`` where no group has a number that tells tokenizers apart."""
    groups = [tables.series(metric, corpus, group) for group in tables.groups(metric, corpus)]
    values = _values(groups)
    if not any(row.tells_apart for row in groups):
        return None
    # Shares of words and shares of characters are both shares: one style for the whole map.
    style = style_for([value for some in values.values() for value in some], next(iter(values)), _DIGITS)
    direction = tables.direction(metric)
    scales = {unit: _Scale.over(some, reverse=direction == "lower") for unit, some in values.items()}
    whole = tables.series(metric, corpus, WHOLE, digits=_DIGITS)
    rows = [whole] if whole.measured else []
    rows += [tables.series(metric, corpus, row.group, style=style) for row in groups]
    # A column of nothing but one word would push the numbers out of sight.
    ranked = (whole if whole.measured else tables.series(FIRST, corpus)).ranked()
    order = [name for name in ranked if any(row.cells[name].value is not None for row in rows)]
    low, high = _ends(scales, style, direction)
    return HeatMap(
        metric=metric,
        label=label(metric),
        family=tables.family(metric),
        unit=unit_label(next(iter(values))) if len(values) == 1 else "",
        direction=direction,
        shared=len(values) == 1,
        low=low,
        high=high,
        tokenizers=order,
        absent=[(name, rows[-1].cells[name].text) for name in ranked if name not in order],
        rows=[_row(tables, row, order, scales) for row in rows],
    )


def _values(rows: Sequence[Series]) -> dict[str, list[float]]:
    """The values by unit: what has another unit needs a scale of its own."""
    values: dict[str, list[float]] = {}
    for row in rows:
        # Text that became unknown tokens would stretch the scale until nothing else could be told apart.
        cells = [cell for cell in row.cells.values() if not cell.unknown] or list(row.cells.values())
        known = [cell.value for cell in cells if cell.value is not None]
        if known:
            values.setdefault(row.unit, []).extend(known)
    return values


def _ends(scales: Mapping[str, _Scale], style: Style, direction: str) -> tuple[str, str]:
    """What stands at the weak and at the strong end of the legend."""
    if len(scales) > 1:
        return ("smaller", "larger") if direction == "none" else ("worse", "better")
    [scale] = scales.values()
    low, high = style.show(scale.low), style.show(scale.high)
    return (high, low) if scale.reverse else (low, high)


def _row(tables: Tables, row: Series, order: Sequence[str], scales: Mapping[str, _Scale]) -> HeatRow:
    documents = tables.results.corpora.get(row.corpus, {}).get("groups", {})
    scale = scales.get(row.unit)
    return HeatRow(
        group=row.group,
        documents=sum(documents.values()) if row.group == WHOLE else documents.get(row.group),
        unit=row.unit_label if len(scales) > 1 else "",
        cells=[(row.cells[name], _level(row.cells[name], scale)) for name in order],
    )


def _level(cell: DisplayCell, scale: _Scale | None) -> int | None:
    return None if cell.value is None or cell.unknown or scale is None else scale.level(cell.value)
