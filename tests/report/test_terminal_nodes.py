"""The document model on a terminal: tables within its width, and nothing that acts on it."""

from __future__ import annotations

import io

from rich.console import Console

from tokbench.measuring.round_trip import RoundTrip
from tokbench.report.cells import DisplayCell
from tokbench.report.document import (
    Bullets,
    Chooser,
    Column,
    Figure,
    Heading,
    Listing,
    MeasuredCell,
    Name,
    Note,
    Pane,
    Paragraph,
    Rich,
    Row,
    Section,
    State,
    Strong,
    Table,
    Term,
    TextCell,
)
from tokbench.report.terminal_nodes import print_document


def printed(*nodes, width=80, colours=False):
    console = Console(file=io.StringIO(), width=width, force_terminal=colours, highlight=False)
    print_document(console, "Title", "What it is.", [Section("s", "Numbers", nodes)])
    lines = [line.rstrip() for line in console.file.getvalue().splitlines()]
    return lines if colours else [line for line in lines[3:] if line]


def test_every_node_of_plain_text_is_printed():
    lines = printed(
        Heading("Heading", 4),
        Paragraph(["of ", Name("gpt-4"), Strong(" all")]),
        Bullets(["one", ["two ", Name("b")]]),
        Listing("[bold]a\nb"),
        Note([Paragraph("Stopped.")]),
        Chooser("choose", "c", [Pane("one", [Paragraph("first")]), Pane("two", [Paragraph("second")])]),
        Rich([Paragraph("only a page")], plain=[Paragraph("plain")]),
    )
    assert lines == [
        *("Numbers", "Heading", "of gpt-4 all", "  - one", "  - two b", "[bold]a", "b"),
        *("  Stopped.", "first", "second", "plain"),
    ]


def test_a_table_leaves_out_columns_that_say_nothing_and_sets_numbers_to_the_right():
    columns = [Column("name"), Column("size", numeric=True, unit=Term("m", "ids")), Column("nothing")]
    cells = [DisplayCell(text="1,000", best=True), DisplayCell(text="5", round_trip=RoundTrip.LOSSY)]
    rows = [Row([name, MeasuredCell(cell=cell), ""]) for name, cell in zip(("a", "long"), cells, strict=True)]
    assert printed(Table("A caption", columns, rows))[1:] == [
        *("         size", "name      ids", "─" * 13, "a       1,000", "long       5‡"),
    ]


def test_a_table_takes_no_more_than_the_width():
    row = Row([TextCell(line=State("worse " * 30, bad=True), small=["below"]), TextCell(line="x" * 200)])
    lines = printed(Table("", [Column("one"), Column("two")], [row]), width=50)
    assert max(map(len, lines)) <= 50
    assert sum(line.count("x") for line in lines) == 200
    assert sum(line.count("worse") for line in lines) == 30


def test_no_sequence_and_no_markup_of_a_name_reaches_the_terminal():
    name = "[red]\x1b[31m\u202e"
    nodes = [Heading(Name(name)), Table("", [Column(name)], [Row([name]), Row([TextCell(line=name)])]), Listing(name)]
    shown = "\n".join(printed(*nodes))
    assert shown.count("[red]\\u{1b}[31m\\u{202e}") == 5
    assert "\x1b" not in shown
    assert any("\x1b[1mTitle" in line for line in printed(*nodes, colours=True))


def test_charts_are_left_out():
    class Drawn:
        title = "a chart"

        def __html__(self):
            return "<svg></svg>"

    assert printed(Figure(Drawn())) == ["Numbers"]
