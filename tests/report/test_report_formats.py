"""Tables for machines, pull requests and the terminal; harmful text made fit to be shown; other programs' files."""

from __future__ import annotations

import csv as stdlib_csv
import io
import json
import re
import subprocess
import sys
import unicodedata
from dataclasses import replace
from pathlib import Path

import answer_runs
import pandas as pd
import pytest
from made_up_results import METRICS
from report_data import FORMULA, HOSTILE, build, everything_failed
from rich.console import Console

from tokbench.formats import csv, html, markdown, pytest_benchmark
from tokbench.report import escaping
from tokbench.report.number_format import Style, style_for
from tokbench.report.report import Report
from tokbench.report.sections.problems import problems
from tokbench.report.terminal import summary
from tokbench.results.blocks import CorpusInfo, MetricInfo, TokenizerInfo
from tokbench.results.cells import COLUMNS, WHOLE, Cell, Status
from tokbench.results.model import Results

NUMBERS = ["value", "ci_low", "ci_high", "in_sample"]


def printed(results: Results, width: int, *, colour: bool = False) -> str:
    file = io.StringIO()
    system = "standard" if colour else None
    console = Console(file=file, width=width, force_terminal=colour, color_system=system)
    summary(Report(results), console, Path("reports/x"), verbose=True)
    return file.getvalue()


def test_csv_has_the_frame():
    results = build(hostile=False)
    # Numbers are read by Python: not every version of pandas reads the last digit as it was written.
    converters = dict.fromkeys(NUMBERS, lambda field: float(field) if field else float("nan"))
    back = pd.read_csv(io.StringIO(csv.results_csv(results)), keep_default_na=False, converters=converters)
    frame = results.frame.astype(dict.fromkeys(NUMBERS, float)).astype({"status": str})
    assert list(back.columns) == list(COLUMNS)
    pd.testing.assert_frame_equal(back, frame)


def test_csv_neutralises_text_and_leaves_numbers():
    text = csv.results_csv(build())
    text.encode()
    rows = list(stdlib_csv.DictReader(io.StringIO(text)))
    assert not [
        value for row in rows for value in row.values() if value[:1] in "=+-@\t\r" and value != "" and not number(value)
    ]
    assert "'" + FORMULA in {row["reason"] for row in rows}
    negative = Results(name="r", cells=[Cell("a", "c", "g", "m", -1.5, ci_low=-2, n=3)])
    assert "a,c,g,m,-1.5,,-2,,3,ok,," in csv.results_csv(negative)


def number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("width", [60, 80, 160])
def test_a_terminal_is_not_wider_than_its_width(width):
    lines = printed(build(hostile=False), width).splitlines()
    assert max(len(line) for line in lines if not line.startswith(("written: ", "192 s"))) <= width
    assert [line for line in lines if line.startswith("o200k ") and "200,019" in line], "no row is broken"


def test_text_formats_show_harmful_text_inertly():
    results = build()
    results.notes.append("[bold]not a style[/] [link=x]y")
    terminal, text = printed(results, 160, colour=True), markdown.render(results)
    for shown in (terminal.replace("\x1b[", ""), text):
        shown.encode()
        assert not [part for part in HOSTILE[1:5] if part in shown]
    assert "\\u{1b}[31mred" in terminal
    assert "[bold]not a style[/] [link=x]y" in terminal
    assert "<" not in re.sub("(?m)^ {4}.*$", "", text), "a code block needs no escapes"
    assert not [char for char in text if ord(char) < 32 and char != "\n"]


def many_groups() -> Results:
    """A run of 200 groups in which one tokenizer fails everywhere, and one cannot have a number anywhere."""
    groups = {f"g{number}": 5 for number in range(200)}
    results = Results(name="r", corpora={"c": CorpusInfo(groups=groups)}, metrics=METRICS | {"tokens": MetricInfo()})
    results.tokenizers = {name: TokenizerInfo(vocab_size=9) for name in ("fails", "loses", "good")}
    for number, group in enumerate(["*", *groups]):
        place = {"corpus": "c", "group": group, "metric": "tokens"}
        raised = (
            f"encode: ValueError: boom (corpus c, group {'g0' if group == '*' else group}, document g.txt:{number})"
        )
        lost = f"loses is lossy: {number % 4 + 1} of 5 documents"
        results.cells += [
            Cell("fails", **place, status=Status.FAILED, reason=raised),
            Cell("loses", **place, status=Status.NOT_APPLICABLE, reason=lost),
            Cell("good", **place, value=7.0),
        ]
    return results


def test_a_problem_of_200_groups_is_one_line():
    results = many_groups()
    for reason in ("worker process ended by SIGSEGV (group g1)", "worker process ended by SIGKILL (group g2)"):
        results.cells.append(Cell("good", "c", "g1", "cer", status=Status.FAILED, reason=reason))
    cells = problems(results).cells
    assert [(missing.cells, missing.groups) for missing in cells] == [(201, 200), (1, 1), (1, 1), (201, 200)]
    page = html.render(results).partition('<section id="problems">')[2].partition("</section>")[0]
    assert page.count("<tr><th") == 1 + 4
    for shown in (markdown.render(results), printed(results, 120)):
        assert shown.count("boom") == 1


def test_runs_without_any_number_have_reports():
    results = everything_failed()
    assert "it did not load" in markdown.render(results)
    assert "14 tokenizers: " in printed(results, 100)
    assert csv.results_csv(results).count("\n") == len(results.cells) + 1
    assert markdown.render(Results(name="empty"))
    assert printed(Results(name="empty"), 80)


