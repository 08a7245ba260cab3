"""The section on whole corpora: tables of tokenizers by metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tokbench.measuring.metric import Role
from tokbench.measuring.round_trip import RoundTrip
from tokbench.report import document as doc
from tokbench.report.answer.answer import overall
from tokbench.report.answer.ranking import bars, ranked_cells
from tokbench.report.answer.slices import weighting
from tokbench.report.cells import DisplayCell, Series, legends
from tokbench.report.number_format import style_for
from tokbench.report.sections.problems import short_vocabularies
from tokbench.report.tables import CellTables
from tokbench.results.blocks import TokenizerInfo
from tokbench.results.cells import WHOLE, Cell, TokenizerState

_MANY: Final = 8
_NAME: Final = doc.Column("tokenizer", sort="ascending")
_DESCRIBED: Final = (
    doc.Column("backend", sort="ascending"),
    doc.Column("vocabulary", numeric=True, sort="ascending", unit="tokens"),
)


def main_columns(tables: CellTables) -> list[Series]:
    """Return the headline metrics of all corpora in a row, without empty columns; first, the number of the answer."""
    every = (tables.series(metric, corpus) for metric in tables.headline for corpus in tables.corpora)
    return [*mean_columns(tables), *(column for column in every if column.measured)]


def mean_columns(tables: CellTables) -> list[Series]:
    """Return the bytes per token that the answer has, over all texts; none where a corpus has the same column."""
    ranking, metric = overall(tables), tables.with_role(Role.TEXT_PER_TOKEN)
    shown = {bar.tokenizer: bar for bar in bars(tables, ranking)} if len(ranking.slices) > 1 else {}
    if not shown:
        return []
    style = style_for([bar.value for bar in shown.values()], "bytes/token")
    displayed = {}
    for name, bar in shown.items():
        own = ranked_cells(tables, ranking, name)
        kept = max(map(tables.round_trip, own), key=list(RoundTrip).index)
        seen = max((cell.in_sample for cell in own if cell.in_sample), default=None)
        cell = Cell(name, "", "", metric, bar.value, "bytes/token", in_sample=seen)
        displayed[name] = tables.display(cell, style, best=name in ranking.ties, round_trip=kept)
    missing = DisplayCell(text="n/a", title="it has no number in every text")
    label, info, over = tables.label(metric), tables.metric(metric), weighting(tables.results.config)
    every = {name: displayed.get(name, missing) for name in tables.tokenizers}
    return [Series(metric, label, info.short_label or label, over, WHOLE, "bytes/token", info.direction, every)]


def ready_tokenizers(tables: CellTables, columns: Sequence[Series]) -> list[str]:
    """Return the tokenizers that ran, in the order of these columns."""
    return [name for name in _order(tables, columns) if tables.tokenizer(name).state == TokenizerState.READY]


def overview_document(tables: CellTables) -> doc.Section:
    """Return the section."""
    main = _table_nodes(tables, main_columns(tables), "Main metrics of all corpora")
    panes = [doc.Pane(corpus, nodes) for corpus in tables.corpora if (nodes := list(_corpus_nodes(tables, corpus)))]
    drawn = not all(tables.corpus(corpus).designed for corpus in tables.corpora)  # curated texts have no intervals
    interval = ", with its 95% interval, which curated texts lack" if drawn else ""
    explanation = f"Each number is for a whole corpus{interval}"
    legend = f"{tables.best_legend[:1].upper()}{tables.best_legend[1:]}"
    page: list[doc.Node] = [
        doc.Paragraph(f"{explanation}. Click a heading to sort, a number for details. {legend}."),
        doc.Chooser("Corpus of the overview", "overview", [doc.Pane("all corpora", main), *panes]),
    ]
    plain = [doc.Paragraph(f"{explanation}. {legend}."), *main]
    small = short_vocabularies(tables.results)
    smaller = [doc.Paragraph(f"Smaller than asked for: {'; '.join(small)}.", "legend")] if small else []
    return doc.Section("overview", "Overview", [doc.Rich(page, plain), *smaller], folded=False)


def _corpus_nodes(tables: CellTables, corpus: str) -> Iterator[doc.Node]:
    by_family: dict[str, list[Series]] = {}
    for name in dict.fromkeys([*tables.headline, *tables.metrics]):
        column = tables.series(name, corpus)
        if column.tells_apart and name not in tables.loss_counts:
            by_family.setdefault(tables.metric(name).family, []).append(column)
    large = {family: columns for family, columns in by_family.items() if len(columns) > _MANY}
    small = [column for family, columns in by_family.items() if family not in large for column in columns]
    if small:
        yield from _table_nodes(tables, small, "Main metrics" if large else "All metrics", corpus)
    for family, columns in large.items():
        yield from _table_nodes(tables, columns, family.capitalize(), corpus, family)


def _table_nodes(
    tables: CellTables, columns: Sequence[Series], what: str, corpus: str = "", family: str = ""
) -> list[doc.Node]:
    """Return a table and its legends."""
    described = () if family else _DESCRIBED
    table = doc.Table(
        [f"{what} of the corpus ", doc.Name(corpus)] if corpus else what,
        [
            _NAME,
            *described,
            *(doc.measured_column(column, below=column.over if corpus else column.place) for column in columns),
        ],
        [
            _row(tables, name, [] if family else _described(tables.tokenizer(name)), columns)
            for name in _order(tables, columns, corpus)
        ],
        label=", ".join(filter(None, ["Overview", corpus or "all corpora", family])),
        fit=True,
    )
    return [table, *doc.legend_lines(legends(cell for column in columns for cell in column.cells.values()))]


def _order(tables: CellTables, columns: Sequence[Series], corpus: str = "") -> list[str]:
    if not columns:
        return tables.tokenizers
    first = columns[0]
    if corpus:
        return [name for name in first.ranked() if not first.cells[name].unbound]
    places = {standing.tokenizer: place for place, standing in enumerate(overall(tables).standings)}
    return sorted(first.ranked(), key=lambda name: places.get(name, len(places)))


def _row(tables: CellTables, name: str, described: Sequence[doc.TableCell], columns: Sequence[Series]) -> doc.Row:
    cells = [doc.MeasuredCell(cell=column.cells[name], interval=True) for column in columns]
    ready = tables.tokenizer(name).state == TokenizerState.READY
    return doc.Row([doc.TextCell(line=name, value=name, title=name), *described, *cells], look="" if ready else "gone")


def _described(info: TokenizerInfo) -> list[doc.TableCell]:
    backend = doc.TextCell(line=info.backend, small=[info.engine] if info.engine else [], value=info.backend)
    if info.vocab_size is not None:
        return [backend, doc.TextCell(line=f"{info.vocab_size:,}", value=info.vocab_size)]
    ready = info.state == TokenizerState.READY
    return [
        backend,
        doc.TextCell(
            line="unknown" if ready else info.state,
            look="none" if ready else "none missed",
            title=info.reason or "not known",
        ),
    ]
