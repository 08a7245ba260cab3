"""What sections and formats of a report are made of.

>>> from tokbench.plugin.report import Paragraph
>>> Paragraph("an Egg").line
'an Egg'
"""

from __future__ import annotations

from tokbench.report.cells import DisplayCell, legends
from tokbench.report.csv_text import csv_text
from tokbench.report.document import (
    Bullets,
    Column,
    Details,
    Figure,
    Heading,
    Inline,
    Link,
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
)
from tokbench.report.section import SectionSpec
from tokbench.report.tables import CellTables
from tokbench.results.model import NamedRun, Results
from tokbench.results.reporter import ReporterSpec

__all__ = [
    "Bullets",
    "CellTables",
    "Column",
    "Details",
    "DisplayCell",
    "Figure",
    "Heading",
    "Inline",
    "Link",
    "Name",
    "NamedRun",
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
]
