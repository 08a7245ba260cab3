"""Renders the document model as Markdown: a function for each node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import indent
from typing import Final

from tokbench.foundation.visible_text import visible
from tokbench.report import document as doc
from tokbench.report.escaping import markdown_table, markdown_text

_MOST_TOKENS: Final = 24


def section_markdown(section: doc.Section, level: int = 2) -> str:
    """Return a section headed by its title.

    >>> print(section_markdown(doc.Section("losses", "Losses", [doc.Paragraph("No round trip was made.")])))
    ## Losses
    <BLANKLINE>
    No round trip was made.
    <BLANKLINE>
    """
    title = [f"{'#' * level} {_line(section.title)}\n"] if section.title else []
    return "\n".join([*title, *_blocks(section.nodes)])


def _blocks(nodes: Sequence[doc.Node]) -> Iterator[str]:
    """Yield the text of nodes: all panes, no chart."""
    for node in nodes:
        match node:
            case doc.Chooser():
                yield from _blocks([part for pane in node.panes for part in pane.nodes])
            case doc.TokenChooser():
                yield from _blocks([part for number in node.first for part in node.texts[number].nodes])
            case doc.Cards():
                yield from _blocks([part for card in node.cards for part in card])
            case doc.Details():
                yield from _blocks([doc.Paragraph(node.summary), *node.nodes])
            case doc.Rich():
                yield from _blocks(node.plain)
            case doc.Table():
                yield _table(node)
            case doc.Heading() | doc.Paragraph() | doc.Bullets() | doc.Listing() | doc.TokenText():
                yield _text_block(node)


def _text_block(node: doc.Heading | doc.Paragraph | doc.Bullets | doc.Listing | doc.TokenText) -> str:
    match node:
        case doc.Heading(line, level):
            return f"{'#' * level} {_line(line)}\n"
        case doc.Paragraph(line, kind):
            return f"**{_line(line)}**\n" if kind in {"headline", "lead"} else f"{_line(line)}\n"
        case doc.Bullets(lines):
            return "".join(f"- {_line(line)}\n" for line in lines)
        case doc.Listing(text):
            return indent(visible(text, keep="\n").rstrip("\n") + "\n", "    ")
        case doc.TokenText(tokens):
            return f"{_token_words(tokens)}\n"


def _table(table: doc.Table) -> str:
    head = [_head(column) for column in table.columns]
    rows = [[text for cell in row.cells for text in _columns(cell)] for row in table.rows]
    numbers = [number for number, column in enumerate(table.columns) if column.numeric or column.upright]
    return markdown_table(head, rows, numbers)


def _columns(cell: doc.TableCell) -> list[str]:
    return [_cell(cell), *[""] * (cell.span - 1 if isinstance(cell, doc.TextCell) else 0)]


def _head(column: doc.Column) -> str:
    unit = column.unit.text if isinstance(column.unit, doc.Term) else column.unit
    parts = [
        _inside(column.line) + _inside(column.mark),
        _inside(column.below),
        f"({markdown_text(unit, begins=False)})" if unit else "",
    ]
    return " ".join(filter(None, parts))


def _cell(cell: doc.TableCell) -> str:
    if isinstance(cell, doc.MeasuredCell):
        shown = cell.cell
        text = (f"**{shown.text}**" if shown.best else shown.text) + shown.marks
        interval = f" [{shown.interval}]" if cell.interval and shown.interval else ""
        return text + interval
    if isinstance(cell, doc.TextCell):
        return "; ".join(filter(None, [_inside(cell.line), *map(_inside, cell.small)]))
    return _inside(cell)


def _line(line: doc.Line) -> str:
    return "".join(_inline(piece, begins=not number) for number, piece in enumerate(doc.line_pieces(line)))


def _inside(line: doc.Line) -> str:
    return "".join(_inline(piece, begins=False) for piece in doc.line_pieces(line))


def _inline(piece: doc.Inline, *, begins: bool) -> str:
    match piece:
        case doc.Strong(text) | doc.Name(text, strong=True):
            return f"**{markdown_text(text, begins=begins)}**" if text else ""
        case doc.Tokens(tokens, mark):
            return _token_words(tokens, mark)
        case str():
            words = piece
        case doc.ChartKey(text=text, remark=remark):
            words = f"{text} {remark}".rstrip()
        case _:
            words = piece.text
    return markdown_text(words, begins=begins)


def _token_words(tokens: Sequence[doc.Token], mark: str = "") -> str:
    left = len(tokens) - _MOST_TOKENS
    shown = markdown_text(" ¦ ".join(token.text for token in tokens[:_MOST_TOKENS]))
    return f"{len(tokens):,}{mark}: {shown}" + (f" and {left:,} more" if left > 0 else "")
