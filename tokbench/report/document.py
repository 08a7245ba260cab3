"""The document model of reports: a section is a small tree, written once, that every format renders.

A section's module returns a :class:`Section` of the nodes below. It knows neither markup nor a format. What people
chose (names, reasons, excerpts) stands in it as it is: the renderers make it visible and escape it.

>>> table = Table("Losses", [Column("tokenizer"), Column("texts", numeric=True)], [Row(["gpt-4", "0"])])
>>> Section("losses", "Losses", [Paragraph("What did not come back."), table]).title
'Losses'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from tokbench.report.cells import DisplayCell, Series
from tokbench.results.blocks import MetricInfo


class Picture(Protocol):
    """A chart that can be put into a page, such as a :class:`~tokbench.report.charts.svg.Drawing`."""

    title: str

    def __html__(self) -> str:
        """Return the markup."""


class Definitions(Protocol):
    """The definitions of metrics in a document, such as :class:`~tokbench.report.tables.CellTables` of a report."""

    @property
    def anchors(self) -> Mapping[str, str]:
        """The place of the definition of each metric that has one."""

    def metric(self, name: str) -> MetricInfo:
        """Return what is known of a metric."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name that somebody chose; a page keeps its direction of writing apart from that of the sentence."""

    text: str
    strong: bool = False
    """``True`` to let it stand out."""


@dataclass(frozen=True, slots=True)
class Strong:
    """Words that stand out."""

    text: str


@dataclass(frozen=True, slots=True)
class Small:
    """Words in small type."""

    text: str


@dataclass(frozen=True, slots=True)
class Gloss:
    """Words that explain the name before them, such as the language behind its code."""

    text: str


@dataclass(frozen=True, slots=True)
class Marked:
    """The part of an excerpt that matters."""

    text: str


@dataclass(frozen=True, slots=True)
class State:
    """The word for how something went."""

    text: str
    bad: bool = False


@dataclass(frozen=True, slots=True)
class Code:
    """Text that people type, such as the id of a metric."""

    text: str


@dataclass(frozen=True, slots=True)
class Digest:
    """A digest of a file or text, in a small type of fixed width; in a cell it has a line of its own."""

    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """Words that lead to another place of the report."""

    place: str
    text: str


@dataclass(frozen=True, slots=True)
class Term:
    """The name or unit of a metric, which leads to its definition where the document has one."""

    metric: str
    text: str
    """Empty if there is nothing to say but that it leads there."""


@dataclass(frozen=True, slots=True)
class Raised:
    """A small raised mark behind a name, such as ‡."""

    text: str


@dataclass(frozen=True, slots=True)
class ChartKey:
    """The mark of a line or point of a chart, with its name."""

    mark: Picture
    text: str
    remark: str = ""
    """A few words behind the name."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a text."""

    text: str
    """Its part of the text, made visible with its spaces."""
    title: str
    """The words for a reader who points at it, such as its id."""
    differs: bool = False
    """``True`` if it is not a token of every tokenizer beside it."""
    partial: bool = False
    """``True`` if its bytes are not whole characters."""
    breaks: bool = False
    """``True`` if a line ends in it."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The number of tokens of a text, and the first of them."""

    tokens: Sequence[Token]
    mark: str = ""
    """A mark behind the number."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The colours of a heat map, between the numbers that its ends stand for."""

    low: str
    high: str
    levels: int


Inline = (
    str
    | Name
    | Strong
    | Small
    | Gloss
    | Marked
    | State
    | Code
    | Digest
    | Link
    | Term
    | Raised
    | ChartKey
    | Tokens
    | Scale
)
Line = Inline | Sequence[Inline]
"""A line of text: a piece, or pieces that stand one behind the other."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading inside a section."""

    line: Line
    level: Literal[3, 4] = 3
    id: str = ""
    """The place that links lead to; empty for none."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph."""

    line: Line
    kind: Literal["", "advice", "headline", "lead", "legend", "bad", "ids"] = ""
    """``advice`` is narrower than other text, ``headline`` is what a reader repeats to a colleague, ``lead`` stands
    out, ``legend`` is small, ``bad`` says what went wrong, ``ids`` are numbers of one width."""


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of sentences."""

    lines: Sequence[Line]
    look: str = ""
    """Classes of the style sheet: ``notes``."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Lines of a file as they are."""

    text: str


@dataclass(frozen=True, slots=True)
class TokenText:
    """All tokens of a text, each in a box that a reader can point at."""

    tokens: Sequence[Token]
    label: str
    """The name of the text for a screen reader."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCell:
    """A cell with text. A cell that is a plain string or :class:`Name` needs none of this."""

    line: Line = ""
    small: Sequence[Line] = ()
    """Further lines in small type."""
    look: str = ""
    """Classes of the style sheet: ``prose``, ``text`` (an excerpt), ``pale``, ``none``, ``h0`` to ``h8``, ``best``."""
    title: str = ""
    """All that stands behind it, shown when it is opened."""
    value: float | str | None = None
    """The value that its column is sorted by."""
    data: str = ""
    """The number of the text that it opens; empty for none."""
    span: int = 1
    """The number of columns over which it goes."""
    head: str = ""
    """The name of its column, where a narrow page writes it before the text."""
    names: bool = False
    """``True`` if it names its row though it is not the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCell:
    """A measured cell."""

    cell: DisplayCell
    interval: bool = False
    """``True`` to write the interval below the number."""
    level: int | None = None
    """The strength of its colour in a heat map."""
    heat: bool = False
    """``True`` in a heat map, where a cell without a level is pale."""


TableCell = Line | TextCell | MeasuredCell


