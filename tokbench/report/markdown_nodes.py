"""Renders the document model as Markdown: a function for each node."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent

from tokbench.report.document import (
    Bullets,
    Cards,
    Chooser,
    Details,
    Heading,
    Inline,
    Line,
    Listing,
    Marked,
    MeasuredCell,
    Name,
    Node,
    Note,
    Paragraph,
    Rich,
    Section,
    Strong,
    Table,
    TableCell,
    TextCell,
)
from tokbench.report.escaping import markdown_table, markdown_text, visible


def section_markdown(section: Section) -> str:
    """Return a section of the report, headed by its title.

    >>> print(section_markdown(Section("losses", "Losses", [Paragraph("No round trip was made.")])))
    ## Losses
    <BLANKLINE>
    No round trip was made.
    <BLANKLINE>
    """
    return "\n".join([f"## {markdown_text(section.title)}\n", *_blocks(section.nodes)])


def nodes_markdown(nodes: Sequence[Node]) -> str:
    r"""Return nodes that have no section around them.

    >>> nodes_markdown([Note([Paragraph("Stopped."), Paragraph("Half of it.")])])
    '> Stopped.\n>\n> Half of it.\n'
    """
    return "\n".join(_blocks(nodes))


def _blocks(nodes: Sequence[Node]) -> list[str]:
    return [block for node in nodes for block in _node(node)]


def _node(node: Node) -> list[str]:
    """Return the blocks of a node; each ends with a line end, and an empty line stands between two."""
    inner: Sequence[Node] = ()
    match node:
        case Chooser():
            inner = [part for pane in node.panes for part in pane.nodes]
        case Cards():
            inner = [part for card in node.cards for part in card]
        case Details():
            inner = [Paragraph(node.summary), *node.nodes]
        case Rich():
            inner = node.plain
        case Note():
            lines = nodes_markdown(node.nodes).splitlines()
            return ["".join(f"> {line}".rstrip() + "\n" for line in lines)]
        case Heading() | Paragraph() | Bullets() | Table():
            return [_block(node)]
    return _blocks(inner)


def _block(node: Heading | Paragraph | Bullets | Listing | Table) -> str:
    match node:
        case Heading(line, level):
            return f"{'#' * level} {_line(line)}\n"
        case Paragraph(line, kind):
            return f"**{_line(line)}**\n" if kind == "lead" else f"{_line(line)}\n"
        case Bullets(lines):
            return "".join(f"- {_line(line)}\n" for line in lines)
        case Listing(text):
            return indent(visible(text, keep="\n").rstrip("\n") + "\n", "    ")
        case Table():
            return _table(node)


def _table(table: Table) -> str:
    head = [
        " ".join(filter(None, [_inside(column.line) + _inside(column.mark), _inside(column.below)]))
        for column in table.columns
    ]
    rows = [[_cell(cell) for cell in row.cells] for row in table.rows]
    numbers = [number for number, column in enumerate(table.columns) if column.numeric or column.upright]
    return markdown_table(head, rows, numbers)


def _cell(cell: TableCell) -> str:
    if isinstance(cell, MeasuredCell):
        shown = cell.cell
        text = (f"**{shown.text}**" if shown.best else shown.text) + shown.marks
        interval = f" [{shown.interval}]" if cell.interval and shown.interval else ""
        return text + (f" {shown.share}" if shown.share else "") + interval
    if isinstance(cell, TextCell):
        return "; ".join(filter(None, [_inside(cell.line), *map(_inside, cell.small)]))
    return _inside(cell)


def _line(line: Line) -> str:
    """Return a line of its own."""
    return "".join(_inline(piece, begins=not number) for number, piece in enumerate(_pieces(line)))


def _inside(line: Line) -> str:
    """Return text that no line begins with, such as that of a cell."""
    return "".join(_inline(piece, begins=False) for piece in _pieces(line))


def _pieces(line: Line) -> Sequence[Inline]:
    return [line] if isinstance(line, str) or not isinstance(line, Sequence) else line


def _inline(piece: Inline, *, begins: bool) -> str:
    text = markdown_text(piece if isinstance(piece, str) else piece.text, begins=begins)
    stands_out = isinstance(piece, Strong | Marked) or (isinstance(piece, Name) and piece.strong)
    return f"**{text}**" if stands_out and text else text
