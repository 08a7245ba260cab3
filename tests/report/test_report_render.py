"""Files of a finished run: rendered again with the same bytes, and the pictures of its charts."""

from __future__ import annotations

import re
import shutil
import sys
import xml.etree.ElementTree as ET

import pytest
from click.testing import CliRunner
from document_tree import drawings_of
from every_section import every_section
from report_data import BIDI, SCRIPT, build, few

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.engine.render import render_reports
from tokbench.engine.reports import report_of
from tokbench.foundation.errors import InputError, ResultsError
from tokbench.report.pictures import pictures, write_pictures

FORMATS = {"html": "report.html", "md": "report.md", "latex": "tables.tex", "csv": "results.csv"}  # fmt: skip
FILES = {*FORMATS.values(), "pairs.csv"}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a run with losses, timings, comparisons and every format."""
    folder = tmp_path_factory.mktemp("runs")
    for group, text in {"x": "aaa bab\nabc ab\n", "y": "cafe\u0301 abab\n"}.items():
        (folder / f"{group}.txt").write_text(text, encoding="utf-8")
    (folder / "run.yaml").write_text(
        "schema: tokbench/1\nname: small\ncorpora:\n  sample: {source: text, path: '?.txt', document: line}\ntokenizers:\n"
        "  bytes: {backend: utf8_bytes}\n  utf-16: {backend: utf16_units}\n"
        "  mine: {backend: regex_bpe, pattern: gpt4, engine: python, train: {corpus: sample, vocab_size: 258}}\n"
        "  lossy: {backend: splintr, vocabulary: modernbert}\n"
        "metrics: [compression, roundtrip, pairs, speed: {rounds: 3}]\n"
        f"report: {{formats: [{', '.join(FORMATS)}]}}\n",
        encoding="utf-8",
    )
    tokbench.run(folder / "run.yaml", folder / "run", workers=0)
    return folder / "run"


def invoke(*arguments):
    return CliRunner(catch_exceptions=True).invoke(command, ["report", *map(str, arguments)])


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.slow
def test_every_format_has_the_bytes_that_the_run_wrote(run, tmp_path):
    before = contents(run)
    done = invoke(run, "-o", tmp_path / "again")
    assert done.exit_code == 0, done.output
    again = contents(tmp_path / "again")
    assert set(again) == FILES
    assert [name for name in again if again[name] != before[name]] == []
    assert f"written: {tmp_path / 'again' / 'report.html'}" in done.output
    assert contents(run) == before


def test_formats_are_chosen_and_go_beside_the_results_by_default(run, tmp_path):
    folder = tmp_path / "copy"
    folder.mkdir()
    shutil.copy(run / "results.json", folder)
    shutil.copy(run / "states.jsonl.gz", folder)
    done = invoke(folder / "results.json", "--format", "latex", "--format", "csv", "--format", "csv")
    assert done.exit_code == 0, done.output
    assert set(contents(folder)) == {"results.json", "states.jsonl.gz", "tables.tex", "results.csv"}
    assert (folder / "tables.tex").read_bytes() == (run / "tables.tex").read_bytes()
    assert (folder / "results.json").read_bytes() == (run / "results.json").read_bytes()


def test_several_runs_have_a_folder_each(run, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    text = (run / "results.json").read_text(encoding="utf-8")
    (other / "results.json").write_text(text.replace('"name": "small"', '"name": "large"', 1), encoding="utf-8")
    done = invoke(run, other, "--format", "csv", "-o", tmp_path / "all")
    assert done.exit_code == 0, done.output
    assert {path.relative_to(tmp_path).as_posix() for path in (tmp_path / "all").rglob("*.csv")} == {
        "all/small/results.csv",
        "all/large/results.csv",
    }
    with pytest.raises(InputError):
        render_reports([run, run], ["csv"], tmp_path / "twice")
    (other / "results.json").write_text(text.replace('"name": "small"', '"name": "../up"', 1), encoding="utf-8")
    with pytest.raises(InputError):
        render_reports([run, other], ["csv"], tmp_path / "out")
    assert not (tmp_path / "twice").exists()
    assert not (tmp_path / "out").exists()


def test_what_is_wrong_is_told_before_anything_is_written(run, tmp_path):
    with pytest.raises(InputError, match=r"unknown report format 'latx'; did you mean 'latex'\?"):
        render_reports([run], ["csv", "latx"], tmp_path / "out")
    with pytest.raises(ResultsError, match="nowhere: not a results file"):
        render_reports([run, tmp_path / "nowhere"], ["csv"], tmp_path / "out")
    (tmp_path / "file").write_text("", encoding="utf-8")
    (tmp_path / "results.json").write_text("{}", encoding="utf-8")
    for folder in (tmp_path / "file", tmp_path):  # no folder, and the folder of another run
        with pytest.raises(InputError, match="-o"):
            render_reports([run], ["csv"], folder)
    assert not (tmp_path / "out").exists()


def test_a_format_that_cannot_be_written_is_a_problem_and_the_others_are_written(run, tmp_path):
    (tmp_path / "tables.tex").mkdir()
    done = invoke(run, "--format", "latex", "--format", "csv", "-o", tmp_path)
    assert done.exit_code == 1
    assert "tables.tex" in done.output.split("error: ")[1]
    assert (tmp_path / "results.csv").exists()


METRICS = ("compression_ratio", "roundtrip_exact", "encode_mb_per_s")
NAMES = [
    "ranked",
    "size",
    "heat-code-compression_ratio",
    "heat-code-roundtrip_exact",
    "speed-code",
]


def small(**options):
    return few(build(**options), metrics=METRICS)


def markups(results):
    return {chart.name: chart.drawing.standalone("", chart.keys) for chart in pictures(report_of(results))}


def test_each_chart_is_a_picture_with_its_key():
    texts = {name: set(ET.fromstring(markup).itertext()) for name, markup in markups(small(hostile=False)).items()}
    assert list(texts) == NAMES
    bars, front, heat, _, speed = texts.values()
    assert {"cl100k", "naive-1k"} <= bars & front
    assert {"python", "naive-1k", "whole corpus"} <= heat
    assert any(text.startswith("‡ ") for text in heat)
    assert {"utf8_bytes", "naive_bpe"} <= speed


def test_names_of_files_are_safe_and_of_one_picture_each():
    results = build()
    results.cells = [c for c in results.cells if c.metric == "premium" or (c.metric, c.corpus) == ("tokens", "odd")]
    names = [chart.name for chart in pictures(report_of(results))]
    assert len(names) > 2
    assert len({name.lower() for name in names}) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name) and ".." not in name for name in names)


def test_harmful_text_is_inert_in_pictures():
    markup = "".join(markups(small()).values())
    assert "&lt;script&gt;" in markup
    assert SCRIPT not in markup
    assert BIDI[0] not in markup


@pytest.mark.slow
def test_files_are_whole_by_themselves_and_the_same_every_time(tmp_path):
    pytest.importorskip("vl_convert")
    report = report_of(small(hostile=False))
    one, two = (write_pictures(report, tmp_path / name) for name in ("one", "two"))
    assert [path.name for path in one] == [f"{name}.{ending}" for name in NAMES for ending in ("svg", "png")]
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]
    for path in one:
        if path.suffix == ".png":
            assert path.read_bytes().startswith(b"\x89PNG")
            continue
        drawn = ET.fromstring(path.read_text(encoding="utf-8"))
        style = drawn.find("{*}style").text
        assert "font-family" in style
        assert not re.search(r"var\(|url\(|@import|:is\(|:not\(", style)
        assert not [part for part in drawn.iter() if {"href", "src"} & {name.split("}")[-1] for name in part.attrib}]
        used = {name for part in drawn.iter() for name in part.get("class", "").split()}
        assert {"mark", "p0", "grid"} <= used or {"heatmap", "h8"} <= used or {"ranking", "top"} <= used


@pytest.mark.parametrize("arguments", [["report", "no-such-run"], ["run", "no-such.yaml"]])
def test_pictures_need_their_library_before_anything_is_done(monkeypatch, arguments):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    outcome = CliRunner().invoke(command, [*arguments, "--pictures"])
    assert isinstance(outcome.exception, InputError)
    assert "pip install 'tokbench[plot]'" in str(outcome.exception)


@pytest.fixture(scope="module")
def whole():
    return report_of(every_section())


def test_no_chart_of_the_page_is_forgotten(whole):
    """All that a section draws, its ``charts`` yield. The numbers say that every kind of chart is there."""
    shown = {section.id: drawings_of(section) for section in [whole.answer_section, *whole.sections]}
    numbers = {"answer": 2, "fairness": 5, "vocabulary-size": 3, "tradeoff": 2}
    assert {name: len(drawings) for name, drawings in shown.items() if drawings} == numbers
    written = {chart.drawing.__html__() for chart in pictures(whole)}
    every = [(name, drawing) for name, drawings in shown.items() for drawing in drawings]
    assert [(name, drawing.title) for name, drawing in every if drawing.__html__() not in written] == []
