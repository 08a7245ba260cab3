"""Renders the document model for a terminal: a function for each node.

It shows what the formats of plain text show: charts are left out, and of several panes all are printed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tokbench.foundation.visible_text import visible
from tokbench.report.cells import DisplayCell
from tokbench.report.document import (
    Bullets,
    Code,
    Column,
    Digest,
    Gloss,
    Heading,
    Inline,
    Line,
    Listing,
    Marked,
    MeasuredCell,
    Name,
    Note,
    Paragraph,
    Section,
    Small,
    State,
    Strong,
    Table,
    TableCell,
    Term,
    TextCell,
    TokenText,
)
from tokbench.report.markdown_nodes import PlainNode, inline_words, line_pieces, plain_nodes, token_words

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table as RichTable
    from rich.text import Text

_PARAGRAPHS: Final = {"lead": "bold", "headline": "bold", "legend": "dim", "bad": "yellow"}
"""The styles of paragraphs by their kind."""

_INLINE: Final[dict[type, str]] = {
    Strong: "bold green",
    Marked: "bold",
    Small: "dim",
    Gloss: "dim",
    Digest: "dim",
    Code: "cyan",
}
"""The styles of the pieces of a line by their type."""

COLUMN_GAP: Final = 3
"""Spaces between two columns of a table."""

_INDENT: Final = 2


def terminal() -> Console | None:
    """Return the terminal that standard output is; ``None`` if it is a file or a pipe."""
    from rich.console import Console

    return Console(highlight=False) if sys.stdout.isatty() else None


def print_document(console: Console, title: str, lead: str, sections: Sequence[Section]) -> None:
    """Print a document.

    Args:
        console: the terminal; tables take no more than its width.
        title: its title.
        lead: a sentence or two below the title.
        sections: its sections.
    """
    from rich.text import Text

    console.print(Text(visible(title), style="bold"))
    console.print(Text(visible(lead)))
    for section in sections:
        if section.title:
            console.print()
            console.print(_text(section.title, "bold underline"))
        for node in plain_nodes(section.nodes):
            console.print()
            console.print(_renderable(node), soft_wrap=isinstance(node, Listing))


def _renderable(node: PlainNode) -> RenderableType:
    from rich.console import Group
    from rich.padding import Padding

    if isinstance(node, Note):
        return Padding(Group(*map(_renderable, plain_nodes(node.nodes))), (0, 0, 0, _INDENT), style="yellow")
    if isinstance(node, Table):
        return rich_table(node)
    if isinstance(node, Bullets):
        return Group(*(Padding(_text(["- ", *line_pieces(line)]), (0, 0, 0, _INDENT)) for line in node.lines))
    return _words(node)


def _words(node: Heading | Paragraph | Listing | TokenText) -> Text:
    from rich.text import Text

    match node:
        case Heading(line):
            return _text(line, "bold")
        case Paragraph(line, kind):
            return _text(line, _PARAGRAPHS.get(kind, ""))
        case Listing(text):
            return Text(visible(text, keep="\n").rstrip("\n"))
        case TokenText(tokens):
            return Text(token_words(tokens))


def rich_table(table: Table) -> RichTable:
    """Return a table without the columns in which no cell says anything; digits stay in line beside marks."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    room: dict[int, int] = {}  # of the marks in each column
    for row in table.rows:
        for number, cell in enumerate(row.cells):
            if isinstance(cell, MeasuredCell):
                room[number] = max(room.get(number, 0), len(marks_of(cell.cell)))
    rows = [
        [text for number, cell in enumerate(row.cells) for text in _cells(cell, room.get(number, 0))]
        for row in table.rows
    ]
    kept = [number for number, _ in enumerate(table.columns) if any(row[number] for row in rows if number < len(row))]
    shown = RichTable(box=box.SIMPLE_HEAD, padding=(0, COLUMN_GAP - 1, 0, 0), pad_edge=False, show_edge=False)
    for number in kept:
        column = table.columns[number]
        justify = "right" if column.numeric or column.upright else "left"
        shown.add_column(_head(column), justify=justify, vertical="bottom", overflow="fold")  # type: ignore[arg-type]
    for texts in rows:
        shown.add_row(*(texts[number] if number < len(texts) else Text() for number in kept))
    return shown


def _head(column: Column) -> Text:
    unit = column.unit.text if isinstance(column.unit, Term) else column.unit
    head = _text(column.line).append(column.mark)
    below: list[Line] = [line for line in (column.below, unit) if line]
    for line in below:
        head.append("\n").append_text(_text(line, "dim"))
    return head


def marks_of(cell: DisplayCell) -> str:
    """Return what stands behind the digits of a cell: its marks, and the share of the documents that was measured."""
    return " ".join(filter(None, (cell.marks, cell.share)))


def _cells(cell: TableCell, room: int) -> list[Text]:
    """Return a cell, and empty ones for the other columns over which it goes; marks are as wide as ``room``."""
    from rich.text import Text

    if isinstance(cell, MeasuredCell):
        shown = cell.cell
        style = "bold green" if shown.best else "dim" if shown.value is None else ""
        interval = f"[{shown.interval}]" if cell.interval and shown.interval else ""
        words = filter(None, (shown.text + marks_of(shown).ljust(room), interval))
        return [Text(" ".join(words), style=style)]
    if isinstance(cell, TextCell):
        lines = [_text(cell.line), *(_text(line, "dim") for line in cell.small)]
        return [Text("\n").join(line for line in lines if line), *[Text()] * (cell.span - 1)]
    return [_text(cell)]


def _text(line: Line, style: str = "") -> Text:
    """Return a line in which nothing is read as markup, and no sequence reaches the terminal."""
    from rich.text import Text

    text = Text(style=style)
    for piece in line_pieces(line):
        text.append(visible(inline_words(piece)), style=_style(piece))
    return text


def _style(piece: Inline) -> str:
    if isinstance(piece, State):
        return "red" if piece.bad else ""
    if isinstance(piece, Name):
        return "bold" if piece.strong else ""
    return _INLINE.get(type(piece), "")
