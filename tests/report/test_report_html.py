"""The page: whole by itself, escaped throughout, and complete."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest
from report_data import HOSTILE, METRICS, PLUGIN_METRIC, SCRIPT, build, everything_failed

from tokbench.formats import html
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


def test_every_metric_is_defined(text, page):
    results = build()
    for name in [*METRICS, PLUGIN_METRIC]:
        assert re.search(rf'<tr id="metric-\d+"><th scope="row"><code>{name}</code>', text)
    known = {*results.metrics, *(cell.metric for cell in results.cells)}
    assert len([name for name in page.values("id") if name.startswith("metric-")]) == len(known)


def test_tables_are_sortable_and_accessible(text, page):
    heads = [attrs for attrs in page.all("th") if "data-sort" in attrs]
    assert {attrs["data-sort"] for attrs in heads} == {"number", "text"}
    assert {attrs["data-first"] for attrs in heads} == {"ascending", "descending"}
    assert page.values("data-v")
    for cell in page.all("td"):
        assert "none" not in (cell.get("class") or "").split() or "data-v" not in cell
    assert text.count("<caption>") == len(page.all("table"))
    assert all(head.get("scope") in {"col", "row"} for head in page.all("th"))
    assert all("aria-label" in attrs for _, attrs in page.tags if attrs.get("role") == "region")


def test_first_heat_maps_are_there_the_others_packed(page):
    maps = [attrs for attrs in page.all("table") if attrs.get("class") == "heat sortable"]
    assert len(maps) == 3, "the first of each corpus with several groups"
    panes = [attrs for _, attrs in page.tags if "data-packed" in attrs and "hidden" in attrs]
    assert len(page.all("template")) >= len(panes) > 20


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_on_colour_has_contrast(text, scheme):
    blocks = re.findall(r":root \{(.*?)\}", text, re.DOTALL)
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]+)", blocks[scheme == "dark"]))
    pairs = [("on-light" if level < 6 else "on-dark", f"h{level}") for level in range(9)]
    pairs += [(ink, "page") for ink in ("ink", "soft", "link", "bad", *(f"p{number}" for number in range(8)))]
    assert [pair for pair in pairs if contrast(*(colours[name] for name in pair)) < 4.5] == []


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[k : k + 2], 16) / 255 for k in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
