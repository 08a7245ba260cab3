"""The page: whole by itself, escaped throughout, and complete."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest
from report_data import HOSTILE, LANGUAGES, METRICS, PLUGIN_METRIC, SCRIPT, build, everything_failed

from tokbench.formats import html
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


def test_it_can_be_written(text):
    text.encode()


def test_hostile_text_is_only_text(text, page):
    assert SCRIPT not in text
    assert len(page.all("script")) == 1
    for hostile in HOSTILE[1:5]:
        assert hostile not in text
    assert "\\u{202e}evil" in text
    # What a reader gets to see is what was there.
    assert any(SCRIPT in data for data in page.texts)


def test_no_control_character_gets_through(text):
    assert not [char for char in text if ord(char) < 32 and char != "\n"]


def test_no_handlers_and_no_network(page):
    for _, attrs in page.tags:
        assert not [name for name in attrs if name.startswith("on")]
        assert not {"src", "srcset", "action", "data", "xlink:href"} & set(attrs)
    assert all(href.startswith("#") for href in page.values("href"))
    assert not page.all("link")


def test_the_style_loads_nothing(text):
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def test_the_policy_allows_this_script_and_nothing_else(text, page):
    policy = next(meta["content"] for meta in page.all("meta") if "http-equiv" in meta)
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)
    assert script is not None
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


def test_tables_can_be_sorted(page):
    assert [table for table in page.all("table") if table.get("class") == "sortable"]
    heads = [attrs for attrs in page.all("th") if "data-sort" in attrs]
    assert {attrs["data-sort"] for attrs in heads} == {"number", "text"}
    assert {attrs["data-first"] for attrs in heads} == {"ascending", "descending"}
    assert page.values("data-v")
    for cell in page.all("td"):
        if "none" in (cell.get("class") or "").split():
            assert "data-v" not in cell


def test_one_heat_map_is_there_and_the_others_are_packed(text, page):
    assert len([attrs for attrs in page.all("table") if (attrs.get("class") or "") == "heat sortable"]) == 1
    panes = [attrs for _, attrs in page.tags if "data-packed" in attrs and "hidden" in attrs]
    assert len(panes) > 20
    assert len(page.all("template")) >= len(panes)


def test_groups_of_languages_have_names_and_others_do_not(text):
    names = re.findall(r'>(\S+) <span class="gloss">(.*?)</span>', text)
    assert {("de", "German"), ("km", "Khmer"), ("sw", "Swahili")} <= set(names)
    assert len(names) == len(LANGUAGES)


def test_what_should_have_a_number_stands_apart_from_what_cannot(text):
    cells = re.findall(r'<td class="[^"]*?none( missed)?"[^>]*>([^<]+)</td>', text)
    missed = {word for mark, word in cells if mark}
    assert {"timeout", "failed", "unavailable"} <= missed
    assert {word for mark, word in cells if not mark} - missed >= {"n/a"}
    assert "n/a" not in missed


def test_tables_are_accessible(text, page):
    assert text.count("<caption>") == len(page.all("table"))
    assert all(head.get("scope") in {"col", "row"} for head in page.all("th"))
    assert all("aria-label" in attrs for _, attrs in page.tags if attrs.get("role") == "region")


def test_in_sample_is_marked(text):
    assert re.search(r'title="[^"]*90 % of the documents were in the training text[^"]*">[\d.]+<sup>†‡?</sup>', text)
    assert "† 90 % of the evaluated documents were in the training text" in text


def test_no_cell_is_blank_or_a_stand_in(text):
    numbers = re.findall(r'<td class="(?:n|h\d|none)[^"]*"[^>]*>(.*?)</td>', text)
    assert numbers
    assert not {"", "nan", "None", "inf"} & set(numbers)


def test_a_run_in_which_everything_failed():
    text = html.render(everything_failed())
    Page(text)
    assert "it did not load" in text
    assert "No speed was measured." in text
    assert "No round trip was made." in text


@pytest.mark.slow
def test_without_speed_among_the_metrics_nothing_is_said_of_it():
    results = build(hostile=False)
    for name in [name for name, described in results.metrics.items() if described.timed]:
        del results.metrics[name]
    results.cells = [cell for cell in results.cells if cell.metric in results.metrics]
    results.notes = []
    text = html.render(results)
    assert "#speed" not in text
    assert "Compression against speed" not in text


@pytest.mark.slow
def test_families_of_many_metrics_have_a_table_each():
    results = build(hostile=False)
    ids = [f"extra_{number}" for number in range(9)]
    corpus = next(iter(results.corpora))
    for number, metric in enumerate(ids):
        results.metrics[metric] = MetricInfo(family="abundance", unit="u", direction="higher")
        results.cells += [
            Cell(name, corpus, "*", metric, float(k + number)) for k, name in enumerate(results.tokenizers)
        ]
    text = html.render(results)
    assert f"<caption>Abundance of the corpus <bdi>{corpus}</bdi></caption>" in text
    assert f"<caption>Main metrics of the corpus <bdi>{corpus}</bdi></caption>" in text


def test_a_run_in_which_nothing_is_known():
    Page(html.render(Results(name="empty")))
    Page(html.render(Results(name="bare", cells=[Cell("a", "c", "g", "m", 1.0)])))


@pytest.mark.slow
def test_it_survives_its_own_file(tmp_path):
    results = build(hostile=False)
    path = tmp_path / "results.json"
    path.write_text(results.to_json(), encoding="utf-8")
    assert html.render(Results.read(path)) == html.render(results)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_on_colour_can_be_read(text, scheme):
    blocks = re.findall(r":root \{(.*?)\}", text, re.DOTALL)
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]+)", blocks[0 if scheme == "light" else 1]))
    for level in range(9):
        ink = colours["on-light" if level < 6 else "on-dark"]
        assert contrast(ink, colours[f"h{level}"]) >= 4.5
    for ink in ("ink", "soft", "link", "bad", *(f"p{number}" for number in range(8))):
        assert contrast(colours[ink], colours["page"]) >= 4.5


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[k : k + 2], 16) / 255 for k in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
