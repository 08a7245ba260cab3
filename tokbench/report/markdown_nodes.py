"""Renders the document model as Markdown: a function for each node."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent
from typing import Final

from tokbench.report.document import (
    Bullets,
    Cards,
    ChartKey,
    Chooser,
    Column,
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
    Scale,
    Section,
    Strong,
    Table,
    TableCell,
    Term,
    TextCell,
    Token,
    TokenChooser,
    Tokens,
    TokenText,
)
from tokbench.report.escaping import markdown_table, markdown_text, visible

_MOST_TOKENS: Final = 24
"""Tokens of a text that are shown."""


def section_markdown(section: Section, level: int = 2) -> str:
    """Return a section of a document, headed by its title at a level of headings.

    >>> print(section_markdown(Section("losses", "Losses", [Paragraph("No round trip was made.")])))
    ## Losses
    <BLANKLINE>
    No round trip was made.
    <BLANKLINE>
    """
    title = [f"{'#' * level} {_line(section.title)}\n"] if section.title else []
    return "\n".join([*title, *_blocks(section.nodes)])


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
        case TokenChooser():
            inner = [part for number in node.first for part in node.texts[number].nodes]
        case Cards():
            inner = [part for card in node.cards for part in card]
        case Details():
            inner = [Paragraph(node.summary), *node.nodes]
        case Rich():
            inner = node.plain
        case Note():
            lines = nodes_markdown(node.nodes).splitlines()
            return ["".join(f"> {line}".rstrip() + "\n" for line in lines)]
        case Heading() | Paragraph() | Bullets() | Listing() | TokenText() | Table():
            return [_block(node)]
    return _blocks(inner)


def _block(node: Heading | Paragraph | Bullets | Listing | TokenText | Table) -> str:
    match node:
        case Heading(line, level):
            return f"{'#' * level} {_line(line)}\n"
        case Paragraph(line, kind):
            return f"**{_line(line)}**\n" if kind == "lead" else f"{_line(line)}\n"
        case Bullets(lines):
            return "".join(f"- {_line(line)}\n" for line in lines)
        case Listing(text):
            return indent(visible(text, keep="\n").rstrip("\n") + "\n", "    ")
        case TokenText(tokens):
            return f"{_tokens(tokens, '')}\n"
        case Table():
            return _table(node)


def _table(table: Table) -> str:
    head = [_head(column) for column in table.columns]
    rows = [[text for cell in row.cells for text in _columns(cell)] for row in table.rows]
    numbers = [number for number, column in enumerate(table.columns) if column.numeric or column.upright]
    return markdown_table(head, rows, numbers)


def _columns(cell: TableCell) -> list[str]:
    """Return a cell and what fills the other columns over which it goes."""
    return [_cell(cell), *[""] * (cell.span - 1 if isinstance(cell, TextCell) else 0)]


def _head(column: Column) -> str:
    unit = column.unit.text if isinstance(column.unit, Term) else column.unit
    parts = [
        _inside(column.line) + _inside(column.mark),
        _inside(column.below),
        f"({markdown_text(unit, begins=False)})" if unit else "",
    ]
    return " ".join(filter(None, parts))


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
    match piece:
        case str():
            return markdown_text(piece, begins=begins)
        case Strong(text) | Marked(text) | Name(text, strong=True):
            return f"**{markdown_text(text, begins=begins)}**" if text else ""
        case Tokens(tokens, mark):
            return _tokens(tokens, mark)
        case ChartKey(text=text, remark=remark):
            return markdown_text(f"{text} {remark}".rstrip(), begins=begins)
        case Scale(low, high):
            return markdown_text(f"{low} to {high}", begins=begins)
        case _:
            return markdown_text(piece.text, begins=begins)


def _tokens(tokens: Sequence[Token], mark: str) -> str:
    left = len(tokens) - _MOST_TOKENS
    shown = markdown_text(" ¦ ".join(token.text for token in tokens[:_MOST_TOKENS]))
    return f"{len(tokens):,}{mark}: {shown}" + (f" and {left:,} more" if left > 0 else "")
