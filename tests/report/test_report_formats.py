"""The table for machines, the one for pull requests, and the one for the terminal."""

from __future__ import annotations

import csv as stdlib_csv
import io
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from report_data import ESCAPE, FORMULA, HOSTILE, METRICS, SCRIPT, build, everything_failed
from rich.console import Console

from tokbench.corpus.shards import BUCKETS
from tokbench.formats import csv, html, latex, markdown, parquet
from tokbench.plugin import latex_text
from tokbench.registry.plugins import load_registry
from tokbench.report.report import Report
from tokbench.report.sections.problems import problems
from tokbench.report.terminal import _fitting, main_columns, summary
from tokbench.results.blocks import CorpusInfo, MetricInfo, RawState, TokenizerInfo, TrainingInfo
from tokbench.results.cells import COLUMNS, Cell, Status
from tokbench.results.model import Results
from tokbench.results.states import RawStates

NUMBERS = ["value", "ci_low", "ci_high", "in_sample", "measured"]


def printed(results: Results, width: int, *, colour: bool = False) -> str:
    file = io.StringIO()
    files = [Path("reports/x/report.html"), Path("reports/x/results.json")]
    summary(
        results,
        Console(file=file, width=width, force_terminal=colour, color_system="standard" if colour else None),
        files,
    )
    return file.getvalue()


def cells_of(row: str) -> int:
    return len(row.replace("\\|", "").strip().strip("|").split("|"))


def test_the_formats_register_themselves():
    specs = [entry.spec for entry in load_registry().reporters.entries.values()]
    assert {spec.name: spec.filename for spec in specs} == {
        "html": "report.html",
        "md": "report.md",
        "latex": "tables.tex",
        "csv": "results.csv",
        "parquet": "results.parquet",
        "curve": "curve.csv",
        "documents": "documents.csv",
        "documents_parquet": "documents.parquet",
        "pairs": "pairs.csv",
        "agreement": "agreement.csv",
        "overlap": "overlap.csv",
        "validity": "validity.csv",
        "validity_tokenizers": "validity_tokenizers.csv",
        "sizes": "sizes.csv",
        "pytest_benchmark": "pytest-benchmark.json",
    }


def test_registering_imports_nothing_heavy():
    code = "import sys, tokbench.formats.plugin, tokbench.report.terminal; print({'jinja2', 'pandas', 'pyarrow', 'rich'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_csv_gives_the_frame_back():
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


def test_markdown_shows_hostile_text_and_nothing_acts():
    text = markdown.render(build())
    text.encode()
    assert SCRIPT not in text
    assert "<" not in text
    assert not [hostile for hostile in HOSTILE[1:6] if hostile in text]
    assert not [char for char in text if ord(char) < 32 and char != "\n"]


def test_markdown_tables_hold_together():
    for block in markdown.render(build()).split("\n\n"):
        rows = [line for line in block.splitlines() if line.startswith("|")]
        assert len({cells_of(row) for row in rows}) <= 1


def test_markdown_is_complete():
    results = build(hostile=False)
    text, tables = markdown.render(results), Report(results).tables
    for name in METRICS:
        assert f"| {name} |" in text or f"| {name}; {tables.label(name)} |" in text
    assert "† 90 % of the evaluated documents were in the training text" in text
    assert "00" * 32 in text  # a hash
    assert "no round was done after 300 s" in text
    assert "| whole corpus | **" in text


def test_parquet_gives_the_frame_back():
    results = build(hostile=False)
    back = pd.read_parquet(io.BytesIO(parquet.render(results)))
    assert list(back.columns) == list(COLUMNS)
    assert back["n"].dtype == "int64"
    assert {str(back[name].dtype) for name in NUMBERS} == {"float64"}
    frame = results.frame.astype(dict.fromkeys(NUMBERS, float)).astype({"status": str})
    texts = [name for name in COLUMNS if name not in {"n", *NUMBERS}]
    pd.testing.assert_frame_equal(back.astype(dict.fromkeys(texts, str)), frame.astype(dict.fromkeys(texts, str)))


def test_parquet_says_what_it_is_and_is_the_same_every_time():
    pq = pytest.importorskip("pyarrow.parquet")
    results = build()  # with halves of surrogate pairs, which Parquet cannot hold
    data = parquet.render(results)
    assert data == parquet.render(results)
    metadata = pq.read_schema(io.BytesIO(parquet.render(build(hostile=False)))).metadata
    assert metadata[b"tokbench.name"] == b"languages and code"
    assert metadata[b"tokbench.tokbench"] == b"0.1.0"


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


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles_with_hostile_names(tmp_path):
    (tmp_path / "tables.tex").write_text(latex.render(build()), encoding="utf-8")
    preamble = r"\documentclass{article}\usepackage{booktabs,longtable}\begin{document}"
    (tmp_path / "paper.tex").write_text(preamble + r"\input{tables}\end{document}", encoding="ascii")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "paper.pdf").stat().st_size > 10_000


