"""The document model: one section, and what each format makes of its nodes."""

from tokbench.report import document as doc
from tokbench.report.cells import DisplayCell
from tokbench.report.charts.svg import Drawing
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
    doc.Column("name", sort="ascending"),
    doc.Column("size", numeric=True, sort="descending", below="corpus", unit=doc.Term("m", "bytes"), key="m@c"),
    doc.Column("long", upright=True, title="the long name"),
]
ROWS = [
    doc.Row(
        [
            doc.Name(HOSTILE),
            doc.MeasuredCell(cell=BEST, interval=True),
            doc.TextCell(line="x", small=["y"], look="prose", title="t", value=2),
        ]
    ),
    doc.Row(
        ["b", doc.MeasuredCell(cell=GONE), doc.MeasuredCell(cell=BEST, heat=True, level=3)],
        look="gone",
        id="r",
        aside=True,
    ),
    doc.Row(["c", "1", ["of ", doc.Code("ab12")]], named=False),
]
SECTION = doc.Section(
    "one",
    "One",
    [
        doc.Heading(["On ", doc.Name("c")], id="there"),
        doc.Paragraph(["So ", doc.Strong("much"), " of ", doc.Strong("it"), doc.ChartKey(circle(), "line")], "legend"),
        doc.Paragraph([doc.Strong("Take"), " 5."], "advice"),
        doc.Listing("a:\n  <b>\x1b\n"),
        doc.Bullets(["first", ["second ", doc.Name("s")]]),
        doc.Table("Numbers", COLUMNS, ROWS),
        doc.Figure(circle("A circle"), caption="below", label="box"),
        doc.Multiples([circle("one"), circle("two")], look="wide"),
        doc.Chooser(
            "Which",
            "pick",
            [doc.Pane("a", [doc.Paragraph("in a")]), doc.Pane("b", [doc.Paragraph("in b")])],
            packed=True,
        ),
        doc.Details("More", [doc.Paragraph("hidden")]),
        doc.Rich([doc.Paragraph("page alone")], plain=[doc.Paragraph("text alone")]),
    ],
)


def page_of(*nodes):
    metrics = {"m": MetricInfo(formula="bytes / tokens")}
    return HtmlNodes(CellTables(Results(name="r", metrics=metrics))).nodes(nodes)


def lacking(text, *parts):
    """Return the parts that a text does not have."""
    return [part for part in parts if part not in text]


def test_a_page_has_every_node():
    page = HtmlNodes(CellTables(Results(name="r", metrics={"m": MetricInfo(formula="bytes / tokens")}))).section(
        SECTION
    )
    expected = (
        '<section id="one">\n<h2>One</h2>\n<h3 id="there">On <bdi>c</bdi></h3>',
        "<strong>much</strong> of <strong>it</strong>",
        '<p class="advice"><strong>Take</strong> 5.</p>',
        "<pre>a:\n  &lt;b&gt;\\u{1b}\n</pre>",
        '<tr><td>c</td><td class="n">1</td><td>of <code>ab12</code></td></tr>',
        "<li>second <bdi>s</bdi></li>",
        '<a class="unit" href="#metric-0" title="bytes / tokens">bytes</a>',
        '<td class="n best" data-v="4.5" title="4.5 bytes">4.5<small>4–5</small></td>',
        '<td class="n none missed" title="it broke">failed</td>',
        '<td class="h3 best" title="4.5 bytes">',
        '<tr class="gone" id="r" data-aside>',
        "&lt;i&gt;|*\\u{202e}",
        "page alone",
        '<button type="button" aria-pressed="true" value="a" data-shows="pick-0">a</button>',
        '<div class="pane" id="pick-1" data-packed hidden>',
    )
    assert lacking(page, *expected) == []
    assert page.count("<svg") == 4
    assert lacking(page, "text alone", "in b", "&lt;svg") == ["text alone", "in b", "&lt;svg"], "in b is packed"


def test_markdown_has_what_text_can_show():
    text = section_markdown(SECTION)
    assert text.startswith(
        "## One\n\n### On c\n\nSo **much** of **it**line\n\n**Take** 5.\n\n    a:\n      <b>\\u{1b}\n"
    )
    expected = (
        "| name | size corpus (bytes) | long |\n| --- | ---: | ---: |",
        "| &lt;i&gt;\\|\\*\\\\u{202e} | **4.5** [4–5] | x; y |",
        "| c | 1 | of ab12 |",
        "in a\n\nin b\n\nMore\n\nhidden\n\ntext alone\n",
    )
    assert lacking(text, *expected) == []
    assert "page alone" not in text
    assert "svg" not in text


def text_of(*nodes):
    return section_markdown(doc.Section("", "", nodes))


def test_only_a_page_makes_what_takes_long():
    made = []
    charts = [doc.Multiples([circle("one"), doc.Figure(circle("two"), "below", label="wide", beside=True)])]
    rich = doc.Rich(lambda: made.append("page") or charts, plain=[doc.Paragraph("short")])
    assert (text_of(rich), made) == ("short\n", [])
    page = page_of(rich)
    assert (page.count("<figure>"), made) == (2, ["page"])
    assert page.count('<div class="box" tabindex="0" role="region" aria-label="wide">') == 1
    assert page.index('<div class="lorenz">') < page.index("<figcaption>below</figcaption>")


TOKENS = [doc.Token("a", "id 1", breaks=True), doc.Token(HOSTILE, "id 2", differs=True, partial=True)]
TEXTS = doc.TokenChooser(
    texts=[
        doc.Pane("far", [], family="worst"),
        doc.Pane(
            "near",
            [doc.Heading(["near ", doc.Small("2 tokens")], 4), doc.TokenText(TOKENS, "Tokens of b")],
            family="named",
        ),
        doc.Pane("third", [], family="worst"),
    ],
    first=[1],
    names=["a", "b"],
    chosen=["b"],
    data="[]",
)


def test_a_page_has_each_token_in_a_box():
    shown = HtmlNodes().node(TEXTS)
    expected = (
        '<p class="tokens" tabindex="0" role="group" aria-label="Tokens of b"><span class="token" title="id 1">',
        "<bdi>a</bdi></span><br><span",
        '<span class="token differs part" title="id 2"><bdi>&lt;i&gt;|*\\u{202e}</bdi></span></p>',
        '<div class="cut">\n<h4>near <small>2 tokens</small></h4>',
        '<optgroup label="worst">\n<option value="0">far</option>\n<option value="2">third</option>\n</optgroup>',
        '<option value="1" selected>near</option>',
        '<input type="checkbox"> <bdi>a</bdi>',
        '<input type="checkbox" checked> <bdi>b</bdi>',
    )
    assert lacking(shown, *expected) == []
    assert shown.count('<div class="cut">') == 1


def test_plain_text_and_lines_have_the_first_tokens():
    many = doc.Tokens([doc.Token("x", f"id {k}") for k in range(1000)], "‡")
    text = section_markdown(doc.Section("t", "T", [TEXTS, doc.Paragraph(many)]), level=3)
    assert text.startswith("### T\n\n#### near 2 tokens\n\n2: a ¦ &lt;i&gt;\\|\\*\\\\u{202e}\n\n1,000‡: x ¦ x")
    assert text.endswith("x and 976 more\n")
    shown = HtmlNodes().node(doc.Paragraph(many))
    assert shown.startswith('<p><b>1,000<sup>‡</sup></b> <span class="token" title="id 0"><bdi>x</bdi></span>')
    assert shown.endswith(" <em>and 940 more</em></p>\n")
