"""The section of the report: a tree that every format renders, and its chart for `--pictures`."""

from my_tokbench_plugin.indents.study import INDENTS
from tokbench.plugin.report import Column, Figure, Paragraph, Row, Section, Table, TextCell
from tokbench.report.charts.line_profile import ProfileLine, line_key, line_profile
from tokbench.report.document import ChartKey
from tokbench.report.section import Chart  # fmt: skip


def section(tables):
    block = tables.results.studies.get(INDENTS)
    if block is None:  # the run has no such study
        return None
    columns = [Column("tokenizer"), *(Column(str(width), numeric=True) for width in block.widths)]
    rows = [Row([name, *map(str, counts)]) for name, counts in block.tokens.items()]
    rows += [
        Row([name, TextCell(line=reason, look="prose", span=len(block.widths))])
        for name, reason in block.reasons.items()
    ]
    nodes = [Paragraph("Tokens of an indented line, by the number of its spaces.")]
    nodes.append(Table("Tokens of an indented line", columns, rows))
    for chart in charts(tables):
        nodes.append(Figure(chart.drawing, [ChartKey(stroke, name) for name, stroke in chart.keys]))
    return Section("indents", "Indents", nodes)


def charts(tables):
    block = tables.results.studies.get(INDENTS)
    if block is None or not block.tokens:
        return
    lines = [
        ProfileLine(name, style, counts, list(map(str, counts)))
        for style, (name, counts) in enumerate(block.tokens.items())
    ]
    drawing = line_profile("Tokens by indent", list(map(str, block.widths)), lines, upright="tokens of the line")
    keys = tuple((line.name, line_key(line.style)) for line in lines)
    yield Chart("indents", drawing, keys, ("Tokens of an indented line, by the number of its spaces",))
