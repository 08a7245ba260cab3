"""Renders the document model as Markdown: a function for each node."""

from __future__ import annotations

from collections.abc import Sequence

from tokbench.report.document import (
    Bullets,
    Chooser,
    Column,
    Details,
    Figure,
    Heading,
    Inline,
    Key,
    Line,
    Marked,
    MeasuredCell,
    Multiples,
    Node,
    Paragraph,
    Rich,
    Scale,
    Section,
    Strong,
    Table,
    TableCell,
    Term,
    TextCell,
)
from tokbench.report.escaping import markdown_table, markdown_text


def section_markdown(section: Section) -> str:
    """Return a section of the report, headed by its title.

    >>> print(section_markdown(Section("losses", "Losses", [Paragraph("No round trip was made.")])))
    ## Losses
    <BLANKLINE>
    No round trip was made.
    <BLANKLINE>
    """
    return "\n".join([f"## {markdown_text(section.title)}\n", *_blocks(section.nodes)])


def _blocks(nodes: Sequence[Node]) -> list[str]:
    return [block for node in nodes for block in _node(node)]


def _node(node: Node) -> list[str]:
    """Return the blocks of a node; each ends with a line end, and an empty line stands between two."""
    match node:
        case Chooser():
            return [block for pane in node.panes for block in _blocks(pane.nodes)]
        case Details():
            return _blocks(node.nodes)
        case Rich():
            return _blocks(node.plain)
        case Figure() | Multiples():
            return []
    return [_block(node)]


def _block(node: Heading | Paragraph | Bullets | Table) -> str:
    match node:
        case Heading(line, level):
            return f"{'#' * level} {_line(line)}\n"
        case Paragraph(line, kind):
            return f"**{_line(line)}**\n" if kind == "advice" else f"{_line(line)}\n"
        case Bullets(lines):
            return "".join(f"- {_line(line)}\n" for line in lines)
        case Table():
            return _table(node)


def _table(table: Table) -> str:
    head = [_head(column) for column in table.columns]
    rows = [[_cell(cell) for cell in row.cells] for row in table.rows]
    numbers = [number for number, column in enumerate(table.columns) if column.numeric or column.upright]
    return markdown_table(head, rows, numbers)


def _head(column: Column) -> str:
    unit = column.unit.text if isinstance(column.unit, Term) else column.unit
    parts = [_line(column.line), _line(column.below), f"({markdown_text(unit)})" if unit else ""]
    return " ".join(filter(None, parts))


def _cell(cell: TableCell) -> str:
    if isinstance(cell, MeasuredCell):
        shown = cell.cell
        text = (f"**{shown.text}**" if shown.best else shown.text) + shown.marks
        interval = f" [{shown.interval}]" if cell.interval and shown.interval else ""
        return text + (f" {shown.share}" if shown.share else "") + interval
    if isinstance(cell, TextCell):
        return "; ".join(filter(None, [_line(cell.line), *map(_line, cell.small)]))
    return _line(cell)


def _line(line: Line) -> str:
    pieces = [line] if isinstance(line, str) or not isinstance(line, Sequence) else line
    return "".join(map(_inline, pieces))


def _inline(piece: Inline) -> str:
    match piece:
        case str():
            return markdown_text(piece)
        case Strong(text) | Marked(text):
            return f"**{markdown_text(text)}**" if text else ""
        case Key(text=text, remark=remark):
            return markdown_text(f"{text} {remark}".rstrip())
        case Scale(low, high):
            return markdown_text(f"{low} to {high}")
        case _:
            return markdown_text(piece.text)
