"""Which files a run writes: a format that needs a metric or a study is written where that is, and nowhere else."""

import pytest
from shared_fixtures import problems

import tokbench
from tokbench.engine.render import render_reports


@pytest.mark.parametrize(
    ("metrics", "extra", "formats", "files"),
    [
        ("[compression]", "", "[csv]", {"results.csv"}),
        ("[compression, pairs]", "", "[pairs, csv]", {"results.csv", "pairs.csv"}),
        (
            "[compression, pairs]",
            "study: {vocabulary: {sizes: [256]}}",
            "[csv]",
            {"results.csv", "curve.csv", "pairs.csv"},
        ),
    ],
)
def test_a_format_is_written_where_what_it_needs_is(write_config, tmp_path, metrics, extra, formats, files):
    tokbench.run(write_config(metrics=metrics, extra=extra, formats=formats), tmp_path, workers=0)
    render_reports([tmp_path], output=tmp_path / "again")
    for folder in (tmp_path, tmp_path / "again"):
        assert {file.name for file in folder.glob("*.csv")} == files


@pytest.mark.parametrize(
    ("formats", "extra", "expected"),
    [
        ("[pairs]", "", ["format 'pairs' needs the metrics 'pairs': add them"]),
        ("[csv, curve]", "", ["format 'curve' needs a study: add 'study.vocabulary'"]),
        ("[curve]", "study: {vocabulary: {sizs: [256]}}", ["unknown key 'sizs'; did you mean 'sizes'?"]),
    ],
)
def test_a_format_is_refused_without_what_it_needs(write_config, formats, extra, expected):
    found = problems(write_config(metrics="[compression]", formats=formats, extra=extra))
    assert [line.split(": ", 1)[1] for line in found] == expected
