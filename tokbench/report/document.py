"""The document model of reports: a section is a small tree that every format renders.

Names, reasons and excerpts are raw: the renderers make them visible and escape them.

>>> table = Table("Losses", [Column("tokenizer"), Column("texts", numeric=True)], [Row(["gpt-4", "0"])])
>>> Section("losses", "Losses", [Paragraph("What was lost."), table]).title
'Losses'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from tokbench.report.cells import DisplayCell, Series
from tokbench.report.charts.svg import Drawing


@dataclass(frozen=True, slots=True)
class Name:
    """A name from the configuration; a page isolates its writing direction."""

    text: str
    strong: bool = False


@dataclass(frozen=True)
class Words:
    """Words in a look of their own."""

    text: str


class Strong(Words):
    """Words in bold."""


class Small(Words):
    """Words in small type."""


@dataclass(frozen=True, slots=True)
class StateWord:
    """The word for a status."""

    text: str
    bad: bool = False


class Code(Words):
    """Text to type, such as the id of a metric, and digests."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link to another place of the report."""

    place: str
    text: str


@dataclass(frozen=True, slots=True)
class Term:
    """The name or unit of a metric, which links to its definition."""

    metric: str
    text: str


class Raised(Words):
    """A small raised mark after a name, such as ‡."""


@dataclass(frozen=True, slots=True)
class ChartKey:
    """The mark and name of a line or point of a chart."""

    mark: Drawing
    text: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a text."""

    text: str
    title: str
    differs: bool = False
    """Not every compared tokenizer has this token."""
    partial: bool = False
    breaks: bool = False


@dataclass(frozen=True, slots=True)
class Tokens:
    """The number of tokens of a text, and the first of them."""

    tokens: Sequence[Token]
    mark: str = ""


Inline = str | Name | Words | StateWord | Link | Term | ChartKey | Tokens
Line = Inline | Sequence[Inline]


def line_pieces(line: Line) -> Sequence[Inline]:
    """Return the pieces of a line."""
    return [line] if isinstance(line, str) or not isinstance(line, Sequence) else line


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading inside a section."""

    line: Line
    level: Literal[3, 4] = 3
    id: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph."""

    line: Line
    kind: Literal["", "advice", "headline", "lead", "legend", "mixture", "bad", "ids", "ranks"] = ""
    """``advice`` is narrow, ``headline`` large, ``lead`` bold, ``legend`` small, ``bad`` a failure, ``ids`` digits;
    ``mixture`` says in grey what was measured;
    ``ranks`` is computed again for the texts and tokenizers that a reader chooses."""


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of sentences."""

    lines: Sequence[Line]
    look: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """Lines of a file as they are."""

    text: str


@dataclass(frozen=True, slots=True)
class TokenText:
    """All tokens of a text, each in a box with a tooltip."""

    tokens: Sequence[Token]
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCell:
    """A cell with text; a string or :class:`Name` will do without options."""

    line: Line = ""
    small: Sequence[Line] = ()
    look: str = ""
    """Classes of the style sheet: ``prose``, ``text`` (an excerpt), ``pale``, ``none``, ``h0`` to ``h8``, ``best``."""
    title: str = ""
    value: float | str | None = None
    data: str = ""
    span: int = 1
    head: str = ""
    """The column name before the text on a narrow page."""
    names: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCell:
    """A measured cell."""

    cell: DisplayCell
    interval: bool = False
    level: int | None = None
    heat: bool = False
    """In a heat map a cell without a level is pale."""


TableCell = Line | TextCell | MeasuredCell