def test_latex_has_as_many_columns_as_fit_a_page():
    names = [f"tokenizer-{k}" for k in range(20)]
    cells = [Cell(name, "c", group, "m", 1.0, "u") for name in names for group in ("*", "en", "de")]
    metrics = {"m": MetricInfo(headline=True, direction="higher", unit="u", role="text per token")}
    corpora = {"c": CorpusInfo(groups={"en": 1, "de": 1})}
    tables = environments(latex.render(Results(name="r", corpora=corpora, metrics=metrics, cells=cells)))[1:]
    assert [len(columns) for columns, _ in tables] == [5, 5, 5, 5, 5]
    heads = "".join(body.split(r"\endfirsthead")[0] for _, body in tables)
    assert re.findall(r"tokenizer\{-\}\d+", heads) == [name.replace("-", "{-}") for name in names]


@pytest.mark.parametrize(
    "name", ["\\end{longtable}", "50%", "a&b", "x_1^2", "[h]", "*", "{", "}", "$x$", "#1", "~", "a\nb", "--"]
)
def test_no_name_acts_in_latex(name):
    text = latex_text(name)
    bare = re.sub(r"\\[#$%&_{}]|\\text[a-z]+\{\}|\{[\[\]*-]\}", "", text)  # what is escaped on purpose
    assert not set(bare) & set("\\#$%&_{}^~[]*\n")
    results = Results(
        name="r",
        corpora={name: CorpusInfo(groups={"g": 1})},
        metrics={"m": MetricInfo(headline=True, direction="lower", unit="u"), "back": MetricInfo(role="share of exact documents")},
        cells=[Cell(name, name, "*", "m", 1.0, "u"), Cell("other", name, "*", "m", 2.0, "u")],
    )  # fmt: skip
    [(columns, body)] = environments(latex.render(results))
    assert columns == "lr"
    assert [len(row) for row in rows_of(body)] == [2, 2]


def table(values: dict[str, tuple], direction: str = "higher") -> str:
    """The overview of one metric, from value, low and high by tokenizer; b varies in another way than the others."""
    back = {"back": MetricInfo(role="share of exact documents")}
    cells = [Cell(name, "c", "*", "m", value, "u", low, high) for name, (value, low, high) in values.items()]
    cells += [Cell(name, "c", "*", "back", 0.5 if name == "lossy" else 1.0) for name in values]
    metrics = {
        "m": MetricInfo(family="f", headline=True, direction=direction, unit="u", ratio_of=["up", "down"])
    } | back
    up = np.linspace(90, 110, BUCKETS)
    down = {name: up[::-1] if name == "b" else up for name in values}
    states = [
        RawState(tokenizer=name, corpus="c", group="g", family="f", state={"documents": 400, "sums": {"up": up.tolist(), "down": (down[name] / value).tolist()}, "largest": {"down": 1}})
        for name, (value, *_) in values.items()
    ]  # fmt: skip
    corpora = {"c": CorpusInfo(groups={"g": 400})}
    return latex.render(Results(name="r", corpora=corpora, metrics=metrics, cells=cells, states=RawStates(states)))


def bold(text: str) -> set[str]:
    return {
        name for name, number in re.findall(r"^([\w-]+) & (.*?) \\", text, flags=re.MULTILINE) if "textbf" in number
    }


def test_latex_sets_the_best_bold_with_all_that_cannot_be_told_apart():
    values = {"a": (3.0, 2.9, 3.1), "b": (2.95, 2.85, 3.05), "c": (2.0, 1.9, 2.1), "lossy": (9.0, 8.9, 9.1)}
    text = table(values)
    assert bold(text) == {"a", "b"}
    assert r"& m $\uparrow$ \\" in text.replace("tokenizer ", "")
    assert r"a & \textbf{3.000} {\scriptsize{[}2.900--3.100{]}} \\" in text
    assert r"lossy & 9.000$\ddagger$" in text
    assert bold(table(values, direction="lower")) == {"c"}
    assert r"$\downarrow$" in table(values, direction="lower")
    # Paired, a and c have the same ups and downs: however near they are, they can be told apart.
    near = {"a": (3.0, 2.9, 3.1), "c": (2.999, 2.9, 3.1), "d": (1.0, 0.9, 1.1)}
    assert bold(table(near)) == {"a"}
    # Where most are equal, bold says nothing.
    assert bold(table({"a": (3.0, 2, 4), "b": (3.0, 2, 4), "c": (2.9, 2, 4)})) == set()


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_terminal_keeps_its_width(width):
    lines = printed(build(hostile=False), width).splitlines()
    assert max(map(len, lines)) <= width
    # Not one row of the table is broken: every tokenizer that ran begins a line with its size after it.
    assert [line for line in lines if line.startswith("o200k ") and "200,019" in line]


def test_a_wide_terminal_has_every_column_once_and_a_narrow_one_those_of_the_best_known_metrics():
    report = Report(build(hostile=False))
    every, names = main_columns(report.tables), list(report.results.tokenizers)
    assert _fitting(report, names, 10_000) == every
    fitting = _fitting(report, names, 60)
    assert fitting == [column for column in every if column.metric == "compression_ratio"][: len(fitting)] != []


