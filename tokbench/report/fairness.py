"""What the same text costs in each language: a table, and what the pictures need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tokbench.corpus.languages import find_language
from tokbench.metrics.fairness.inequality import lorenz
from tokbench.report.shown import Series, Shown, legends
from tokbench.report.tables import Tables
from tokbench.report.text import cut, plain, visible
from tokbench.results import WHOLE, Cell

__all__ = ["Bar", "Bars", "Curve", "Fairness", "fairness"]

_WIDTH, _ROW, _TOP, _LEFT, _RIGHT = 960, 20, 8, 190.0, 880.0
_SQUARE, _MARGIN = 420, 44.0
_COLOURS = 8
_LONGEST = 26
_WORST = 3


@dataclass(frozen=True, slots=True)
class Bar:
    """One language: its bar ends at ``x``, its interval lies between ``low`` and ``high``; no bar without a premium."""

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
class Curve:
    """The Lorenz curve of one tokenizer, with the number of its colour, its dashes and its Gini coefficient."""

    tokenizer: str
    path: str
    style: int
    dashes: str
    gini: str


@dataclass(frozen=True, slots=True)
class Fairness:
    """One parallel corpus.

    Attributes:
        corpus, reference: which, and the language that has premium 1.
        tokenizers: those that have any premium, the lowest mean first.
        columns: of the table: premium, context, Gini, max/min of the whole corpus.
        dearest: by tokenizer, its dearest languages.
        groups: premiums by language, and then by slice.
        bars, curves: the pictures.
        square, margin: size of the square of the curves, and what is left free for its axes.
        without_curve: tokenizers without a premium for some language.
        legends: what the marks say.
    """

    corpus: str
    reference: str
    tokenizers: Sequence[str]
    columns: Sequence[Series]
    dearest: dict[str, str]
    groups: Sequence[Series]
    bars: Sequence[Bars]
    curves: Sequence[Curve]
    square: int
    margin: float
    without_curve: Sequence[str]
    legends: Sequence[str]


def fairness(tables: Tables, corpus: str) -> Fairness | None:
    """What is known of a corpus, or ``None`` where there is no premium."""
    names = tables.groups("premium", corpus)
    groups = [tables.series("premium", corpus, group, digits=3) for group in names]
    known = list(tables.results.corpora.get(corpus, {}).get("groups", {}))
    languages = [series for series in groups if series.group in known]
    if not any(series.measured for series in languages):
        return None
    columns = [
        tables.series(metric, corpus, WHOLE, digits=3) for metric in ("premium", "relative_context", "gini", "max_min")
    ]
    order = [name for name in columns[0].ranked() if any(series.cells[name].value is not None for series in languages)]
    curves = [
        curve for number, name in enumerate(order) if (curve := _curve(number, name, languages, columns[2].cells[name]))
    ]
    return Fairness(
        corpus=corpus,
        reference=plain(tables.results.corpora[corpus].get("reference", "")),
        tokenizers=order,
        columns=[column for column in columns if column.measured],
        dearest={name: _dearest(name, languages) for name in order},
        groups=groups,
        bars=[_bars(tables, name, languages) for name in order],
        curves=curves,
        square=_SQUARE,
        margin=_MARGIN,
        without_curve=[name for name in order if name not in {curve.tokenizer for curve in curves}],
        legends=legends(series.cells[name] for series in [*columns, *groups] for name in order),
    )


def _by_premium(name: str, languages: Sequence[Series]) -> list[tuple[Series, Shown]]:
    """The dearest first; those without a premium at the end."""
    cells = [(series, series.cells[name]) for series in languages]
    return sorted(cells, key=lambda pair: (pair[1].value is None, -(pair[1].value or 0.0)))


def _dearest(name: str, languages: Sequence[Series]) -> str:
    first = [(series, cell) for series, cell in _by_premium(name, languages)[:_WORST] if cell.value is not None]
    missing = sum(series.cells[name].value is None for series in languages)
    dearest = ", ".join(f"{series.group} {cell.text}" for series, cell in first)
    return dearest + (f"; none for {missing} of {len(languages)}, whose text is lost" if missing else "")


def _label(group: str) -> str:
    language = find_language(group)
    return cut(visible(f"{language.name} ({group})" if language else group), _LONGEST)


def _bars(tables: Tables, name: str, languages: Sequence[Series]) -> Bars:
    ranked = _by_premium(name, languages)
    cells = [tables.cell("premium", series.corpus, series.group, name) for series, _ in ranked]
    top = max(end for cell in cells if cell for end in (cell.ci_high, cell.value) if end is not None)
    step = next(step for step in (0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 1e9) if top / step <= 10)  # noqa: PLR2004

    def at(value: float) -> float:
        return round(_LEFT + value / top * (_RIGHT - _LEFT), 1)

    bars = [
        _bar(k, series, shown, cell, at) for k, ((series, shown), cell) in enumerate(zip(ranked, cells, strict=True))
    ]
    bottom = float(_TOP + _ROW * len(bars))
    ticks = [(at(step * k), f"{step * k:g}") for k in range(int(top / step) + 1)]
    return Bars(name, _WIDTH, bottom + 26, _LEFT, bottom, ticks, bars)


def _bar(k: int, series: Series, shown: Shown, cell: Cell | None, at: Callable[[float], float]) -> Bar:
    y, label = float(_TOP + _ROW * k), _label(series.group)
    if cell is None or cell.value is None:
        return Bar(label, shown.title, y, shown.text)
    low, high = (None if end is None else at(end) for end in (cell.ci_low, cell.ci_high))
    return Bar(label, shown.title, y, shown.text + shown.marks, at(cell.value), low, high)


def _curve(number: int, name: str, languages: Sequence[Series], gini: Shown) -> Curve | None:
    values = [series.cells[name].value for series in languages]
    premiums = [value for value in values if value is not None]
    if len(premiums) < len(values):
        return None
    size = _SQUARE - 2 * _MARGIN
    points = [f"{_MARGIN + x * size:.1f} {_SQUARE - _MARGIN - y * size:.1f}" for x, y in lorenz(premiums)]
    dashes = ("", "6 3", "2 3", "8 3 2 3")[number // _COLOURS % 4]
    return Curve(name, "M" + "L".join(points), number % _COLOURS, dashes, gini.text)
