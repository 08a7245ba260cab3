"""Results and own metrics in a notebook, by the rules of the report."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from every_section import put_sizes
from report_data import HOSTILE, build

import tokbench
from tokbench.foundation.errors import InputError
from tokbench.notebook.results import NotebookResults
from tokbench.report.charts.heat import heat_map
from tokbench.report.tables import CellTables
from tokbench.results.blocks import CorpusInfo, MetricInfo
from tokbench.results.cells import Cell, Status


@pytest.fixture(scope="module")
def hostile():
    return NotebookResults.of(build())


def small(**changes) -> NotebookResults:
    """Tokenizers on two groups: a and b tie in y, lossy loses text in x, failed has no number."""
    numbers = {"a": (3.0, 2.0), "b": (2.0, 2.0), "c": (1.0, 1.0), "lossy": (9.0, 1.5)}
    cells = [
        Cell(name, "c", group, "m", value, "u", value - 0.2, value + 0.2, n=9)
        for name, values in numbers.items()
        for group, value in zip(("x", "y"), values, strict=True)
    ]
    cells += [Cell("failed", "c", group, "m", status=Status.FAILED, reason="it broke") for group in ("x", "y")]
    cells += [
        Cell(name, "c", group, "back", 0.5 if (name, group) == ("lossy", "x") else 1.0, "share")
        for name in numbers
        for group in ("x", "y")
    ]
    metrics = {
        "m": MetricInfo(family="f", direction="higher", unit="u", role="text per token", headline=True),
        "back": MetricInfo(family="g", direction="higher", role="share of exact documents", loss_cannot_help="it is the loss"),
    }  # fmt: skip
    return replace(
        NotebookResults(name="small", corpora={"c": CorpusInfo(groups={"x": 9, "y": 9})}, metrics=metrics, cells=cells),
        **changes,
    )


def marked(results: NotebookResults, name: str, corpus: str = "") -> dict[str, list[str]]:
    """The texts of a styled table by row, with asterisks around what is bold."""
    html = results.table(name, corpus).to_html()
    bold = set()
    for selectors, style in re.findall(r"((?:#T_\w+(?:, )?)+) \{([^}]*)\}", html):
        if "font-weight: bold" in style:
            bold |= set(re.findall(r"#(T_\w+)", selectors))
    rows = {}
    for row in re.findall(r"<tr>(.*?)</tr>", html, flags=re.DOTALL):
        heads = re.findall(r'<th id="\w+" class="row_heading[^"]*"[^>]*>(.*?)</th>', row)
        cells = re.findall(r'<td id="(\w+)"[^>]*>(.*?)</td>', row)
        if cells:
            rows[heads[-1]] = [f"*{text}*" if key in bold else text for key, text in cells]
    return rows


def test_a_table_marks_ties_with_the_best_and_tokenizers_that_lose_text():
    results = small()
    table = results.table("m")
    assert list(table.data.columns) == ["a", "b", "c", "lossy"]
    assert table.data.loc["x"].to_list() == [3.0, 2.0, 1.0, 9.0]
    assert marked(results, "m") == {"x": ["*3.00*", "2.00", "1.00", "9.00‡"], "y": ["*2.00*", "*2.00*", "1.00", "1.50"]}
    assert marked(results, "f") == marked(results, "m")


def test_a_table_has_the_marks_of_the_report(hostile):
    heat = heat_map(CellTables(hostile), "pud", "compression_ratio")
    rows = marked(hostile, "compression_ratio", "pud")
    assert list(rows) == ["whole corpus" if row.group == "*" else row.group for row in heat.rows]
    for row, texts in zip(heat.rows, rows.values(), strict=True):
        assert texts == [f"*{cell.text}{cell.marks}*" if cell.best else cell.text + cell.marks for cell, _ in row.cells]


def drawn(pictures) -> list[str]:
    """The markup of the charts that a notebook gets."""
    sources = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', pictures._repr_html_())
    return [base64.b64decode(source).decode() for source in sources]


def texts(markup: str) -> list[str]:
    return [text.text for text in ET.fromstring(markup).iter("{http://www.w3.org/2000/svg}text")]


def test_the_page_of_a_notebook_is_small_and_inert(hostile):
    page = hostile._repr_html_()
    assert 2_000 < len(page.encode()) < 20_000
    assert not [
        text
        for text in [*HOSTILE[:5], "<script"]
        if text in page + hostile.table("compression_ratio", "code").to_html()
    ]
    assert page.count("<tr>") == 1 + 12
    assert "no round was done after 300 s" in page
    assert "&lt;b&gt;" in NotebookResults(name="<b>")._repr_html_()


def test_what_a_run_lacks_is_an_error():
    failed = [Cell("a", "c", "x", "back", status=Status.FAILED, reason="r")]
    for call, name in (
        (lambda: small().table("n"), "'n'"),
        (lambda: small().plot.heat("n"), "'n'"),
        (lambda: small().table("m", "d"), "'d'"),
        (lambda: small(cells=failed).table("back"), "back"),
        (small().plot.bar, "compression"),
        (small().plot.parity, "fairness"),
        (small().plot.speed, "speed"),
        (small().plot.curve, "vocabulary sizes"),
    ):
        with pytest.raises(InputError, match=name):
            call()


def test_charts_are_the_report_s(hostile, tmp_path):
    heat = small().plot.heat()
    [markup] = drawn(heat)
    assert {"+100%", "best", "x", "y", "lossy"} <= set(texts(markup))
    heat.save(tmp_path / "heat.svg")
    assert (tmp_path / "heat.svg").read_text(encoding="utf-8") == markup
    whole = [replace(cell, group="*") for cell in small().cells if cell.group == "x"]
    [bars] = drawn(small(cells=whole).plot.bar())
    assert [text for text in texts(bars) if text in {"a", "b", "c", "lossy"}] == ["a", "b", "c", "lossy"]
    [speed] = drawn(hostile.plot.speed("pud"))
    assert {"o200k", "encoding, MB/s"} <= set(texts(speed))


def test_the_curve_has_every_line():
    results = replace(small(), corpora={"pud": CorpusInfo(groups={"en": 9, "de": 9})})
    put_sizes(results)
    assert {"cl100k", "o200k"} <= set(texts(drawn(results.plot.curve())[0]))
    assert len(drawn(results.plot.curve(group="en"))) == 1
    with pytest.raises(InputError, match="'d'"):
        results.plot.curve("d")


BYTES = tokbench.load("utf8_bytes")


@tokbench.metric(unit="ids/word")
def ids_a_word(text, ids):
    """Ids for a word."""
    return len(ids), len(text.split())


def test_it_is_a_ratio_of_sums_with_the_interval_of_the_jackknife():
    texts = [f"{'a' * k} bc {'d' * (k % 5)}" for k in range(1, 41)]
    table = ids_a_word.on(texts, {"bytes": BYTES, "units": tokbench.load("utf16_units")})
    assert table.columns.tolist() == ["tokenizer", "ids_a_word", "ci_low", "ci_high", "unit", "n"]
    row = table.iloc[0]
    ids, words = (np.array(column, float) for column in np.array([ids_a_word(text, text.encode()) for text in texts]).T)
    assert row.ids_a_word == pytest.approx(ids.sum() / words.sum())
    without = np.array([(ids.sum() - i) / (words.sum() - w) for i, w in zip(ids, words, strict=True)])
    error = np.sqrt(39 / 40 * ((without - without.mean()) ** 2).sum())
    assert row.ci_high - row.ci_low == pytest.approx(2 * 2.02 * error, rel=0.1)
    assert (row.unit, row.n) == ("ids/word", 40)
    assert ids_a_word.__doc__ == "Ids for a word."


def test_a_plain_number_is_averaged_and_tokenizers_may_be_given():
    @tokbench.metric()
    def length(text, ids):
        return len(ids)

    table = length.on(["a", "abc"], {"mine": BYTES})
    assert table.to_dict("records") == [
        {"tokenizer": "mine", "length": 2.0, "ci_low": None, "ci_high": None, "unit": "", "n": 2}
    ]


def test_what_it_cannot_use_is_refused():
    @tokbench.metric()
    def wrong(text, ids):
        return "many"

    with pytest.raises(InputError, match="wrong gave 'many'"):
        wrong.on(["a"], {"bytes": BYTES})
    with pytest.raises(InputError, match="wrong needs a document at least"):
        wrong.on([], {"bytes": BYTES})
