"""The document model: one section, and what each format makes of its nodes."""

import pytest

from tokbench.report.cells import DisplayCell, Series
from tokbench.report.charts.svg import Drawing
from tokbench.report.document import (
    Bullets,
    Cards,
    ChartKey,
    Chooser,
    Column,
    Details,
    Digest,
    Figure,
    Gloss,
    Heading,
    Listing,
    Marked,
    MeasuredCell,
    Multiples,
    Name,
    Note,
    Pane,
    Paragraph,
    Raised,
    Rich,
    Row,
    Scale,
    Section,
    Small,
    Strong,
    Table,
    Term,
    TextCell,
    Token,
    TokenChooser,
    Tokens,
    TokenText,
    captioned,
    measured_column,
    sentence_paragraphs,
)
from tokbench.report.html_nodes import HtmlNodes
from tokbench.report.html_nodes import page as html_page
from tokbench.report.markdown_nodes import nodes_markdown, section_markdown
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
        Paragraph(["So ", Strong("much"), " of ", Marked("it"), ChartKey(circle(), "line")], "legend"),
        Paragraph([Strong("Take"), " 5."], "advice"),
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
    tables = CellTables(Results(name="r", metrics={"m": MetricInfo(formula="bytes / tokens")}))
    page = HtmlNodes(tables).section(SECTION)
    assert page.startswith('<section id="one">\n<h2>One</h2>\n<h3 id="there">On <bdi>c</bdi></h3>')
    assert "<strong>much</strong> of <mark><bdi>it</bdi></mark>" in page
    assert '<p class="advice"><strong>Take</strong> 5.</p>' in page
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
    page = HtmlNodes().node(Chooser("Which", "pick", panes, key="metric"))
    assert page.count("<optgroup") == 2
    assert '<option value="v9" data-shows="pick-9">9</option>' in page
    assert 'data-key="metric"' in page
    assert "<option" not in HtmlNodes().node(Chooser("Which", "pick", panes[:1]))


def test_markdown_has_what_text_can_show():
    text = section_markdown(SECTION)
    assert text.startswith(
        "## One\n\n### On c\n\nSo **much** of **it**line\n\n**Take** 5.\n\n    a:\n      <b>\\u{1b}\n\n- first\n- second s\n"
    )
    assert "| name | size corpus (bytes) | long |\n| --- | ---: | ---: |" in text
    assert "| &lt;i&gt;\\|\\*\\\\u{202e} | **4.5** [4–5] | x; y |" in text
    assert "| c | 1 | of ab12 |" in text
    assert "in a\n\nin b\n\nMore\n\nhidden\n\ntext alone\n" in text
    assert "page alone" not in text
    assert "svg" not in text


def shown(*nodes):
    """The nodes in a page and in plain text."""
    return HtmlNodes(CellTables(Results(name="r"))).nodes(nodes), nodes_markdown(nodes)


def test_cards_stand_side_by_side_and_the_first_of_their_sentences_leads():
    page, text = shown(Cards([sentence_paragraphs(["Take it.", "It is small."]), [Bullets(["b"])]], wide=True))
    assert page.startswith('<div class="cards wide">\n<article>\n<p class="lead">Take it.</p>\n<p>It is small.</p>')
    assert page.count("<article>") == 2
    assert text == "**Take it.**\n\nIt is small.\n\n- b\n"


def test_a_note_is_a_quotation_in_plain_text():
    page, text = shown(Note([Paragraph("Stopped."), Details("Shares", [Paragraph("c 92 %")])]))
    assert page.startswith('<div class="note" role="note">\n<p>Stopped.</p>\n<details>')
    assert text == "> Stopped.\n>\n> Shares\n>\n> c 92 %\n"


def test_marks_stand_behind_names():
    table = Table(
        "Sizes",
        [Column("line", sort="ascending"), Column("a", mark="‡", numeric=True)],
        [
            Row([TextCell(line=["b", Raised("†")]), "1"]),
            Row(["2", TextCell(line=Name("c", strong=True), look="best")], named=False),
        ],
    )
    page, text = shown(captioned(table))
    assert '<th scope="col" class="n">a<sup>‡</sup></th>' in page
    assert '<tr><th scope="row">b<sup>†</sup></th><td class="n">1</td></tr>' in page
    assert '<tr><td>2</td><td class="n best"><b><bdi>c</bdi></b></td></tr>' in page
    assert text == "Sizes\n\n| line | a‡ |\n| --- | ---: |\n| b† | 1 |\n| 2 | **c** |\n"


def test_charts_may_have_boxes_and_what_takes_long_is_made_for_a_page_alone():
    made = []

    def charts():
        made.append("charts")
        return [Multiples([circle("one"), Figure(circle("two"), label="wide")])]

    assert nodes_markdown([Rich(charts)]) == ""
    assert not made
    page, _ = shown(Rich(charts))
    assert page.count("<figure>") == 2
    assert page.count('<div class="box" tabindex="0" role="region" aria-label="wide">') == 1