def test_terminal_shows_hostile_text_and_nothing_acts():
    text = printed(build(), 160, colour=True)
    text.encode()
    assert ESCAPE not in text
    assert "\x07" not in text
    assert "\u202e" not in text
    assert "\\u{1b}[31mred" in text


def test_terminal_reads_no_markup():
    results = build(hostile=False)
    results.notes.append("[bold]not a style[/] [link=x]y")
    assert "[bold]not a style[/] [link=x]y" in printed(results, 100)


def test_terminal_tells_what_matters():
    text = printed(build(hostile=False), 100)
    assert "† 90 % of the evaluated documents were in the training text" in text
    assert "†" in text.split("† 90 %", maxsplit=1)[0]
    assert "p50k: unavailable: the vocabulary is not on this machine and there is no network" in text
    assert (
        "spm-bpe-4k: 6 texts of pud (white space 4, unknown token 2); de.txt:12 after Weg␣: 鬱 became ⁇ (U+9B31 → U+2047)"
        in " ".join(text.split())
    )
    assert "934 cells do not apply" in text
    assert "No room here, see the reports:" in text
    assert "written: reports/x/report.html" in text


def many_groups() -> Results:
    """A run of 200 groups in which one tokenizer fails everywhere, and one cannot have a number anywhere."""
    groups = {f"g{number}": 5 for number in range(200)}
    results = Results(name="r", corpora={"c": CorpusInfo(groups=groups)}, metrics=build(hostile=False).metrics)
    results.tokenizers = {name: TokenizerInfo(vocab_size=9) for name in ("fails", "loses", "good")}
    for number, group in enumerate(["*", *groups]):
        place = {"corpus": "c", "group": group, "metric": "tokens"}
        first = "g0" if group == "*" else group
        raised = f"encode: ValueError: boom (corpus c, group {first}, document {first}.txt:{number})"
        lost = f"loses does not give {number % 4 + 1} of 5 documents back: fewer tokens are no merit"
        results.cells += [
            Cell("fails", **place, status=Status.FAILED, reason=raised),
            Cell("loses", **place, status=Status.NOT_APPLICABLE, reason=lost),
            Cell("good", **place, value=7.0),
        ]
    return results


def test_a_problem_of_200_groups_is_told_once_with_its_count():
    results = many_groups()
    text, page, shown = markdown.render(results), html.render(results), " ".join(printed(results, 120).split())
    failed = (
        "201 cells in 200 groups: failed: encode: ValueError: boom (corpus c, group g0, document g0.txt:0) "
        "(the first of 201 that differ only in group, document or number) (tokens; fails"
    )
    assert failed in shown
    assert text.count("boom") == shown.count("boom") == 1
    assert f"- {failed}; c)\n" in text
    assert "201 cells in 200 groups: not applicable: loses does not give 1 of 5 documents back" in text
    assert text.count("documents back") == 1
    section = page.partition('<section id="problems">')[2].partition("</section>")[0]
    assert section.count("<tr><th") == 1 + 2, "a row for each of the two, below the head"
    assert '<td class="n">201</td><td class="n">200</td>' in section


def test_reasons_that_differ_in_more_than_the_place_stay_apart():
    results = many_groups()
    for reason in ("worker process ended by SIGSEGV (group g1)", "worker process ended by SIGKILL (group g2)"):
        results.cells.append(Cell("good", "c", "g1", "cer", status=Status.FAILED, reason=reason))
    assert [missing.cells for missing in problems(results).cells] == [201, 1, 1, 201]


def test_the_head_does_not_say_that_all_ran_over_failed_cells():
    results = many_groups()
    report = Report(results)
    assert report.subtitle == "3 tokenizers on 1 corpus, 201 cells failed"
    assert (report.key_numbers[0].text, report.key_numbers[0].remark) == ("3", "1 with failed cells")
    for text in (markdown.render(results), html.render(results), printed(results, 120)):
        assert "all ran" not in text
        assert "Everything ran" not in text
        assert "201 cells failed" in text
    results.cells = [cell for cell in results.cells if cell.status == Status.OK]
    assert Report(results).key_numbers[0].remark == "all ran"


@pytest.mark.slow
def test_a_vocabulary_smaller_than_asked_for_is_told():
    results = build(hostile=False)
    train = TrainingInfo(corpora=["code"], vocab_size=5000)
    results.tokenizers["naive-1k"] = TokenizerInfo(backend="naive_bpe", vocab_size=265, train=train)
    for text in (markdown.render(results), html.render(results), printed(results, 120)):
        assert "naive-1k: asked for 5,000, the text gave 265" in text
        assert "Smaller than asked for" in text
    results.tokenizers["naive-1k"] = TokenizerInfo(backend="naive_bpe", vocab_size=5000, train=train)
    for text in (markdown.render(results), printed(results, 120)):
        assert "Smaller than asked for" not in text


def test_a_run_in_which_everything_failed():
    results = everything_failed()
    assert "it did not load" in markdown.render(results)
    assert "0 of 25 tokenizers" in printed(results, 100)
    assert csv.results_csv(results).count("\n") == len(results.cells) + 1
    assert markdown.render(Results(name="empty"))
    assert printed(Results(name="empty"), 80)
