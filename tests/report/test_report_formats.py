"""The table for machines, the one for pull requests, and the one for the terminal."""

from __future__ import annotations

import csv as stdlib_csv
import io
import re
from pathlib import Path

import answer_runs
import pandas as pd
import pytest
from made_up_results import METRICS
from report_data import FORMULA, HOSTILE, build, everything_failed
from rich.console import Console

from tokbench.formats import csv, html, latex, markdown, parquet
from tokbench.report.report import Report
from tokbench.report.sections.problems import problems
from tokbench.report.terminal import summary
from tokbench.results.blocks import CorpusInfo, MetricInfo, TokenizerInfo
from tokbench.results.cells import COLUMNS, Cell, Status
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


def test_parquet_has_the_frame():
    results = build(hostile=False)
    data = parquet.render(results)
    assert data == parquet.render(results)
    metadata = pytest.importorskip("pyarrow.parquet").read_schema(io.BytesIO(data)).metadata
    assert (metadata[b"tokbench.name"], metadata[b"tokbench.tokbench"]) == (b"languages and code", b"0.1.0")
    assert parquet.render(build()), "halves of surrogate pairs, which Parquet cannot hold"
    back = pd.read_parquet(io.BytesIO(data))
    assert list(back.columns) == list(COLUMNS)
    assert back["n"].dtype == "int64"
    assert {str(back[name].dtype) for name in NUMBERS} == {"float64"}
    frame = results.frame.astype(dict.fromkeys(NUMBERS, float)).astype({"status": str})
    texts = [name for name in COLUMNS if name not in {"n", *NUMBERS}]
    pd.testing.assert_frame_equal(back.astype(dict.fromkeys(texts, str)), frame.astype(dict.fromkeys(texts, str)))


def environments(text: str) -> list[tuple[str, str]]:
    """The environments of a LaTeX text, each with its body; fails where it does not hold together."""
    text = re.sub(r"(?<!\\)%.*", "", text)
    depth = 0
    for token in re.findall(r"\\.|[{}]", text):
        depth += (token == "{") - (token == "}")
        assert depth >= 0
    assert depth == 0
    assert text.count(r"\begin{") == text.count(r"\end{")
    return re.findall(r"\\begin\{longtable\}\{(l?r*)\}(.*?)\\end\{longtable\}", text, flags=re.DOTALL)


def rows_of(body: str) -> list[list[str]]:
    """The rows below the heads, each as its cells."""
    rows = body.split("\\endfoot\n")[1].split("\\\\\n")
    return [[cell.strip() for cell in re.split(r"(?<!\\)&", row)] for row in rows if row.strip()]


def test_latex_holds_together_with_hostile_names():
    text = latex.render(build())
    text.encode()
    tables = environments(text)
    assert len(tables) == text.count(r"\toprule") / 2 >= 5
    for columns, body in tables:
        assert {len(row) for row in rows_of(body)} == {len(columns)}
        assert all(line.endswith(r"\\") for line in body.splitlines() if "&" in line)
    first_cells = {row[0] for _, body in tables for row in rows_of(body)}
    assert "{[}" not in {cell[:1] for cell in first_cells}  # a row that began with a bracket would be an option
    assert not [cell for cell in first_cells if cell.startswith(("[", "*"))]
    assert r"a\textbar{}b\textasciigrave{}c\textasciigrave{}" in first_cells
    assert (
        r"\textless{}script\textgreater{}alert(\textquotesingle{}x\textquotesingle{})\textless{}/script\textgreater{}"
        in text
    )
    assert not [char for char in text if ord(char) < 32 and char != "\n"]


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
    found = problems(results).cells
    assert [(missing.cells, missing.groups) for missing in found] == [(201, 200), (1, 1), (1, 1), (201, 200)]
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