@dataclass(frozen=True, slots=True)
class Column:
    """The head of a column."""

    line: Line
    numeric: bool = False
    sort: Literal["", "ascending", "descending"] = ""
    """The order of the first click; empty for a column that does not sort."""
    mark: str = ""
    below: Line = ""
    unit: Term | str = ""
    key: str = ""
    """The metric and corpus by which links name it."""
    title: str = ""
    upright: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A row; its first cell names it, unless ``named`` is false."""

    cells: Sequence[TableCell]
    look: str = ""
    """Classes of the style sheet: ``whole``, ``gone``."""
    id: str = ""
    aside: bool = False
    named: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """A table in a scrolling box."""

    caption: Line
    columns: Sequence[Column]
    rows: Sequence[Row]
    label: str = ""
    look: str = ""
    """Classes of the style sheet: ``heat``, ``neutral``, ``tight``, ``pairs``, ``probe``, ``changes``."""
    fit: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart with its caption and key."""

    picture: Drawing
    caption: Line = ""
    label: str = ""
    beside: bool = False
    """Puts the caption next to the chart if it fits."""
    narrow: Drawing | None = None


@dataclass(frozen=True, slots=True)
class Multiples:
    """Small charts in a row."""

    pictures: Sequence[Drawing | Figure]
    look: str = ""
    """Classes of the style sheet: ``wide``, ``panes``, ``first``."""


@dataclass(frozen=True, slots=True)
class Pane:
    """One of several things to choose from."""

    name: str
    nodes: Sequence[Node]
    family: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True)
class Chooser:
    """Panes; a format without choice shows all of them."""

    purpose: str
    id: str
    panes: Sequence[Pane]
    key: str = ""
    packed: bool = False


@dataclass(frozen=True, slots=True)
class TokenChooser:
    """Texts as tokens, with a choice of text and tokenizers; at most one per document."""

    texts: Sequence[Pane]
    """Those beyond the first need no nodes."""
    first: Sequence[int]
    names: Sequence[str]
    chosen: Sequence[str]
    data: str


@dataclass(frozen=True, slots=True)
class Details:
    """Nodes that stay closed until a reader opens them."""

    summary: Line
    nodes: Sequence[Node]
    open: bool = False
    packed: bool = False


@dataclass(frozen=True, slots=True)
class Cards:
    """Parts in a row where there is room."""

    cards: Sequence[Sequence[Node]]
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Rich:
    """Nodes for pages only; plain text shows ``plain``."""

    nodes: Sequence[Node] | Callable[[], Sequence[Node]]
    """A function makes them on demand; many charts take long to draw."""
    plain: Sequence[Node] = ()

    def made(self) -> Sequence[Node]:
        return self.nodes() if callable(self.nodes) else self.nodes


Node = (
    Heading | Paragraph | Bullets | Listing | TokenText | Table | Figure | Multiples
    | Chooser | TokenChooser | Details | Cards | Rich
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a report."""

    id: str
    title: Line
    nodes: Sequence[Node]
    folded: bool = True


def measured_column(series: Series, name: str = "", below: str = "") -> Column:
    """Return the head of a metric, sorted best first, with a link to its definition."""
    return Column(
        name or series.label,
        numeric=True,
        sort="ascending" if series.direction == "lower" else "descending",
        below=below,
        unit=Term(series.metric, series.unit_label),
        key=f"{series.metric}@{series.corpus}",
    )


def legend_lines(lines: Sequence[str]) -> list[Node]:
    """Return a small paragraph for each legend."""
    return [Paragraph(f"{line}.", "legend") for line in lines]


def sentence_paragraphs(sentences: Sequence[str]) -> list[Node]:
    """Return a paragraph for each sentence, the first one as ``lead``."""
    return [Paragraph(sentence, "" if number else "lead") for number, sentence in enumerate(sentences)]


def captioned(table: Table) -> Rich:
    """Return a table whose caption plain text shows as well."""
    return Rich([table], plain=[Paragraph(table.caption), table])


def names_line(before: str, names: Sequence[str], after: str = ".") -> list[Inline]:
    """Return names in a sentence, with commas.

    >>> names_line("Not here: ", ["a", "b"])
    ['Not here: ', Name(text='a', strong=False), ', ', Name(text='b', strong=False), '.']
    """
    line: list[Inline] = [before]
    for number, name in enumerate(names):
        line += [", ", Name(name)] if number else [Name(name)]
    return [*line, after]
