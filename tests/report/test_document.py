"""The document model: one section, and what each format makes of its nodes."""

from tokbench.report.cells import DisplayCell, Series
from tokbench.report.charts.svg import Drawing
from tokbench.report.document import (
    Bullets,
    Chooser,
    Column,
    Details,
    Figure,
    Gloss,
    Heading,
    Key,
    Marked,
    MeasuredCell,
    Multiples,
    Name,
    Pane,
    Paragraph,
    Rich,
    Row,
    Scale,
    Section,
    Strong,
    Table,
    Term,
    TextCell,
    measured_column,
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
]
SECTION = Section(
    "one",
    "One",
    [
        Heading(["On ", Name("c")], id="there"),
        Paragraph(["So ", Strong("much"), " of ", Marked("it"), Key(circle(), "line")], "legend"),
        Paragraph("Take 5.", "advice"),
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
    assert '<p class="advice">Take 5.</p>' in page
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
    assert text.startswith("## One\n\n### On c\n\nSo **much** of **it**line\n\n**Take 5.**\n\n- first\n- second s\n")
    assert "| name | size corpus (bytes) | long |\n| --- | ---: | ---: |" in text
    assert "| &lt;i&gt;\\|\\*\\\\u{202e} | **4.5** [4–5] | x; y |" in text
    assert "in a\n\nin b\n\nhidden\n\ntext alone\n" in text
    assert "page alone" not in text
    assert "svg" not in text


def page_of(*nodes):
    return HtmlNodes(CellTables(Results(name="r", metrics={"m": MetricInfo(formula="bytes / tokens")}))).nodes(nodes)


def test_a_name_has_words_that_explain_it_and_a_key_a_remark():
    paragraph = Paragraph(["de ", Gloss("German"), Key(circle(), "gpt", "0.2"), Scale("few", "many", 2)])
    page = page_of(paragraph)
    assert 'de <span class="gloss">German</span>' in page
    assert "<bdi>gpt</bdi> 0.2</span>" in page
    assert 'aria-label="colour scale from few to many">few<i class="h0"></i><i class="h1"></i>many</span>' in page
    assert "de Germangpt 0.2few to many" in section_markdown(Section("s", "S", [paragraph]))


def test_a_measured_column_sorts_from_the_best_on_and_leads_to_its_definition():
    series = Series("m", "size", "size", "c", "*", "", "lower", {})
    table = Table("t", [Column("name", unit="ids"), measured_column(series, below="c")], [])
    page = page_of(table)
    assert '<th scope="col">name<span class="unit">ids</span></th>' in page
    assert 'data-column="m@c" data-sort="number" data-first="ascending"' in page
    assert '<a class="unit" href="#metric-0" title="bytes / tokens">definition</a>' in page
    assert "| name (ids) | size c |" in section_markdown(Section("s", "S", [table]))


def test_what_is_large_is_packed_until_somebody_asks():
    inner = Chooser("Metric", "heat", [Pane("a", [Paragraph("in a")])], packed=True, away=True)
    page = page_of(inner, Details("Charts", [Paragraph("in charts")], packed=True))
    assert "in a" not in page
    assert "in charts" not in page
    assert page.count("<template>") == 2
    assert "<div data-packed><template>" in page


def test_only_a_page_makes_what_takes_long():
    made = []
    rich = Rich(lambda: made.append("page") or [Paragraph("long")], [Paragraph("short")])
    assert "short" in section_markdown(Section("s", "S", [rich]))
    assert not made
    assert "long" in page_of(rich)


def test_a_list_has_its_look_and_a_caption_its_place():
    page = page_of(Bullets(["a"], "notes"), Figure(circle(), "below", beside=True))
    assert '<ul class="notes">' in page
    assert page.index('<div class="lorenz">') < page.index("<figcaption>below</figcaption>")
