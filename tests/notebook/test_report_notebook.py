"""Results in a notebook: three lines, a small page, styled tables, and charts, by the rules of the report."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from report_data import HOSTILE, build

from tokbench.foundation.errors import InputError
from tokbench.notebook import plots
from tokbench.notebook.results import NotebookResults
from tokbench.report.charts.heat import heat_map
from tokbench.report.tables import CellTables
from tokbench.results.blocks import CorpusInfo, MetricInfo
from tokbench.results.cells import Cell, Status
from tokbench.studies.vocabulary_size.block import VOCABULARY_SIZES, SizeLine, SizeRow, VocabularySizes


@pytest.fixture(scope="module")
def hostile():
    return NotebookResults.of(build())


def small(**changes) -> NotebookResults:
    """Three tokenizers on two groups: a and b are level in y, lossy loses text in x, failed has no number."""
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


def test_repr_is_three_lines(hostile):
    lines = repr(hostile).splitlines()
    assert len(lines) == 3
    assert lines[0].startswith(("Results 'languages and code", 'Results "languages and code'))
    assert "22 of 32 tokenizers" in lines[0]
    assert lines[1].startswith("pud: o200k needs the fewest tokens here, 4.257 bytes per token. code: ")
    assert lines[2] == "next: .table('compression_ratio'), .plot.bar('compression_ratio'), .plot.speed(), .frame"
    assert all(line.isprintable() and len(line) <= 200 for line in lines)
    assert repr(NotebookResults(name="empty")).splitlines()[1:] == ["no cell has a number", "next: .frame"]


def test_the_page_of_a_notebook_is_small_and_nothing_in_it_acts(hostile):
    page = hostile._repr_html_()
    page.encode()
    assert 2_000 < len(page.encode()) < 20_000
    assert not [text for text in HOSTILE[:5] if text in page]
    assert "<script" not in page
    assert page.count("<tr>") == 1 + 12
    assert re.search(r"Not shown: \d+ more tokenizers, \d+ more columns", page)
    assert ".plot.speed()" in page
    empty = NotebookResults(name="<b>")._repr_html_()
    assert "&lt;b&gt;" in empty
    assert "no cell has a number" in empty


def test_what_failed_stands_in_the_page(hostile):
    assert "it broke" in small()._repr_html_()
    assert "no round was done after 300 s" in hostile._repr_html_()


def test_the_page_stays_small_whatever_the_names_are():
    long = "n" * 5_000
    numbers = [Cell(f"{k}{long}", f"{j}{long}", "*", "m", 1.0, long) for k in range(60) for j in range(20)]
    metrics = {"m": MetricInfo(headline=True, direction="higher", label=long)}
    results = NotebookResults(name=long, metrics=metrics, cells=numbers, problems=[long] * 50, notes=[long])
    results.tokenizers = dict.fromkeys((cell.tokenizer for cell in numbers), next(iter(build().tokenizers.values())))
    assert len(results._repr_html_().encode()) < 20_000
    assert len(repr(results)) <= 602


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
    html = table.to_html()
    assert "m, u, higher is better; bold: the best" in html
    assert "‡ lossy and not ranked" in html


def test_a_table_has_the_marks_of_the_report(hostile):
    heat = heat_map(CellTables(hostile), "pud", "compression_ratio")
    rows = marked(hostile, "compression_ratio", "pud")
    assert list(rows) == ["whole corpus" if row.group == "*" else row.group for row in heat.rows]
    for row, texts in zip(heat.rows, rows.values(), strict=True):
        assert texts == [f"*{cell.text}{cell.marks}*" if cell.best else cell.text + cell.marks for cell, _ in row.cells]


def test_a_table_with_hostile_names_is_escaped(hostile):
    html = hostile.table("compression_ratio", "code").to_html()
    assert "&lt;script&gt;alert" in html
    assert "<script>alert" not in html


def several() -> NotebookResults:
    """The same on two corpora."""
    results = small(corpora={name: CorpusInfo(groups={"x": 9, "y": 9}) for name in "cd"})
    results.cells += [replace(cell, corpus="d") for cell in results.cells]
    return results


def test_rows_of_several_corpora_are_named_by_corpus_and_group():
    results = several()
    data = results.table("m").data
    assert list(data.index) == [("c", "x"), ("c", "y"), ("d", "x"), ("d", "y")]
    assert list(data.index.names) == ["corpus", "group"]
    assert list(results.table("m", "d").data.index) == ["x", "y"]


def test_a_number_that_comes_twice_may_have_other_marks():
    results = small()
    three = {"value": 3.0, "ci_low": 2.75, "ci_high": 3.25}
    results.cells = [replace(c, **three) if c.tokenizer == "lossy" and c.metric == "m" else c for c in results.cells]
    assert [row[-1] for row in marked(results, "m").values()] == ["3‡", "*3*"]


def test_unknown_names_are_told_with_the_nearest():
    for call in (lambda: small().table("n"), lambda: small().plot.heat("n")):
        with pytest.raises(InputError, match=r"the run has no metric or family 'n'; known: back, f, g, m"):
            call()
    with pytest.raises(InputError, match=r"no corpus 'd'; known: c"):
        small().table("m", "d")
    with pytest.raises(InputError, match=r"back has no number on any corpus; \.frame has the reasons"):
        small(cells=[Cell("a", "c", "x", "back", status=Status.FAILED, reason="r")]).table("back")


def values(chart: dict) -> list[dict]:
    return next(iter(chart["datasets"].values())) if "datasets" in chart else chart["data"]["values"]


def test_the_heat_map_follows_the_rules_of_the_report():
    pytest.importorskip("altair")
    points = {(point["tokenizer"], point["group"]): point for point in values(small().plot.heat().to_dict())}
    assert points["lossy", "x"]["level"] is None
    assert points["lossy", "x"]["text"] == "9.00‡"
    assert points["a", "x"]["level"] == 8
    assert points["a", "y"]["best"]
    assert not points["c", "y"]["best"]
    assert ("failed", "x") not in points


def test_heat_maps_of_several_corpora_stand_below_each_other():
    pytest.importorskip("altair")
    chart = several().plot.heat("m").to_dict(validate=False)
    assert [part["layer"][0]["title"]["text"] for part in chart["vconcat"]] == ["m: c", "m: d"]
    assert "vconcat" not in several().plot.heat("m", "d").to_dict(validate=False)


def test_bars_are_ranked_and_what_loses_text_comes_last():
    pytest.importorskip("altair")
    results = small(cells=[replace(cell, group="*") if cell.group == "x" else cell for cell in small().cells])
    chart = results.plot.bar("m").to_dict(validate=False)
    bars = values(chart)
    assert [bar["tokenizer"] for bar in bars] == ["a", "b", "c", "lossy‡"]
    assert [(bar["value"], bar["fair"]) for bar in bars] == [(3.0, True), (2.0, True), (1.0, True), (9.0, False)]
    assert (bars[0]["low"], bars[0]["high"]) == (2.8, 3.2)
    assert {mark["mark"]["type"] for mark in chart["layer"]} == {"bar", "rule", "text"}
    with pytest.raises(InputError, match="m has no number on any corpus"):
        small().plot.bar("m")


def test_parity_is_compression_against_inequality():
    pytest.importorskip("altair")
    whole = [replace(cell, group="*") for cell in small().cells if cell.group == "x" and cell.value is not None]
    uneven = [Cell(cell.tokenizer, "c", "*", "gini", cell.value / 100) for cell in whole if cell.metric == "m"]
    info = {**small().metrics, "gini": MetricInfo(family="fair", direction="lower", role="inequality of premiums")}
    chart = small(cells=[*whole, *uneven], metrics=info).plot.parity().to_dict(validate=False)
    points = {point["name"]: (point["across"], point["ratio"], point["hollow"]) for point in values(chart)}
    assert points == {
        "a": (0.03, 3.0, False),
        "b": (0.02, 2.0, False),
        "c": (0.01, 1.0, False),
        "lossy‡": (0.09, 9.0, True),
    }
    with pytest.raises(InputError, match="add fairness to its metrics"):
        small().plot.parity()


def test_the_charts_of_a_run_are_listed(hostile):
    assert repr(hostile.plot).startswith("charts: .plot.bar(), .plot.heat(), .plot.speed()")
    assert repr(small().plot) == "charts: .plot.bar(), .plot.heat()"


def test_speed_has_intervals_and_marks(hostile):
    pytest.importorskip("altair")
    chart = hostile.plot.speed("pud").to_dict(validate=False)
    points = {
        point["name"].rstrip("†‡"): point for point in values(chart["layer"][0] if "data" not in chart else chart)
    }
    cell = {c.tokenizer: c for c in hostile.cells if (c.corpus, c.group, c.metric) == ("pud", "*", "encode_mb_per_s")}
    assert points["o200k"]["across"] == cell["o200k"].value
    assert points["o200k"]["low"] == cell["o200k"].ci_low
    assert {mark["mark"]["type"] for mark in chart["layer"]} == {"rule", "point", "text"}
    with pytest.raises(InputError, match="add speed to its metrics"):
        small().plot.speed()


def test_the_curve_has_every_line():
    pytest.importorskip("altair")
    rows = [SizeRow(line="l", corpus="c", group=group, vocab_size=size, tokens=1000 // k, compression_ratio=k, ci_low=None, ci_high=None, entropy=1, used=9) for group in ("*", "x") for k, size in ((1, 256), (2, 512))]  # fmt: skip
    line = SizeLine(line="l", kind="ladder", tokenizers=["a"], trained=True, smallest=256, largest=512)
    results = small()
    results.studies.put(VOCABULARY_SIZES, VocabularySizes(lines=[line], rows=rows))
    points = values(results.plot.curve().to_dict())
    assert [(point["line"], point["size"], point["ratio"]) for point in points] == [("l", 256, 1.0), ("l", 512, 2.0)]
    assert "sample, x" not in str(results.plot.curve(group="x").to_dict())
    with pytest.raises(InputError, match=r"corpus 'c' has no group 'z'; known: \*, x"):
        results.plot.curve(group="z")
    with pytest.raises(InputError, match=r"the study has no corpus 'd'; known: c"):
        results.plot.curve("d")
    with pytest.raises(InputError, match="no study of vocabulary sizes: add 'study:"):
        small().plot.curve()


def test_without_altair_the_charts_say_what_to_install(monkeypatch):
    monkeypatch.setitem(plots.__dict__, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"charts need altair: pip install 'tokbench\[plot\]'"):
        small().plot.heat()


@pytest.mark.slow
def test_a_chart_becomes_a_picture(tmp_path):
    pytest.importorskip("vl_convert")
    small().plot.heat().save(tmp_path / "heat.svg")
    assert "lossy" in (tmp_path / "heat.svg").read_text(encoding="utf-8")
