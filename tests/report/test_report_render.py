"""``tokbench report``: finished runs are rendered again, with the same bytes, and nothing of a run is overwritten."""

from __future__ import annotations

import shutil

import pytest
from click.testing import CliRunner

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.engine.render import render_reports
from tokbench.foundation.errors import InputError, ResultsError

FORMATS = {"html": "report.html", "md": "report.md", "latex": "tables.tex", "csv": "results.csv", "parquet": "results.parquet"}  # fmt: skip
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
