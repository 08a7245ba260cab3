"""Pictures of premiums: only geometry, the drawing is the template's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from tokbench.corpus.languages import find_language
from tokbench.report.cells import DisplayCell, Series
from tokbench.report.charts.axis import Axis, Tick
from tokbench.report.escaping import cut, visible
from tokbench.report.tables import Tables
from tokbench.results.cells import Cell

__all__ = ["Bar", "Bars", "Panel", "Panels", "bars", "by_premium", "panels"]

_WIDTH, _ROW, _TOP, _LEFT, _RIGHT = 960, 20, 8, 190.0, 880.0
_LONGEST: Final = 26
_PANEL: Final = (300, 13, 24, 96.0, 262.0)
"""Width, height of a row, height above the first row, and the left and right end of the plane of a small picture."""
_SHORT: Final = 15
_TICKS: Final = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)


@dataclass(frozen=True, slots=True)
class Bar:
    """One premium, at ``x``, its interval between ``low`` and ``high``; neither if there is none."""

    label: str
    title: str
    y: float
    text: str
    x: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Bars:
    """The premiums of one tokenizer, the dearest language first."""

    tokenizer: str
    width: int
    height: float
    left: float
    bottom: float
    ticks: Sequence[tuple[float, str]]
    bars: Sequence[Bar]


@dataclass(frozen=True, slots=True)
class Panel:
    """A small picture of one language: the premium under each tokenizer, on the logarithmic axis of all panels."""

    title: str
    points: Sequence[Bar]


@dataclass(frozen=True, slots=True)
class Panels:
    """A small picture a language, all of one size and one axis."""

    width: int
    height: float
    left: float
    right: float
    bottom: float
    ticks: Sequence[Tick]
    panels: Sequence[Panel]


def by_premium(name: str, languages: Sequence[Series]) -> list[tuple[Series, DisplayCell]]:
    """The languages under a tokenizer, the dearest first; those without a premium at the end."""
    cells = [(series, series.cells[name]) for series in languages]
    return sorted(cells, key=lambda pair: (pair[1].value is None, -(pair[1].value or 0.0)))


def bars(tables: Tables, name: str, languages: Sequence[Series]) -> Bars:
    """The premiums of a tokenizer, on an axis from 0."""
    ranked = by_premium(name, languages)
    cells = [tables.cell("premium", series.corpus, series.group, name) for series, _ in ranked]
    top = max(_ends(cells))
    step = next(step for step in (0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 1e9) if top / step <= 10)  # noqa: PLR2004
    axis = Axis(0, top, _LEFT, _RIGHT)
    rows = [
        _bar(_language(series.group), float(_TOP + _ROW * k), shown, cell, axis.at)
        for k, ((series, shown), cell) in enumerate(zip(ranked, cells, strict=True))
    ]
    bottom = float(_TOP + _ROW * len(rows))
    ticks = [(axis.at(step * k), f"{step * k:g}") for k in range(int(top / step) + 1)]
    return Bars(name, _WIDTH, bottom + 26, _LEFT, bottom, ticks, rows)


def panels(tables: Tables, names: Sequence[str], languages: Sequence[Series]) -> Panels:
    """The languages but the reference side by side, each with all tokenizers in the same order."""
    width, row, top, left, right = _PANEL
    cells = {s.group: [tables.cell("premium", s.corpus, s.group, name) for name in names] for s in languages}
    ends = 1.0, *_ends(list(chain.from_iterable(cells.values())))
    axis = Axis(min(ends) / 1.1, max(ends) * 1.1, left, right, log=True)
    bottom = float(top + row * len(names))
    found = [
        Panel(
            _language(series.group),
            [
                _bar(cut(visible(name), _SHORT), float(top + row * k), series.cells[name], cell, axis.at)
                for k, (name, cell) in enumerate(zip(names, cells[series.group], strict=True))
            ],
        )
        for series in languages
    ]
    ticks = [Tick(axis.at(value), f"{value:g}") for value in _TICKS if axis.low <= value <= axis.high]
    return Panels(width, bottom + 20, left, right, bottom, ticks, found)


def _ends(cells: Sequence[Cell | None]) -> list[float]:
    """Premiums and the ends of their intervals; an end of 0 has no place on a logarithmic axis."""
    return [end for cell in cells if cell for end in (cell.ci_low, cell.ci_high, cell.value) if end]


def _language(group: str) -> str:
    language = find_language(group)
    return cut(visible(f"{language.name} ({group})" if language else group), _LONGEST)


def _bar(label: str, y: float, shown: DisplayCell, cell: Cell | None, at: Callable[[float], float]) -> Bar:
    if cell is None or cell.value is None:
        return Bar(label, shown.title, y, shown.text)
    low, high = (None if end is None else at(end) for end in (cell.ci_low, cell.ci_high))
    return Bar(label, shown.title, y, shown.text + shown.marks, at(cell.value), low, high)