def test_a_number_begins_no_list_and_is_left_alone_in_a_cell():
    _, text = shown(Paragraph(["3. of ", "4.5"]), Table("", [Column("a")], [Row(["4.5"])]))
    assert text == "3\\. of 4.5\n\n| a |\n| --- |\n| 4.5 |\n"


TOKENS = [Token("a", "id 1", breaks=True), Token(HOSTILE, "id 2", differs=True, partial=True)]
TEXTS = TokenChooser(
    texts=[
        Pane("far", [], family="worst"),
        Pane("near", [Heading(["near ", Small("2 tokens")], 4), TokenText(TOKENS, "Tokens of b")], family="named"),
        Pane("third", [], family="worst"),
    ],
    first=[1],
    names=["a", "b"],
    chosen=["b"],
    data="[]",
)


def test_a_page_has_each_token_in_a_box_and_the_choice_of_texts_around_them():
    shown = HtmlNodes().node(TEXTS)
    assert (
        '<p class="tokens" tabindex="0" role="group" aria-label="Tokens of b"><span class="token" title="id 1">'
        in shown
    )
    assert "<bdi>a</bdi></span><br><span" in shown
    assert '<span class="token differs part" title="id 2"><bdi>&lt;i&gt;|*\\u{202e}</bdi></span></p>' in shown
    assert '<div class="cut">\n<h4>near <small>2 tokens</small></h4>' in shown
    assert shown.count('<div class="cut">') == 1
    worst = '<optgroup label="worst">\n<option value="0">far</option>\n<option value="2">third</option>\n</optgroup>'
    assert worst in shown
    assert '<option value="1" selected>near</option>' in shown
    assert '<input type="checkbox"> <bdi>a</bdi>' in shown
    assert '<input type="checkbox" checked> <bdi>b</bdi>' in shown
    assert "there are 3 texts and 2 tokenizers" in shown


def test_plain_text_has_the_first_tokens_and_a_line_has_their_number():
    many = Tokens([Token("x", f"id {k}") for k in range(1000)], "‡")
    section = Section("t", "T", [TEXTS, Paragraph(many)])
    text = section_markdown(section, level=3)
    assert text.startswith("### T\n\n#### near 2 tokens\n\n2: a ¦ &lt;i&gt;\\|\\*\\\\u{202e}\n\n1,000‡: x ¦ x")
    assert text.endswith("x and 976 more\n")
    shown = HtmlNodes().node(Paragraph(many))
    assert shown.startswith('<p><b>1,000<sup>‡</sup></b> <span class="token" title="id 0"><bdi>x</bdi></span>')
    assert shown.endswith(" <em>and 940 more</em></p>\n")


def test_a_listing_keeps_its_lines():
    listing = Listing("<a>\n  b\u202e\n")
    assert HtmlNodes().node(listing) == "<pre>&lt;a&gt;\n  b\\u{202e}\n</pre>\n"
    assert section_markdown(Section("s", "", [listing])) == "    <a>\n      b\\u{202e}\n"


def test_a_cell_goes_over_columns_and_may_name_its_row():
    rows = [Row(["1", TextCell(line="t", names=True, head="who"), TextCell(line="gone", span=2)], named=False)]
    table = Table("c", [Column("rank"), Column("who"), Column("x"), Column("y", numeric=True)], rows)
    shown = HtmlNodes().node(table)
    assert '<tr><td>1</td><th scope="row" data-head="who">t</th><td colspan="2">gone</td></tr>' in shown
    assert "| 1 | t | gone |  |\n" in section_markdown(Section("s", "S", [table]))
    with pytest.raises(ValueError, match="a row of 4 cells in a table of 3 columns"):
        HtmlNodes().node(Table("c", table.columns[:3], rows))


def test_plain_text_does_without_what_is_made_for_a_page():
    def fail():
        raise AssertionError

    assert section_markdown(Section("s", "S", [Rich(fail, plain=[Paragraph("short")])])) == "## S\n\nshort\n"
    assert HtmlNodes().node(Rich(lambda: [Paragraph("long")])) == "<p>long</p>\n"


def test_a_page_needs_no_report():
    section = Section("", Name(HOSTILE), [Paragraph([Term("m", "no definition"), Name("n", strong=True)])])
    shown = html_page("<Heading>", "below it", [section], "kind")
    assert "<title>&lt;Heading&gt;: kind</title>" in shown
    assert '<p class="subtitle">below it</p>' in shown
    assert (
        "<section>\n<h2><bdi>&lt;i&gt;|*\\u{202e}</bdi></h2>\n<p>no definition<b><bdi>n</bdi></b></p>\n</section>"
        in shown
    )
    assert HtmlNodes().node(Paragraph("it broke", "bad")) == '<p class="state bad">it broke</p>\n'


def page_of(*nodes):
    return HtmlNodes(CellTables(Results(name="r", metrics={"m": MetricInfo(formula="bytes / tokens")}))).nodes(nodes)


def test_a_name_has_words_that_explain_it_and_a_key_a_remark():
    paragraph = Paragraph(["de ", Gloss("German"), ChartKey(circle(), "gpt", "0.2"), Scale("few", "many", 2)])
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
