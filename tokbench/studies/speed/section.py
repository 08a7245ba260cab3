"""The section on speed: tables by corpus and timed family."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tokbench.report import document as doc
from tokbench.report.cells import Series, legends
from tokbench.report.charts.scatter import scatter, scatter_nodes
from tokbench.report.document import Chooser, Node, Pane, Paragraph, Section
from tokbench.report.escaping import plain
from tokbench.report.section import Chart, SectionNotes, SectionSpec
from tokbench.report.tables import CellTables
from tokbench.results.cells import OWN_TEXTS
from tokbench.results.model import Results


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


_EXPLANATION: Final = (
    "Each number is the median of its rounds, documents or processes, with its interval. Times hold for this machine "
    "and these texts. Different vocabularies make different numbers of tokens, so their times alone are not a "
    "ranking. Engines return flat arrays of ids, Python lists of them or counts alone: only engines that return the "
    "same kind are ranked together."
)


def speed_document(tables: CellTables) -> doc.Section | None:
    """Return ``None`` if nothing is timed."""
    if not tables.timed:
        return None
    panes = list(speed_panes(tables))
    notes = speed_notes(tables.results)
    nodes: list[doc.Node] = [doc.Paragraph("No speed was measured.")]
    if panes:
        nodes = [
            doc.Paragraph(_EXPLANATION),
            # A format of plain text has all notes of the run at its head.
            *([doc.Rich([doc.Bullets(notes, "notes")])] if notes else []),
            doc.Chooser("Table of speeds", "speed", panes),
        ]
    return doc.Section("speed", "Speed", nodes)


def speed_notes(results: Results) -> list[str]:
    """Return notes that begin with a timed family."""
    families = tuple(metric.family for metric in results.metrics.values() if metric.timed)
    return [note for note in results.notes if note.startswith(families)]


def speed_panes(tables: CellTables) -> Iterator[doc.Pane]:
    """Yield tables by corpus and family, and by metric with groups."""
    timed = [name for name in tables.metrics if tables.metric(name).timed]
    families = dict.fromkeys(tables.metric(name).family for name in timed)
    for corpus in tables.corpora:
        on = "" if corpus == OWN_TEXTS else f" on {corpus}"
        for family in families:
            names = [name for name in timed if tables.metric(name).family == family]
            whole = [column for name in names if (column := tables.series(name, corpus)).measured]
            if whole:
                heads = [doc.measured_column(column) for column in whole]
                yield _pane(tables, f"{family}{on}", heads, whole)
            for name in names:
                groups = [group for group in tables.groups(name, corpus) if tables.is_shown(corpus, group)]
                columns = [column for group in groups if (column := tables.series(name, corpus, group)).measured]
                if columns:
                    heads = [doc.measured_column(column, column.group) for column in columns]
                    title = f"{tables.label(name)}{' by group' if on else ''}{on}"
                    yield _pane(tables, title, heads, columns)


def _pane(tables: CellTables, title: str, heads: Sequence[doc.Column], columns: Sequence[Series]) -> doc.Pane:
    of_rounds = doc.Column("interval", numeric=True), doc.Column("rounds", numeric=True, sort="descending")
    table = doc.Table(
        doc.Name(title),
        [
            doc.Column("tokenizer", sort="ascending"),
            doc.Column("returns", sort="ascending"),
            *(column for head in heads for column in (head, *of_rounds)),
            doc.Column("notes"),
        ],
        list(_rows(tables, columns)),
        label=title,
    )
    marks = legends(cell for column in columns for cell in column.cells.values())
    return doc.Pane(title, [doc.Rich([], [doc.Heading(doc.Name(title))]), table, *doc.legend_lines(marks)])


def _rows(tables: CellTables, columns: Sequence[Series]) -> Iterator[doc.Row]:
    """Keep equal outputs together, the fastest first, with its vocabulary's others."""
    ranked = columns[0].ranked()
    declared = {name: tables.tokenizer(name).same_as for name in ranked}
    vocabularies = {name: other or name for name, other in declared.items() if other or name in declared.values()}
    roots = {name: vocabularies.get(name, name) for name in ranked}
    places: dict[str, int] = {}
    for number, name in enumerate(ranked):
        places.setdefault(roots[name], number)
    returns = {name: tables.tokenizer(name).returns for name in ranked}
    apart = tables.metric(columns[0].metric).by_output
    shapes = {shape: number if apart else 0 for number, shape in enumerate(dict.fromkeys(returns.values()))}
    for name in sorted(ranked, key=lambda tokenizer: (shapes[returns[tokenizer]], places[roots[tokenizer]])):
        # A tokenizer that was not ready is in the section on problems.
        if any(tables.cell(column.metric, column.corpus, column.group, name) for column in columns):
            info, vocabulary = tables.tokenizer(name), vocabularies.get(name)
            small = [info.engine] if info.engine else []
            small += [f"vocabulary of {vocabulary}"] if vocabulary else []
            head = doc.TextCell(line=name, small=small, value=name, title=name)
            numbers = [cell for column in columns for cell in _numbers(tables, column, name)]
            yield doc.Row(
                [head, returns[name] or "unknown", *numbers, doc.TextCell(line=plain(info.notes), look="prose")]
            )


def _numbers(tables: CellTables, column: Series, name: str) -> list[doc.TableCell]:
    shown, cell = column.cells[name], tables.cell(column.metric, column.corpus, column.group, name)
    interval = doc.TextCell(line=shown.interval or "none", look="soft")
    rounds = doc.TextCell(line="none", look="none")
    if cell and cell.value is not None:
        rounds = doc.TextCell(line=str(cell.n), value=cell.n)
    return [doc.MeasuredCell(cell=shown), interval, rounds]


def section_notes(tables: CellTables) -> SectionNotes:
    """Return the notes of this section."""
    notes = speed_notes(tables.results)
    words = "the note" if len(notes) == 1 else f"the {len(notes)} notes"
    return SectionNotes(notes, ["Before you compare speeds, read ", doc.Link("speed", words), " on them."])


SPEED: Final = SectionSpec(name="speed", place=110, build=speed_document, notes=section_notes)
