"""What sections and formats of a report are made of.

>>> from tokbench.plugin.report import Paragraph
>>> Paragraph("an Egg").line
'an Egg'
"""

from __future__ import annotations

from tokbench.report.cells import DisplayCell, legends
from tokbench.report.csv_text import csv_text
from tokbench.report.document import (
    Column,
    Figure,
    Heading,
    Name,
    Node,
    Paragraph,
    Rich,
    Row,
    Section,
    Table,
    TableCell,
    Term,
    TextCell,
    legend_lines,
)
from tokbench.report.section import SectionSpec
from tokbench.report.tables import CellTables
from tokbench.results.model import Results
from tokbench.results.reporter import ReporterSpec

__all__ = [
    "CellTables",
    "Column",
    "DisplayCell",
    "Figure",
    "Heading",
    "Name",
    "Node",
    "Paragraph",
    "ReporterSpec",
    "Results",
    "Rich",
    "Row",
    "Section",
    "SectionSpec",
    "Table",
    "TableCell",
    "Term",
    "TextCell",
    "csv_text",
    "legend_lines",
    "legends",
]
