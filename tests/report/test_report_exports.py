"""Results for other programs: the files of pytest-benchmark and of airspeed velocity."""

import json
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from report_data import build, everything_failed

from tokbench.formats import asv, pytest_benchmark
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
    assert found["extra_info"]["encode_mb_per_s"] == 20.0


def test_a_time_without_an_interval_is_one_round(results):
    [found] = [each for name, each in benchmarks(results).items() if name.startswith("load_s[")]
    stats = found["stats"]
    assert {stats[name] for name in ("min", "max", "mean", "median", "q1", "q3")} == {0.5}
    assert (stats["stddev"], stats["iqr"], stats["rounds"]) == (0.0, 0.0, 1)


def test_what_is_not_a_time_is_no_benchmark(results):
    names = {name.split("[")[0] for name in benchmarks(results)}
    assert (
        names == {"encode_mb_per_s", "load_s"} | {name for name, info in results.metrics.items() if info.timed} & names
    )
    assert "compression_ratio" not in names
    assert json.loads(pytest_benchmark.pytest_benchmark_json(everything_failed()))["benchmarks"] == []


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


def rows(results):
    """Read a file as asv's documentation says: the columns of each row, and values in the order of the product."""
    body = json.loads(asv.asv_results(results))
    for name, row in body["results"].items():
        columns = dict(zip(body["result_columns"], row, strict=False))
        assert len(columns["result"]) == len(list(product(*columns["params"])))
        yield name, columns


def test_asv_gets_every_number_in_the_order_of_its_parameters(results):
    values = {
        (name.split(".track_")[1], *map(eval, place)): value
        for name, columns in rows(results)
        for place, value in zip(product(*columns["params"]), columns["result"], strict=True)
        if value is not None
    }
    expected = {
        (each.metric, each.tokenizer, each.corpus if each.group == WHOLE else f"{each.corpus}/{each.group}"): each.value
        for each in results.cells
        if each.value is not None and each.metric in results.metrics
    }
    assert values == expected
    assert len(values) > 100


def test_asv_has_the_keys_that_its_documentation_names(results):
    body = json.loads(asv.asv_results(results))
    documented = (
        "version commit_hash env_name date params python requirements env_vars durations result_columns results"
    )
    assert set(body) == set(documented.split())
    assert body["version"] == 2
    assert body["result_columns"][:3] == ["result", "params", "version"]
    assert body["date"] > 1e12, "milliseconds"
    assert body["env_name"].isprintable(), "asv makes a folder of it"


def test_asv_describes_every_metric_with_the_same_parameters_and_version(results):
    described = json.loads(asv.asv_benchmarks(results))
    assert described.pop("version") == 2
    found = dict(rows(results))
    assert found.keys() == described.keys()
    for name, each in described.items():
        assert (each["name"], each["type"], each["param_names"]) == (name, "track", ["tokenizer", "corpus"])
        assert (each["params"], each["version"]) == (found[name]["params"], found[name]["version"])
    other = replace(results, metrics=results.metrics | {"load_s": replace(LOAD, formula="other")})
    assert (
        json.loads(asv.asv_benchmarks(other))["load.track_load_s"]["version"]
        != described["load.track_load_s"]["version"]
    )


def test_asv_finds_the_machine_of_the_results(results):
    machine = json.loads(asv.asv_machine(results))
    assert machine.keys() == {"version", "machine", "os", "arch", "cpu", "num_cpu", "ram"}
    assert machine["version"] == 1
    params = json.loads(asv.asv_results(results))["params"]
    assert {name: value for name, value in machine.items() if name != "version"}.items() <= params.items()


def test_a_run_without_numbers_is_an_empty_file():
    assert json.loads(asv.asv_results(everything_failed()))["results"] == {}
