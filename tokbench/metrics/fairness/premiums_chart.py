"""The chart of premiums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tokbench.foundation.visible_text import visible
from tokbench.report.cells import DisplayCell, Series
from tokbench.report.charts.labels import Box
from tokbench.report.charts.svg import Axis, Drawing, Tick
from tokbench.report.escaping import cut
from tokbench.report.tables import CellTables
from tokbench.results.cells import Cell

_WIDTH, _ROW, _TOP, _LEFT, _RIGHT = 960, 20, 8, 190.0, 880.0
_LONGEST: Final = 26
_Cells = Mapping[tuple[str, str], Cell | None]


def by_premium(name: str, languages: Sequence[Series]) -> list[tuple[Series, DisplayCell]]:
    """Sort from the highest premium to the lowest, then languages without one."""
    cells = [(series, series.cells[name]) for series in languages]
    return sorted(cells, key=lambda pair: (pair[1].value is None, -(pair[1].value or 0.0)))


def premium_bars(tables: CellTables, name: str, languages: Sequence[Series]) -> Drawing:
    """Draw intervals too, on an axis from 0."""
    ranked = by_premium(name, languages)
    cells = _cells(tables, [name], languages)
    top = max(_ends(cells))
    step = next(step for step in (0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 1e9) if top / step <= 10)  # noqa: PLR2004
    axis = Axis(0, top, _LEFT, _RIGHT)
    bottom = float(_TOP + _ROW * len(ranked))
    title = f"Premium of each language under {name}, with 95% intervals; the numbers are in the heat map of premium"
    drawing = Drawing(_WIDTH, bottom + 26, title, css="bars")
    ticks = [_tick(axis, step * k) for k in range(int(top / step) + 1)]
    drawing.grid(Box(_LEFT, 4, _RIGHT, bottom), ticks)
    for row, (series, shown) in enumerate(ranked):
        _bar(drawing, float(_TOP + _ROW * row), shown, cells[name, series.group], (_language(tables, series), axis))
    return drawing


def _bar(drawing: Drawing, y: float, shown: DisplayCell, cell: Cell | None, where: tuple[str, Axis]) -> None:
    language, axis = where
    with drawing.group(title=shown.title):
        drawing.text(_LEFT - 8, y + 13, language, "end")
        if cell is None or cell.value is None:
            drawing.text(_LEFT + 4, y + 13, shown.text, css="soft")
            return
        x, (low, high) = axis.at(cell.value), _interval(cell, axis)
        drawing.draw("rect", x=_LEFT, y=y + 3, width=x - _LEFT, height=13)
        if low is not None:
            ends = f"M{low} {y + 6}v7M{high} {y + 6}v7"
            drawing.draw("path", css="whisker", d=f"M{low} {y + 9.5}H{high}{ends}")
        drawing.text((high or x) + 6, y + 13, shown.text + shown.marks)


def _cells(tables: CellTables, names: Sequence[str], languages: Sequence[Series]) -> _Cells:
    return {(name, s.group): tables.cell(s.metric, s.corpus, s.group, name) for s in languages for name in names}


def _tick(axis: Axis, value: float) -> Tick:
    return Tick(axis.at(value), f"{value:g}", strong=value == 1)


def _interval(cell: Cell, axis: Axis) -> tuple[float | None, float | None]:
    low, high = (None if end is None else axis.at(end) for end in (cell.ci_low, cell.ci_high))
    return low, high


def _ends(cells: _Cells) -> list[float]:
    return [end for cell in cells.values() if cell for end in (cell.ci_low, cell.ci_high, cell.value) if end]


def _language(tables: CellTables, series: Series) -> str:
    name = tables.language(series.corpus, series.group)
    return cut(visible(f"{name} ({series.group})" if name else series.group), _LONGEST)
