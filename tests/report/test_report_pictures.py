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


@pytest.mark.slow
def test_report_writes_pictures_beside_the_other_formats(tmp_path):
    pytest.importorskip("vl_convert")
    (tmp_path / "results.json").write_text(small(hostile=False).to_json(), encoding="utf-8")
    arguments = ["report", str(tmp_path), "--format", "csv", "--pictures", "-o", str(tmp_path / "o")]
    outcome = CliRunner().invoke(command, arguments)
    assert outcome.exit_code == 0, outcome.output
    assert len(list((tmp_path / "o" / "pictures").iterdir())) == 2 * len(NAMES)


@pytest.fixture(scope="module")
def whole():
    return report_of(every_section())


def test_a_report_can_have_all_of_its_sections_at_once(whole):
    assert [spec.name for spec in whole.ordered_specs if not spec.sections(whole.tables)] == []


def test_no_chart_of_the_page_is_forgotten(whole):
    """All that a section draws, its ``charts`` yield. The numbers say that every kind of chart is there."""
    shown = {section.id: drawings_of(section) for section in [whole.answer_section, *whole.sections]}
    numbers = {
        "answer": 2, "fairness": 5, "bits-per-byte": 2, "best-size": 1, "vocabulary-size": 3, "tradeoff": 2,
    }  # fmt: skip
    assert {name: len(drawings) for name, drawings in shown.items() if drawings} == numbers
    written = {chart.drawing.__html__() for chart in pictures(whole)}
    every = [(name, drawing) for name, drawings in shown.items() for drawing in drawings]
    assert [(name, drawing.title) for name, drawing in every if drawing.__html__() not in written] == []