def test_curated_texts_have_no_intervals():
    page = html.render(answer_runs.curated()).partition("<body>")[2].partition("<script>")[0]
    assert not [text for text in (page, markdown.render(answer_runs.curated())) if re.search(r"95.?%", text)]


@pytest.mark.parametrize("clean", [escaping.visible, escaping.markdown_text, escaping.spreadsheet_text])
def test_nothing_invisible_is_left(clean):
    for hostile in HOSTILE:
        shown = clean(hostile)
        assert not [char for char in shown if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}]
        shown.encode()  # no half of a surrogate pair


def test_letters_stay_and_hidden_characters_are_written_out():
    hidden = "\x00\u200d\ud800\ue000\u0378\u2028\u2029"
    assert escaping.visible(hidden) == "".join(f"\\u{{{ord(char):x}}}" for char in hidden)
    words = "naïve 日本語 हिन्दी עברית 🙂 a\u00a0c"
    assert escaping.visible(words) == words
    assert escaping.visible("a b\u00a0c\t\n", spaces=True) == "a␣b\\u{a0}c⇥⏎"
    assert escaping.visible("a\nb\x1b", keep="\n") == "a\nb\\u{1b}"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", " =", "＝"])
def test_no_formula_in_a_spreadsheet(start):
    assert escaping.spreadsheet_text(f"{start}1+1")[0] in "'\\"


@pytest.mark.parametrize(
    ("raw", "escaped"),
    [
        ("<b>", "&lt;b&gt;"),
        ("[x](javascript:1)", "\\[x\\](javascript:1)"),
        ("# head", "\\# head"),
        ("1. item", "1\\. item"),
        ("a*b*", "a\\*b\\*"),
        ("encode_mb_per_s", "encode_mb_per_s"),
        ("&amp;", "&amp;amp;"),
    ],
)
def test_markdown_is_read_as_it_is(raw, escaped):
    assert escaping.markdown_text(raw) == escaped


@pytest.mark.parametrize(
    ("value", "shown"), [(1.0, "100.0"), (0.9999, "99.99"), (0.9999999999, "<100"), (0.0, "0.0"), (0.00001, "0.001")]
)
def test_a_share_is_never_rounded_to_all_or_none(value, shown):
    assert Style("share", 1).show(value) == shown


def test_digits_of_numbers_and_columns():
    assert [Style("number", 3).show(value) for value in (0.0001, 0.0)] == ["0.0001", "0"]
    assert Style("number", 2).show(1e-9) not in {"0", "0.00"}
    assert style_for([1.0, 4.2], "bytes/token") == Style("number", 3)
    assert style_for([0.01, 200.0], "MB/s") == Style("number")
    assert style_for([1200.0, 3.0], "tokens") == Style("count")
    assert style_for([1.0, 2.0], "bytes/token").show(1.0) == "1.000"
    assert style_for([], "MB/s").show(2.0) == "2.000"


SPEED = MetricInfo(family="speed", direction="higher", formula="bytes / s", timed=True)
LOAD = MetricInfo(family="load", direction="lower", formula="s", timed=True)


@pytest.fixture(scope="module")
def results():
    """A report's results, with a speed in one group and a time without an interval."""
    found = build(hostile=True)
    place = next(iter(found.tokenizers)), next(iter(found.corpora))
    found.metrics |= {"encode_mb_per_s": replace(SPEED, headline=True), "load_s": LOAD}
    found.cells.append(Cell(*place, "en", "encode_mb_per_s", 20.0, "MB/s", 16.0, 25.0, 10))
    found.cells.append(Cell(*place, WHOLE, "load_s", 0.5, "s", n=1))
    return found


def benchmarks(results):
    return {each["name"]: each for each in json.loads(pytest_benchmark.pytest_benchmark_json(results))["benchmarks"]}


def test_a_speed_becomes_the_seconds_for_one_megabyte(results):
    tokenizer, corpus = next(iter(results.tokenizers)), next(iter(results.corpora))
    found = benchmarks(results)[f"encode_mb_per_s[{tokenizer}-{corpus}/en]"]
    stats = found["stats"]
    assert (stats["min"], stats["median"], stats["max"]) == (1 / 25, 1 / 20, 1 / 16)
    assert (stats["ops"], stats["rounds"], stats["stddev"]) == (20.0, 10, pytest.approx((1 / 16 - 1 / 25) / 4))
    assert found["group"] == f"encode_mb_per_s {corpus}/en"
    assert found["fullname"] == f"{results.name}::encode_mb_per_s[{tokenizer}-{corpus}/en]"
    assert found["extra_info"]["stats"].startswith("seconds for one MB; ")


@pytest.mark.slow
def test_the_command_of_pytest_benchmark_compares_two_runs(results, tmp_path):
    slower = replace(
        results, cells=[cell if cell.metric != "load_s" else replace(cell, value=1.0) for cell in results.cells]
    )
    for name, each in (("one", results), ("two", slower)):
        (tmp_path / f"{name}.json").write_text(pytest_benchmark.pytest_benchmark_json(each), encoding="utf-8")
    command = Path(sys.executable).with_name("pytest-benchmark")
    arguments = [command, "compare", tmp_path / "one.json", tmp_path / "two.json", "--group-by", "group"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    load = done.stdout.split("'load_s ")[1]
    assert "500.0000 (1.0)" in load
    assert "1,000.0000 (2.0" in load
