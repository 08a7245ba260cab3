"""What sections and formats of a report are made of.

>>> from tokbench.plugin.report import Paragraph
>>> Paragraph("an Egg").line
'an Egg'
"""

from __future__ import annotations

from tokbench.report.cells import DisplayCell, legends
from tokbench.report.charts.svg import Drawing
from tokbench.report.csv_text import csv_text
from tokbench.report.document import (
    Cards,
    Column,
    Figure,
    Heading,
    MeasuredCell,
    Name,
    Node,
    Paragraph,
    Rich,
    Row,
    Section,
    Strong,
    Table,
    TableCell,
    Term,
    TextCell,
    legend_lines,
    sentence_paragraphs,
)
from tokbench.report.section import Chart, SectionSpec
from tokbench.report.tables import CellTables
from tokbench.results.model import Results
from tokbench.results.reporter import ReporterSpec

__all__ = [
    "Cards",
    "CellTables",
    "Chart",
    "Column",
    "DisplayCell",
    "Drawing",
    "Figure",
    "Heading",
    "MeasuredCell",
    "Name",
    "Node",
    "Paragraph",
    "ReporterSpec",
    "Results",
    "Rich",
    "Row",
    "Section",
    "SectionSpec",
    "Strong",
    "Table",
    "TableCell",
    "Term",
    "TextCell",
    "csv_text",
    "legend_lines",
    "legends",
    "sentence_paragraphs",
]
