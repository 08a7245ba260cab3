"""The section on compression against speed: a chart for each corpus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tokbench.report.charts.scatter import scatter, scatter_nodes
from tokbench.report.document import Chooser, Node, Pane, Paragraph, Section
from tokbench.report.section import Chart, SectionSpec
from tokbench.report.tables import CellTables


def tradeoff_document(tables: CellTables) -> Section | None:
    """Return ``None`` if no metric of the run is timed."""
    if not tables.timed:
        return None
    charts = [chart for corpus in tables.corpora if (chart := scatter(tables, corpus))]
    nodes: list[Node] = [Paragraph("No chart: no tokenizer has both a speed and a compression ratio.")]
    if charts:
        panes = [Pane(chart.corpus, scatter_nodes(chart, f"Chart for {chart.corpus}")) for chart in charts]
        nodes = [
            Paragraph(
                "Up: fewer tokens for the same text. Right: faster, on a logarithmic scale. Bars are 95% "
                "intervals, drawn where they are longer than the mark. Compression depends on the vocabulary, speed "
                "on the engine and the machine. A hollow mark: text is lost."
            ),
            Chooser("Corpus of the chart", "scatter", panes),
        ]
    return Section("tradeoff", "Compression against speed", nodes)


def tradeoff_charts(tables: CellTables) -> Iterator[Chart]:
    """Yield a chart for each corpus."""
    for corpus in tables.corpora:
        if chart := scatter(tables, corpus):
            yield Chart(f"speed-{corpus}", chart.drawing, tuple(chart.backends))


TRADEOFF: Final = SectionSpec(
    name="tradeoff", place=100, build=tradeoff_document, charts=tradeoff_charts, page_only=True
)
