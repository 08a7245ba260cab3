"""Pictures of charts: files that need nothing else, with names that no run can choose, and the same bytes every time."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET

import pytest
from click.testing import CliRunner
from document_tree import drawings_of
from every_section import every_section
from report_data import BIDI, SCRIPT, build, few

from tokbench.cli.main import tokbench as command
from tokbench.engine.reports import report_of
from tokbench.foundation.errors import InputError
from tokbench.report.pictures import pictures, write_pictures

METRICS = ("compression_ratio", "roundtrip_exact", "encode_mb_per_s")
FIRST = ("ranked-code", "size-code")


def markups(results):
    return {chart.name: chart.drawing.standalone("", chart.keys) for chart in pictures(report_of(results))}


def test_each_chart_is_a_picture_with_its_key():
    made = markups(few(build(hostile=False), metrics=METRICS))
    texts = {name: list(ET.fromstring(markup).itertext()) for name, markup in made.items()}
    assert list(made) == [*FIRST, "dots-code", "heat-code-compression_ratio", "heat-code-roundtrip_exact", "speed-code"]
    bars, front, _, heat, _, speed = texts.values()
    assert {"cl100k", "naive-1k", "lossy: not ranked"} <= set(bars)
    assert {"cl100k", "naive-1k", "vocabulary, ids"} <= set(front)
    assert {"python", "naive-1k", "whole corpus"} <= set(heat)
    assert any(text.startswith("‡ lossy and not ranked") for text in heat)
    assert {"encoding, MB/s", "utf8_bytes", "naive_bpe"} <= set(speed)


RUN = """\
schema: tokbench/1
name: drawn
corpora: {sample: {source: sample, part: languages, groups: [en, de, ja], parallel: true, reference: en, holdout: 0.5}}
tokenizers:
  n: {backend: naive_bpe, train: {corpus: sample, vocab_size: 270}}
  utf-16: {backend: utf16_units}
metrics: [compression, roundtrip, fairness]
study: {vocabulary: {sizes: [256, 265]}}
report: {formats: [csv]}
"""


@pytest.mark.slow
def test_a_run_writes_every_chart_under_the_name_of_what_it_shows(tmp_path):
    pytest.importorskip("vl_convert")
    (tmp_path / "run.yaml").write_text(RUN, encoding="utf-8")
    arguments = [
        "run",
        str(tmp_path / "run.yaml"),
        "-o",
        str(tmp_path / "out"),
        "--pictures",
        "--no-store",
        "--workers",
        "0",
    ]
    outcome = CliRunner().invoke(command, arguments)
    assert outcome.exit_code == 0, outcome.output
    files = sorted((tmp_path / "out" / "pictures").iterdir())
    assert {path.suffix for path in files} == {".svg", ".png"}
    names = {path.stem for path in files}
    assert len(files) == 2 * len(names)
    assert {
        *("heat-sample-compression_ratio", "heat-sample-premium", "lorenz-sample", "premiums-sample-n"),
        *("premium-sample-de", "premium-sample-ja", "sizes-sample", "sizes-sample-group-de", "sizes-sample-line-n"),
    } <= names
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in files if path.suffix == ".png")
    said = {
        path.stem: " ".join(ET.fromstring(path.read_text("utf-8")).itertext())
        for path in files
        if path.suffix == ".svg"
    }
    assert "sample: premium under n; the tokens of en are 1" in said["premiums-sample-n"]
    assert "sample: bytes per token" in said["sizes-sample-group-de"]


def test_names_of_files_are_safe_and_of_one_picture_each():
    results = build()
    results.cells = [c for c in results.cells if c.metric == "premium" or (c.metric, c.corpus) == ("tokens", "hostile")]
    names = [chart.name for chart in pictures(report_of(results))]
    assert len(names) > 2
    assert len({name.lower() for name in names}) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name) and ".." not in name for name in names)


def test_hostile_text_is_inert_in_pictures():
    markup = "".join(markups(few(build(), metrics=METRICS)).values())
    assert "&lt;script&gt;" in markup
    assert SCRIPT not in markup
    assert BIDI[0] not in markup


@pytest.mark.slow
def test_files_are_whole_by_themselves_and_the_same_every_time(tmp_path):
    pytest.importorskip("vl_convert")
    one, two = (
        write_pictures(report_of(few(build(hostile=False), metrics=METRICS)), tmp_path / name)
        for name in ("one", "two")
    )
    assert [path.name for path in one] == [
        f"{name}.{ending}"
        for name in (
            *FIRST,
            *("dots-code", "heat-code-compression_ratio", "heat-code-roundtrip_exact", "speed-code"),
        )
        for ending in ("svg", "png")
    ]  # fmt: skip
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]
    for path in one:
        if path.suffix == ".png":
            assert path.read_bytes().startswith(b"\x89PNG")
            continue
        markup = path.read_text(encoding="utf-8")
        drawn = ET.fromstring(markup)
        style = drawn.find("{*}style").text
        assert "font-family" in style
        assert not re.search(r"var\(|url\(|@import|:is\(|:not\(", style)
        assert not [part for part in drawn.iter() if {"href", "src"} & {name.split("}")[-1] for name in part.attrib}]
        used = {name for part in drawn.iter() for name in part.get("class", "").split()}
        assert {"mark", "p0", "grid"} <= used or {"heatmap", "h8"} <= used or {"ranking", "top"} <= used


@pytest.mark.parametrize("arguments", [["report", "no-such-run"], ["run", "no-such.yaml"]])
def test_without_the_library_pictures_are_refused_before_anything_is_done(monkeypatch, arguments):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    outcome = CliRunner().invoke(command, [*arguments, "--pictures"])
    assert isinstance(outcome.exception, InputError)
    assert "pip install 'tokbench[plot]'" in str(outcome.exception)


@pytest.mark.slow
def test_report_writes_pictures_beside_the_other_formats(tmp_path):
    pytest.importorskip("vl_convert")
    (tmp_path / "results.json").write_text(few(build(hostile=False), metrics=METRICS).to_json(), encoding="utf-8")
    outcome = CliRunner().invoke(
        command, ["report", str(tmp_path), "--format", "csv", "--pictures", "-o", str(tmp_path / "o")]
    )
    assert outcome.exit_code == 0, outcome.output
    assert len(list((tmp_path / "o" / "pictures").iterdir())) == 12


@pytest.fixture(scope="module")
def whole():
    return report_of(every_section())


def test_a_report_can_have_all_of_its_sections_at_once(whole):
    assert [spec.name for spec in whole.ordered_specs if not spec.sections(whole.tables)] == []


def test_no_chart_of_the_page_is_forgotten(whole):
    """All that a section draws, its ``charts`` yield. The numbers say that every kind of chart is there."""
    shown = {section.id: drawings_of(section) for section in [whole.answer, *whole.sections]}
    numbers = {
        "answer": 4, "groups": 2, "fairness": 7, "alike": 2, "bits-per-byte": 3, "validity": 2, "curves-0": 1, "vocabulary-size": 7, "tradeoff": 2,
    }  # fmt: skip
    assert {name: len(drawings) for name, drawings in shown.items() if drawings} == numbers
    written = {chart.drawing.__html__() for chart in pictures(whole)}
    forgotten = [
        (name, drawing.title)
        for name, drawings in shown.items()
        for drawing in drawings
        if drawing.__html__() not in written
    ]
    assert forgotten == []