@dataclass(frozen=True, slots=True)
class Column:
    """The head of a column."""

    line: Line
    numeric: bool = False
    """``True`` to set it to the right."""
    sort: Literal["", "ascending", "descending"] = ""
    """The order of a first click on its name; empty if the table is not sorted by it."""
    mark: str = ""
    """A mark behind the name, which is no part of it."""
    below: Line = ""
    """A second line, such as the corpus."""
    unit: Term | str = ""
    key: str = ""
    """The metric and corpus by which links name it."""
    title: str = ""
    upright: bool = False
    """``True`` to turn a long name, where many narrow columns stand side by side."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row; its first cell names it, unless ``named`` says that it does not."""

    cells: Sequence[TableCell]
    look: str = ""
    """Classes of the style sheet: ``whole``, ``gone``."""
    id: str = ""
    aside: bool = False
    """``True`` to sort it behind the others."""
    named: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """A table in a box that scrolls."""

    caption: Line
    columns: Sequence[Column]
    rows: Sequence[Row]
    label: str = ""
    """The name of the box for a screen reader; empty for the caption."""
    look: str = ""
    """Classes of the style sheet: ``heat``, ``neutral``, ``tight``, ``pairs``, ``probe``, ``changes``."""
    tall: bool = False
    """``True`` to scroll inside the box."""
    fit: bool = False
    """``True`` to show as many columns as there is room for."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart, with what stands below it."""

    picture: Picture
    caption: Line = ""
    label: str = ""
    """The name of the box around it for a screen reader; empty for no box."""
    beside: bool = False
    """``True`` to write the caption beside the chart, each piece on a line of its own, where there is room."""
    narrow: Picture | None = None
    """The same chart for a phone; ``None`` if one serves for both."""


@dataclass(frozen=True, slots=True)
class Multiples:
    """Small charts side by side."""

    pictures: Sequence[Picture | Figure]
    look: str = ""
    """Classes of the style sheet: ``wide``, ``profiles``, ``panes``, ``first``."""


@dataclass(frozen=True, slots=True)
class Pane:
    """One of several things to choose from."""

    name: str
    nodes: Sequence[Node]
    family: str = ""
    """The heading of a menu under which it stands."""
    value: str = ""
    """The word for it in a link; empty for its name."""


@dataclass(frozen=True, slots=True)
class Chooser:
    """Panes; a format shows one at a time, and all of them if it offers no choice."""

    purpose: str
    id: str
    panes: Sequence[Pane]
    key: str = ""
    """The key of the choice in a link; empty for the id."""
    packed: bool = False
    """``True`` to pack all panes but the first until somebody asks for them, because they are large."""
    away: bool = False
    """``True`` to pack the first one, too, because all of it stands in a pane that is not shown at first."""


@dataclass(frozen=True, slots=True)
class TokenChooser:
    """Texts as tokens, of which a reader chooses one, and the tokenizers that cut it; a document has one at most.

    A format without choice shows the first texts.
    """

    texts: Sequence[Pane]
    """All texts; those beyond the first need no nodes."""
    first: Sequence[int]
    """The numbers of the texts that are shown without a script; with it a reader begins with the first of them."""
    names: Sequence[str]
    """All tokenizers."""
    chosen: Sequence[str]
    """The tokenizers that are shown at first."""
    data: str
    """All texts with all tokenizers, for the script of the page."""


@dataclass(frozen=True, slots=True)
class Details:
    """Nodes that stay closed until a reader opens them."""

    summary: Line
    nodes: Sequence[Node]
    open: bool = False
    packed: bool = False
    """``True`` to pack them until then, because they are large."""


@dataclass(frozen=True, slots=True)
class Cards:
    """Parts that stand side by side where there is room."""

    cards: Sequence[Sequence[Node]]
    wide: bool = False
    """``True`` to give each the whole width."""


@dataclass(frozen=True, slots=True)
class Note:
    """Nodes that must not be overlooked."""

    nodes: Sequence[Node]


@dataclass(frozen=True, slots=True)
class Rich:
    """Nodes that only a page can show; a format of plain text shows ``plain`` in their place."""

    nodes: Sequence[Node] | Callable[[], Sequence[Node]]
    """A function makes them only for a format that shows them; many charts take long to draw."""
    plain: Sequence[Node] = ()

    def made(self) -> Sequence[Node]:
        """Return the nodes of the page."""
        return self.nodes() if callable(self.nodes) else self.nodes


Node = (
    Heading | Paragraph | Bullets | Listing | TokenText | Table | Figure | Multiples
    | Chooser | TokenChooser | Details | Cards | Note | Rich
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a report."""

    id: str
    """The place that links lead to; empty for none."""
    title: Line
    """Empty for none."""
    nodes: Sequence[Node]
    folded: bool = True
    """``False`` to show it on a page before a reader unfolds it."""


def measured_column(series: Series, name: str = "", below: str = "") -> Column:
    """Return the head of a metric: it sorts from the best on, and its unit leads to the definition.

    Args:
        series: the metric.
        name: a name other than its label.
        below: a second line.
    """
    return Column(
        name or series.label,
        numeric=True,
        sort="ascending" if series.direction == "lower" else "descending",
        below=below,
        unit=Term(series.metric, series.unit_label),
        key=f"{series.metric}@{series.corpus}",
    )


def legend_lines(lines: Sequence[str]) -> list[Node]:
    """Return a small paragraph for each meaning of a mark."""
    return [Paragraph(f"{line}.", "legend") for line in lines]


def sentence_paragraphs(sentences: Sequence[str]) -> list[Node]:
    """Return a paragraph for each sentence. The first sentence says most."""
    return [Paragraph(sentence, "" if number else "lead") for number, sentence in enumerate(sentences)]


def captioned(table: Table) -> Rich:
    """Return a table whose caption stands in plain text as well, because it says what no heading says."""
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
