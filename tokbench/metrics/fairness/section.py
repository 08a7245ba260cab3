"""The section on fairness: a table and charts of each language's cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tokbench.measuring.metric import Role
from tokbench.metrics.fairness.answer import premium_lines
from tokbench.metrics.fairness.premiums_chart import by_premium, premium_bars
from tokbench.report import document as doc
from tokbench.report.cells import Series, legends
from tokbench.report.charts.labels import Box
from tokbench.report.charts.scatter import Scatter, parity_chart, scatter_nodes
from tokbench.report.charts.svg import COLOURS, Axis, Drawing, Tick
from tokbench.report.escaping import plain
from tokbench.report.section import Chart, SectionSpec
from tokbench.report.tables import CellTables
from tokbench.results.cells import WHOLE
from tokbench.statistics.inequality import lorenz

_SIZE, _MARGIN = 420, 44.0
_DASHES: Final = ("", "6 3", "2 3", "8 3 2 3")


def lorenz_chart(title: str, premiums: Mapping[str, Sequence[float]], tooltips: Mapping[str, str]) -> Drawing:
    """Draw the premiums of all languages by tokenizer; ``tooltips`` in the same order."""
    near, far = _MARGIN, _SIZE - _MARGIN
    x_axis, y_axis = Axis(0, 1, near, far), Axis(0, 1, far, near)
    shares = (0, 0.25, 0.5, 0.75, 1)
    drawing = Drawing(_SIZE, _SIZE, title)
    drawing.grid(
        Box(near, near, far, far),
        [Tick(x_axis.at(share), f"{100 * share:.0f}") for share in shares],
        [Tick(y_axis.at(share), f"{100 * share:.0f}") for share in shares],
        titles=("% of the languages, cheapest first", "% of the tokens"),
        below=16,
        beside=6,
    )
    with drawing.group("grid"):
        drawing.draw("path", css="one", d=f"M{near:g} {far:g}L{far:g} {near:g}")
    for number, (name, values) in enumerate(premiums.items()):
        points = (f"{x_axis.exactly(x):.1f} {y_axis.exactly(y):.1f}" for x, y in lorenz(values))
        with drawing.group(f"p{number % COLOURS}", tooltips[name]):
            _curve(drawing, number, "M" + "L".join(points))
    return drawing


def lorenz_key(number: int) -> Drawing:
    """Return a short stroke that looks like a curve."""
    drawing = Drawing(26, 8, css=f"p{number % COLOURS}")
    _curve(drawing, number, "M0 4H26")
    return drawing


def _curve(drawing: Drawing, number: int, path: str) -> None:
    drawing.draw("path", css="bar curve", d=path, stroke_dasharray=_DASHES[number // COLOURS % len(_DASHES)])


_COLUMNS: Final = {
    Role.PREMIUM: "relative price, latency",
    Role.RELATIVE_CONTEXT: "what fits in a window",
    Role.INEQUALITY: "",
    Role.PREMIUM_RANGE: "",
}
_BEFORE: Final = "Tokens for the same text, relative to the reference language. Where tokens are paid for, a "
_BEHIND: Final = (
    " is a relative price. Where they are generated one by one, it is a relative time. Its inverse is the share of a "
    "context window that is left. Documents that lose text in a language or in the reference are left out in both."
)
_FRONT: Final = (
    "Up: fewer tokens for all languages together. Left: languages that need more equal numbers of tokens. The line is "
    "the front: no other tokenizer is better in both. Bars are 95% intervals, drawn where they are longer than "
    "the mark."
)
_CURVES: Final = "The straight line: every language costs the same. Gini:"
_DEAREST: Final = 3


@dataclass(frozen=True, slots=True)
class Premiums:
    """The premiums and charts of one parallel corpus."""

    corpus: str
    reference: str
    tokenizers: Sequence[str]
    columns: Mapping[Role, Series]
    languages: Sequence[Series]
    groups: Sequence[Series]
    bars: Mapping[str, Drawing]
    lorenz: Drawing | None
    """``None`` if no tokenizer has a premium for every language."""
    gini: Mapping[str, str]
    front: Scatter | None
    """``None`` with fewer than two tokenizers."""
    left_out: str


def all_premiums(tables: CellTables) -> list[Premiums]:
    """Skip corpora without premiums."""
    return [shown for corpus in tables.corpora if (shown := _premiums(tables, corpus))]


def _premiums(tables: CellTables, corpus: str) -> Premiums | None:
    premium = tables.with_role(Role.PREMIUM)
    groups = [tables.series(premium, corpus, group, digits=3) for group in tables.groups(premium, corpus)]
    info = tables.corpus(corpus)
    languages = [series for series in groups if series.group in info.groups]
    if not any(series.measured for series in languages):
        return None
    columns = {role: tables.series(tables.with_role(role), corpus, WHOLE, digits=3) for role in _COLUMNS}
    ranked = columns[Role.PREMIUM].ranked()
    measured = [name for name in ranked if any(series.cells[name].value is not None for series in languages)]
    order = tables.in_sight(measured)
    values = {name: [series.cells[name].value for series in languages] for name in order}
    complete = {name: known for name, some in values.items() if len(known := _known(some)) == len(some)}
    inequality = columns[Role.INEQUALITY].cells
    gini = {name: inequality[name].text + inequality[name].marks for name in complete}
    tooltips = {name: f"{name}, Gini {coefficient}" for name, coefficient in gini.items()}
    return Premiums(
        corpus=corpus,
        reference=plain(info.reference),
        tokenizers=order,
        columns=columns,
        languages=languages,
        groups=groups,
        bars={name: premium_bars(tables, name, languages) for name in order},
        lorenz=lorenz_chart(f"Lorenz curves of {corpus}", complete, tooltips) if complete else None,
        gini=gini,
        front=parity_chart(tables, corpus),
        left_out=tables.out_of_sight(measured),
    )


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def fairness_document(tables: CellTables) -> doc.Section | None:
    """Return ``None`` without premiums."""
    shown = all_premiums(tables)
    if not shown:
        return None
    premium = tables.with_role(Role.PREMIUM)
    explanation = doc.Paragraph([_BEFORE, doc.Term(premium, tables.label(premium)), _BEHIND])
    return doc.Section(
        "fairness",
        "Fairness",
        [
            explanation,
            *(node for number, premiums in enumerate(shown) for node in _corpus_nodes(tables, premiums, number)),
        ],
    )


def _corpus_nodes(tables: CellTables, premiums: Premiums, number: int) -> list[doc.Node]:
    shown = [*premiums.columns.values(), *premiums.groups]
    return [
        doc.Heading([doc.Name(premiums.corpus), ", reference ", doc.Name(premiums.reference)]),
        _table(premiums),
        *([doc.Paragraph(premiums.left_out, "legend")] if premiums.left_out else []),
        *doc.legend_lines(legends(series.cells[name] for series in shown for name in premiums.tokenizers)),
        doc.Heading("Premium by language", 4),
        # A page has the numbers in the heat map of premium.
        doc.Rich([_bars(premiums, number)], _by_group(tables, premiums)),
        doc.Rich([*_front(premiums), *_lorenz(premiums)]),
    ]


def _table(premiums: Premiums) -> doc.Table:
    columns = {role: column for role, column in premiums.columns.items() if column.measured}
    rows = [
        doc.Row(
            [
                doc.TextCell(line=name, title=name),
                *(doc.MeasuredCell(cell=column.cells[name], interval=True) for column in columns.values()),
                _dearest(name, premiums.languages),
            ]
        )
        for name in premiums.tokenizers
    ]
    return doc.Table(
        "Whole corpus: the mean over all languages but the reference, and how unevenly the languages bear it",
        [
            doc.Column("tokenizer", sort="ascending"),
            *(doc.measured_column(column, below=_COLUMNS[role]) for role, column in columns.items()),
            doc.Column("dearest languages"),
        ],
        rows,
        label=f"Premiums of {premiums.corpus}",
    )


def _dearest(name: str, languages: Sequence[Series]) -> str:
    first = [(series, cell) for series, cell in by_premium(name, languages)[:_DEAREST] if cell.value is not None]
    missing = sum(series.cells[name].value is None for series in languages)
    dearest = ", ".join(f"{series.group} {cell.text}{cell.marks}" for series, cell in first)
    return dearest + (f"; none for {missing} of {len(languages)}, whose text is lost" if missing else "")


def _by_group(tables: CellTables, premiums: Premiums) -> list[doc.Node]:
    names, corpus = premiums.tokenizers, premiums.corpus
    rows = [
        doc.Row([series.group, *(doc.MeasuredCell(cell=series.cells[name], interval=True) for name in names)])
        for series in premiums.groups
        if tables.is_shown(corpus, series.group)
    ]
    columns = [doc.Column("group"), *(doc.Column(name, numeric=True) for name in names)]
    left_out = tables.left_out(corpus)
    return [
        doc.Paragraph("By language, and by script, family and class:"),
        doc.Table(f"Premiums by group of {corpus}", columns, rows),
        *([doc.Paragraph(left_out, "legend")] if left_out else []),
    ]


def _bars(premiums: Premiums, number: int) -> doc.Chooser:
    panes = [
        doc.Pane(name, [doc.Figure(drawing, label=f"Premiums of {name}")]) for name, drawing in premiums.bars.items()
    ]
    return doc.Chooser(f"Tokenizer of the bars of {premiums.corpus}", f"bars-{number}", panes, packed=True)


def _front(premiums: Premiums) -> list[doc.Node]:
    if not premiums.front:
        return []
    return [
        doc.Heading("Compression against inequality", 4),
        doc.Paragraph(_FRONT),
        *scatter_nodes(premiums.front, f"Compression against inequality on {premiums.corpus}"),
    ]


def _lorenz(premiums: Premiums) -> list[doc.Node]:
    nodes: list[doc.Node] = []
    if premiums.lorenz:
        keys = [doc.ChartKey(lorenz_key(place), name, gini) for place, (name, gini) in enumerate(premiums.gini.items())]
        nodes = [doc.Heading("Lorenz curves", 4), doc.Figure(premiums.lorenz, [_CURVES, *keys], beside=True)]
    without = [name for name in premiums.tokenizers if name not in premiums.gini]
    if without:
        nodes.append(
            doc.Paragraph(
                doc.names_line("Without a curve, as too much text of some language is lost: ", without), "legend"
            )
        )
    return nodes


def fairness_charts(tables: CellTables) -> Iterator[Chart]:
    """Yield premiums by tokenizer, Lorenz curves, and compression against inequality."""
    for section in all_premiums(tables):
        for name, drawing in section.bars.items():
            heading = f"{section.corpus}: premium under {name}; the tokens of {section.reference} are 1"
            yield Chart(f"premiums-{section.corpus}-{name}", drawing, headings=(heading,))
        if section.lorenz:
            keys = tuple(
                (f"{name}, Gini {gini}", lorenz_key(number)) for number, (name, gini) in enumerate(section.gini.items())
            )
            heading = f"{section.corpus}: share of the tokens by language"
            yield Chart(f"lorenz-{section.corpus}", section.lorenz, keys, (heading,))
        if section.front:
            heading = f"{section.corpus}: compression against inequality between languages"
            yield Chart(f"parity-{section.corpus}", section.front.drawing, tuple(section.front.backends), (heading,))


FAIRNESS: Final = SectionSpec(
    name="fairness", place=30, build=fairness_document, charts=fairness_charts, answer=premium_lines
)
