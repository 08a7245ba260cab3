"""The document model: one section, and what each format makes of its nodes."""

from tokbench.report.cells import DisplayCell
from tokbench.report.charts.svg import Drawing
from tokbench.report.document import (
    Bullets,
    Chooser,
    Column,
    Details,
    Digest,
    Figure,
    Heading,
    Key,
    Listing,
    Marked,
    MeasuredCell,
    Multiples,
    Name,
    Pane,
    Paragraph,
    Rich,
    Row,
    Section,
    Strong,
    Table,
    Term,
    TextCell,
)
from tokbench.report.html_nodes import HtmlNodes
from tokbench.report.markdown_nodes import section_markdown
from tokbench.report.tables import CellTables
from tokbench.results.blocks import MetricInfo
from tokbench.results.model import Results


def circle(title=""):
    drawing = Drawing(10, 10, title)
    drawing.draw("circle", r=4)
    return drawing


HOSTILE = "<i>|*\u202e"
BEST = DisplayCell(text="4.5", value=4.5, best=True, interval="4–5", title="4.5 bytes")
GONE = DisplayCell(text="failed", title="it broke", missed=True)
COLUMNS = [
    Column("name", sort="ascending"),
    Column("size", numeric=True, sort="descending", below="corpus", unit=Term("m", "bytes"), key="m@c"),
    Column("long", upright=True, title="the long name"),
]
ROWS = [
    Row(
        [
            Name(HOSTILE),
            MeasuredCell(cell=BEST, interval=True),
            TextCell(line="x", small=["y"], look="prose", title="t", value=2),
        ]
    ),
    Row(["b", MeasuredCell(cell=GONE), MeasuredCell(cell=BEST, heat=True, level=3)], look="gone", id="r", aside=True),
    Row(["c", "1", ["of ", Digest("ab12")]], named=False),
]
SECTION = Section(
    "one",
    "One",
    [
        Heading(["On ", Name("c")], id="there"),
        Paragraph(["So ", Strong("much"), " of ", Marked("it"), Key(circle(), "line")], "legend"),
        Paragraph(Strong("Take 5."), "advice"),
        Listing("a:\n  <b>\x1b\n"),
        Bullets(["first", ["second ", Name("s")]]),
        Table("Numbers", COLUMNS, ROWS, tall=True),
        Figure(circle("A circle"), caption="below", label="box"),
        Multiples([circle("one"), circle("two")], look="wide"),
        Chooser("Which", "pick", [Pane("a", [Paragraph("in a")]), Pane("b", [Paragraph("in b")])], packed=True),
        Details("More", [Paragraph("hidden")]),
        Rich([Paragraph("page alone")], plain=[Paragraph("text alone")]),
    ],
)


def test_a_page_has_every_node():
    page = HtmlNodes(CellTables(Results(name="r", metrics={"m": MetricInfo(formula="bytes / tokens")}))).section(
        SECTION
    )
    assert page.startswith('<section id="one">\n<h2>One</h2>\n<h3 id="there">On <bdi>c</bdi></h3>')
    assert "<strong>much</strong> of <mark><bdi>it</bdi></mark>" in page
    assert '<p class="advice"><strong>Take 5.</strong></p>' in page
    assert "<pre>a:\n  &lt;b&gt;\\u{1b}\n</pre>" in page
    assert '<tr><td>c</td><td class="n">1</td><td>of <span class="hash">ab12</span></td></tr>' in page
    assert "<li>second <bdi>s</bdi></li>" in page
    assert page.count("<svg") == 4
    assert "&lt;svg" not in page
    assert '<a class="unit" href="#metric-0" title="bytes / tokens">bytes</a>' in page
    assert '<td class="n best" data-v="4.5" title="4.5 bytes">4.5<small>4–5</small></td>' in page
    assert '<td class="n none missed" title="it broke">failed</td>' in page
    assert '<td class="h3 best" title="4.5 bytes">' in page
    assert '<tr class="gone" id="r" data-aside>' in page
    assert "&lt;i&gt;|*\\u{202e}" in page
    assert "page alone" in page
    assert "text alone" not in page
    assert '<button type="button" aria-pressed="true" value="a" data-shows="pick-0">a</button>' in page
    assert "in a" in page
    assert "in b" not in page, "it is packed"
    assert '<div class="pane" id="pick-1" data-packed hidden>' in page


def test_many_panes_stand_in_a_menu_by_family():
    panes = [Pane(str(k), [Paragraph("x")], family=f"f{k // 5}", value=f"v{k}") for k in range(10)]
    page = HtmlNodes(CellTables(Results(name="r"))).node(Chooser("Which", "pick", panes, key="metric"))
    assert page.count("<optgroup") == 2
    assert '<option value="v9" data-shows="pick-9">9</option>' in page
    assert 'data-key="metric"' in page
    assert "<option" not in HtmlNodes(CellTables(Results(name="r"))).node(Chooser("Which", "pick", panes[:1]))


def test_markdown_has_what_text_can_show():
    text = section_markdown(SECTION)
    assert text.startswith(
        "## One\n\n### On c\n\nSo **much** of **it**line\n\n**Take 5.**\n\n    a:\n      <b>\\u{1b}\n\n- first\n- second s\n"
    )
    assert "| name | size corpus | long |\n| --- | ---: | ---: |" in text
    assert "| &lt;i&gt;\\|\\*\\\\u{202e} | **4.5** [4–5] | x; y |" in text
    assert "| c | 1 | of ab12 |" in text
    assert "in a\n\nin b\n\nhidden\n\ntext alone\n" in text
    assert "page alone" not in text
    assert "svg" not in text
