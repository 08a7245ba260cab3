"""The section on fairness: the cost of the same text in each language, as a table and as charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tokbench.measuring.metric import Role
from tokbench.report.cells import Series, legends
from tokbench.report.charts.lorenz import lorenz_chart, lorenz_key
from tokbench.report.charts.premiums import by_premium, premium_bars, premium_charts
from tokbench.report.charts.scatter import Scatter, parity_chart
from tokbench.report.charts.svg import Drawing
from tokbench.report.escaping import plain
from tokbench.report.tables import CellTables
from tokbench.results.cells import WHOLE

_COLUMNS: Final = {
    Role.PREMIUM: "relative price, latency",
    Role.RELATIVE_CONTEXT: "what fits in a window",
    Role.INEQUALITY: "",
    Role.PREMIUM_RANGE: "",
}
"""The columns of the table, each with a few words below its name."""
_DEAREST: Final = 3


@dataclass(frozen=True, slots=True)
class FairnessSection:
    """The premiums of one parallel corpus.

    Attributes:
        corpus, reference: its name, and the language that has premium 1.
        tokenizers: those that have any premium, the lowest mean first.
        columns: the metrics of the whole corpus.
        subtitles: by metric, a few words below the name of its column.
        dearest: by tokenizer, its dearest languages.
        groups: premiums by language, and then by slice.
        bars: by tokenizer, its chart.
        charts: by group, a small chart for each language but the reference.
        lorenz: the chart of Lorenz curves; ``None`` if no tokenizer has a premium for every language.
        curves: the key of the Lorenz curves: tokenizer, stroke and Gini coefficient.
        without_curve: tokenizers without a premium for some language.
        front: the chart of compression against inequality; ``None`` with fewer than two tokenizers.
        legends: the meaning of the marks.
    """

    corpus: str
    reference: str
    tokenizers: Sequence[str]
    columns: Sequence[Series]
    subtitles: Mapping[str, str]
    dearest: Mapping[str, str]
    groups: Sequence[Series]
    left_out: str
    bars: Sequence[tuple[str, Drawing]]
    charts: Mapping[str, Drawing]
    lorenz: Drawing | None
    curves: Sequence[tuple[str, Drawing, str]]
    without_curve: Sequence[str]
    front: Scatter | None
    legends: Sequence[str]


def fairness(tables: CellTables, corpus: str) -> FairnessSection | None:
    """Return the section of a corpus, or ``None`` if it has no premium."""
    premium = tables.with_role(Role.PREMIUM)
    groups = [tables.series(premium, corpus, group, digits=3) for group in tables.groups(premium, corpus)]
    info = tables.corpus(corpus)
    languages = [series for series in groups if series.group in info.groups]
    if not any(series.measured for series in languages):
        return None
    columns = {role: tables.series(tables.with_role(role), corpus, WHOLE, digits=3) for role in _COLUMNS}
    ranked = columns[Role.PREMIUM].ranked()
    order = [name for name in ranked if any(series.cells[name].value is not None for series in languages)]
    premiums = {name: [series.cells[name].value for series in languages] for name in order}
    complete = {name: known for name, all_ in premiums.items() if len(known := _known(all_)) == len(all_)}
    inequality = columns[Role.INEQUALITY].cells
    gini = {name: inequality[name].text + inequality[name].marks for name in complete}
    tooltips = {name: f"{name}, Gini {gini[name]}" for name in complete}
    return FairnessSection(
        corpus=corpus,
        reference=plain(info.reference),
        tokenizers=order,
        columns=[column for column in columns.values() if column.measured],
        subtitles={column.metric: _COLUMNS[role] for role, column in columns.items()},
        dearest={name: _dearest(name, languages) for name in order},
        groups=[series for series in groups if tables.is_shown(corpus, series.group)],
        left_out=tables.left_out(corpus),
        bars=[(name, premium_bars(tables, name, languages)) for name in order],
        charts=premium_charts(tables, order, [series for series in languages if series.group != info.reference]),
        lorenz=lorenz_chart(f"Lorenz curves of {corpus}", complete, tooltips) if complete else None,
        curves=[(name, lorenz_key(number), gini[name]) for number, name in enumerate(complete)],
        without_curve=[name for name in order if name not in complete],
        front=parity_chart(tables, corpus),
        legends=legends(series.cells[name] for series in [*columns.values(), *groups] for name in order),
    )


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _dearest(name: str, languages: Sequence[Series]) -> str:
    first = [(series, cell) for series, cell in by_premium(name, languages)[:_DEAREST] if cell.value is not None]
    missing = sum(series.cells[name].value is None for series in languages)
    dearest = ", ".join(f"{series.group} {cell.text}{cell.marks}" for series, cell in first)
    return dearest + (f"; none for {missing} of {len(languages)}, whose text is lost" if missing else "")
