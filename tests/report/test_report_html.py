"""The document model in each format, and the page: whole by itself, escaped throughout, and complete."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest
from report_data import HOSTILE, SCRIPT, build, everything_failed

from tokbench.formats import html
from tokbench.report import document as doc
from tokbench.report.cells import DisplayCell
from tokbench.report.charts.svg import Drawing
from tokbench.report.html_nodes import HtmlNodes
from tokbench.report.tables import CellTables
from tokbench.results.blocks import MetricInfo
from tokbench.results.cells import Cell
from tokbench.results.model import Results

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """Checks that tags are balanced, and collects what a test asks for."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names))
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    def all(self, name: str) -> list[dict[str, str | None]]:
        return [attrs for tag, attrs in self.tags if tag == name]

    def values(self, attribute: str) -> list[str]:
        return [attrs[attribute] or "" for _, attrs in self.tags if attribute in attrs]


@pytest.fixture(scope="module")
def text() -> str:
    return html.render(build())


@pytest.fixture(scope="module")
def page(text) -> Page:
    return Page(text)


def test_harmful_text_is_only_text(text, page):
    text.encode()
    assert len(page.all("script")) == 1
    assert not [hostile for hostile in HOSTILE[:5] if hostile in text]
    assert not [char for char in text if ord(char) < 32 and char != "\n"]
    assert any(SCRIPT in data for data in page.texts), "a reader sees what was there"


def test_nothing_is_loaded_or_handled(text, page):
    for _, attrs in page.tags:
        assert not [name for name in attrs if name.startswith("on")]
        assert not {"src", "srcset", "action", "data", "xlink:href"} & set(attrs)
    assert all(href.startswith("#") for href in page.values("href"))
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert not re.search(r"url\(|@import", style[1])


def test_the_policy_allows_this_script_alone(text, page):
    policy = next(meta["content"] for meta in page.all("meta") if "http-equiv" in meta)
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")


def test_every_reference_has_its_target_once(page):
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert {href.removeprefix("#") for href in page.values("href")} <= set(ids)
    assert set(page.values("data-shows")) <= set(ids)


def test_missing_numbers_have_words(text):
    cells = re.findall(r'<td class="[^"]*?none( missed)?"[^>]*>([^<]+)</td>', text)
    missed = {word for mark, word in cells if mark}
    assert {"timeout", "failed", "unavailable"} <= missed
    assert {word for mark, word in cells if not mark} >= {"n/a"}
    assert "n/a" not in missed
    numbers = re.findall(r'<td class="(?:n|h\d|none)[^"]*"[^>]*>(.*?)</td>', text)
    assert not {"", "nan", "None", "inf"} & set(numbers)
    assert re.search(r'title="[^"]*90% of the documents[^"]*">[\d.]+<sup>†‡?</sup>', text)


def test_runs_without_numbers_have_pages():
    failed = html.render(everything_failed())
    for text in (
        failed,
        html.render(Results(name="empty")),
        html.render(Results(name="r", cells=[Cell("a", "c", "g", "m", 1.0)])),
    ):
        Page(text)
    assert "it did not load" in failed


def circle(title=""):
    drawing = Drawing(10, 10, title)
    drawing.draw("circle", r=4)
    return drawing


HOSTILE_DOCUMENT = "<i>|*\u202e"
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
            doc.Name(HOSTILE_DOCUMENT),
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
