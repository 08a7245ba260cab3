"""Results for other programs: the file of pytest-benchmark."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from report_data import build

from tokbench.formats import pytest_benchmark
from tokbench.results.blocks import MetricInfo
from tokbench.results.cells import WHOLE, Cell

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
        results, cells=[each if each.metric != "load_s" else replace(each, value=1.0) for each in results.cells]
    )
    for name, each in (("one", results), ("two", slower)):
        (tmp_path / f"{name}.json").write_text(pytest_benchmark.pytest_benchmark_json(each), encoding="utf-8")
    command = Path(sys.executable).with_name("pytest-benchmark")
    arguments = [command, "compare", tmp_path / "one.json", tmp_path / "two.json", "--group-by", "group"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    load = done.stdout.split("'load_s ")[1]
    assert "500.0000 (1.0)" in load
    assert "1,000.0000 (2.0" in load
