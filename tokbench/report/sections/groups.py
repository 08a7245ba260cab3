"""The section on groups: heat maps by corpus and metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from tokbench.measuring.metric import Role
from tokbench.report import document as doc
from tokbench.report.charts.heat import HeatMap, HeatRow, heat_drawing, heat_map, heat_maps
from tokbench.report.section import Chart
from tokbench.report.tables import CellTables
from tokbench.results.cells import WHOLE, group_name

_EXPLANATION: Final = (
    "Groups down, tokenizers across, the best for the whole corpus first. A stronger colour is better, or larger where "
    "no direction is better. The ends of a scale are the 5th and the 95th percentile. A dot marks the best of a row "
    "and its ties. Lossy tokenizers have no colour. Click a tokenizer to see its worst groups first. "
)
_PLAIN: Final = "Groups down, tokenizers across, the best for the whole corpus first. "
_BEYOND: Final = (
    "Compression is the tokens beyond the best of the row: bytes per token cannot be compared across scripts."
)


def groups_document(tables: CellTables) -> doc.Section:
    """Return the section; only a page has the maps of all metrics."""
    return doc.Section("groups", "By group", [doc.Rich(partial(_page, tables), _compression(tables))], folded=False)


def _page(tables: CellTables) -> list[doc.Node]:
    by_corpus = {corpus: maps for corpus in tables.corpora if (maps := heat_maps(tables, corpus))}
    if not by_corpus:
        return [doc.Paragraph("No metric has a number for any group.")]
    panes = [
        doc.Pane(corpus, [doc.Heading(doc.Name(corpus)), _metrics(maps, corpus, number)])
        for number, (corpus, maps) in enumerate(by_corpus.items())
    ]
    return [doc.Paragraph(_EXPLANATION + _BEYOND), doc.Chooser("Corpus", "groups-of", panes, key="corpus")]


def _metrics(maps: Sequence[HeatMap], corpus: str, number: int) -> doc.Chooser:
    panes = [doc.Pane(shown.label, _nodes(shown, corpus), family=shown.family, value=shown.metric) for shown in maps]
    return doc.Chooser("Metric", f"heat-{number}", panes, key="metric", packed=True)


def _compression(tables: CellTables) -> list[doc.Node]:
    nodes: list[doc.Node] = []
    for corpus in tables.corpora:
        shown = heat_map(tables, corpus, tables.with_role(Role.TEXT_PER_TOKEN), beyond=True)
        if shown:
            nodes += [doc.Heading([f"{shown.label}, {shown.unit}: ", doc.Name(corpus)]), *_nodes(shown, corpus)]
    return (
        [doc.Paragraph(_PLAIN + _BEYOND), *nodes]
        if nodes
        else [doc.Paragraph("Compression has no number for any group.")]
    )


def _nodes(shown: HeatMap, corpus: str) -> list[doc.Node]:
    # A first click shows the worst groups.
    columns = [
        doc.Column(name, upright=True, sort="descending" if shown.direction == "lower" else "ascending", title=name)
        for name in shown.tokenizers
    ]
    table = doc.Table(
        _caption(shown),
        [doc.Column("group", sort="ascending"), *columns],
        [_row(row) for row in shown.rows],
        label=f"Heat map of {shown.label}, {corpus}",
        look="heat neutral" if shown.direction == "none" else "heat",
    )
    return [
        table,
        *([doc.Paragraph(shown.left_out, "legend")] if shown.left_out else []),
        *([doc.Paragraph(_absent(shown), "legend")] if shown.absent else []),
        *doc.legend_lines(shown.legends),
    ]


def _caption(shown: HeatMap) -> list[doc.Inline]:
    unit = f", {shown.unit}" if shown.unit else ""
    better = "" if shown.direction == "none" else f"; {shown.direction} is better"
    scales = "" if shown.shared else "; each unit has its own scale"
    return [doc.Term(shown.metric, shown.label), f"{unit}{better}; colours from {shown.low} to {shown.high}{scales}"]


def _absent(shown: HeatMap) -> list[doc.Inline]:
    line: list[doc.Inline] = ["Without a number here: "]
    for number, (name, word) in enumerate(shown.absent):
        line += [", " * bool(number), doc.Name(name), f" ({word})"]
    return [*line, "."]


def _row(row: HeatRow) -> doc.Row:
    name = group_name(row.group)
    documents = "" if row.documents is None else f", {row.documents} documents"
    head = doc.TextCell(
        line=f"{name} {row.language}".rstrip(),
        small=[row.unit] if row.unit else [],
        title=name + documents,
    )
    cells = [doc.MeasuredCell(cell=cell, level=level, heat=True) for cell, level in row.cells]
    return doc.Row([head, *cells], look="whole" if row.group == WHOLE else "")


def group_charts(tables: CellTables) -> Iterator[Chart]:
    """Yield the heat map of each metric and corpus."""
    for corpus in tables.corpora:
        for shown in heat_maps(tables, corpus):
            yield Chart(f"heat-{corpus}-{shown.metric}", heat_drawing(shown, corpus))
