"""What the same text costs in each language: a table, and what the pictures need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tokbench.metrics.families.fairness.inequality import lorenz
from tokbench.report.cells import DisplayCell, Series, legends
from tokbench.report.charts.premiums import Bars, Panels, bars, by_premium, panels
from tokbench.report.escaping import plain
from tokbench.report.tables import Tables
from tokbench.results.cells import WHOLE

__all__ = ["Curve", "Fairness", "fairness"]

_SQUARE, _MARGIN = 420, 44.0
_COLOURS = 8
_WORST = 3


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
        bars, panels, curves: the pictures.
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
    panels: Panels
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
    reference = tables.results.corpora[corpus].get("reference", "")
    return Fairness(
        corpus=corpus,
        reference=plain(reference),
        tokenizers=order,
        columns=[column for column in columns if column.measured],
        dearest={name: _dearest(name, languages) for name in order},
        groups=groups,
        bars=[bars(tables, name, languages) for name in order],
        panels=panels(tables, order, [series for series in languages if series.group != reference]),
        curves=curves,
        square=_SQUARE,
        margin=_MARGIN,
        without_curve=[name for name in order if name not in {curve.tokenizer for curve in curves}],
        legends=legends(series.cells[name] for series in [*columns, *groups] for name in order),
    )


def _dearest(name: str, languages: Sequence[Series]) -> str:
    first = [(series, cell) for series, cell in by_premium(name, languages)[:_WORST] if cell.value is not None]
    missing = sum(series.cells[name].value is None for series in languages)
    dearest = ", ".join(f"{series.group} {cell.text}" for series, cell in first)
    return dearest + (f"; none for {missing} of {len(languages)}, whose text is lost" if missing else "")


def _curve(number: int, name: str, languages: Sequence[Series], gini: DisplayCell) -> Curve | None:
    values = [series.cells[name].value for series in languages]
    premiums = [value for value in values if value is not None]
    if len(premiums) < len(values):
        return None
    size = _SQUARE - 2 * _MARGIN
    points = [f"{_MARGIN + x * size:.1f} {_SQUARE - _MARGIN - y * size:.1f}" for x, y in lorenz(premiums)]
    dashes = ("", "6 3", "2 3", "8 3 2 3")[number // _COLOURS % 4]
    return Curve(name, "M" + "L".join(points), number % _COLOURS, dashes, gini.text)
