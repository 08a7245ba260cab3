"""The recipes of the README of counts: each gives the table of tokbench count, and the merges of the text."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("duckdb")
pytest.importorskip("numba")

import pyarrow.parquet as pq

from tokbench import load
from tokbench import train as trained
from tokbench.cli.main import tokbench as command
from tokbench_plugins.bpe import train
from tokbench_plugins.bpe.compiled.train import train_counts
from tokbench_plugins.counts.read import read_counts

README = Path(__file__).parents[2] / "tokbench_plugins" / "counts" / "README.md"
SUPERWORDS = Path(__file__).parents[2] / "trainers" / "docs" / "superwords.md"
WORDS = ["low", "lower", "new", "newer", "été", "東京", "12", "'s", "\n", "🎉", "Wide"]

pytestmark = [pytest.mark.slow, pytest.mark.one_of_file]


def recipe(name, page):
    """Return the block of Python that uses a library."""
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return next(block for block in blocks if re.search(rf"^(?:import|from) {name}\b", block, re.MULTILINE))


@pytest.fixture
def documents(tmp_path):
    rng = random.Random(0)
    (tmp_path / "texts").mkdir()
    (tmp_path / "parts").mkdir()
    made = [" ".join(rng.choices(WORDS, k=rng.randrange(1, 40))) for _ in range(100)]
    for file in range(5):
        rows = [{"text": made[k], "lang": "ab"[k % 2]} for k in range(20 * file, 20 * file + 20)]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / "texts" / f"{file}.jsonl").write_text(lines, encoding="utf-8")
    return made


def run(name, folder, page=README):
    (folder / "recipe.py").write_text(recipe(name, page), encoding="utf-8")
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}
    done = subprocess.run(
        [sys.executable, "recipe.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr


def count(*words):
    done = CliRunner().invoke(command, ["count", *map(str, words)])
    assert done.exit_code == 0, done.output


def check(folder, documents, *ties):
    count(folder / "texts", "-o", folder / "wanted.counts", "--group", "{lang}")
    columns = ["chunk", "group", "count"]
    wanted, found = (
        sorted(map(str, pq.read_table(folder / f"{name}.counts").select(columns).to_pylist()))
        for name in ("wanted", "all")
    )
    assert found == wanted
    for tie in ("smallest", *ties):
        merges = train_counts(read_counts(folder / "all.counts", tie, folder), 300, tie)
        assert merges == train(documents, 300, "gpt4", tie=tie, engine="python")


@pytest.mark.parametrize(("name", "ties"), [("dask", ["first"]), ("datatrove", [])])
def test_parts_are_added(tmp_path, documents, name, ties):
    pytest.importorskip(name)
    run(name, tmp_path)
    count("--add", tmp_path / "parts", "-o", tmp_path / "all.counts")
    check(tmp_path, documents, *ties)
    run("duckdb", tmp_path)
    check(tmp_path, documents, *ties)
    lost = sorted((tmp_path / "parts").iterdir())[-2:]
    lost[0].unlink()
    if name == "dask":
        with pytest.raises(AssertionError):
            count("--add", tmp_path / "parts", "-o", tmp_path / "all.counts")


@pytest.mark.parametrize("name", ["ray", "pyspark"])
def test_sums_of_a_cluster(tmp_path, documents, name):
    pytest.importorskip(name)
    if name == "pyspark" and not shutil.which("java"):
        pytest.skip("Spark needs Java")
    run(name, tmp_path)
    check(tmp_path, documents)


@pytest.mark.parametrize(
    ("name", "tie"),
    [("dask", "first"), ("pyspark", "smallest"), ("ray", "smallest")],
)
@pytest.mark.nightly
def test_superwords_of_a_cluster(tmp_path, documents, name, tie):
    pytest.importorskip(name)
    pytest.importorskip("tokbench_trainers")
    count(tmp_path / "texts", "-o", tmp_path / "words.counts")
    run(name, tmp_path, SUPERWORDS)
    count("--add", tmp_path / "parts", "-o", tmp_path / "super.counts")
    train = ["train", "--backend", "superbpe:gpt4", "-O", f"tie={tie}", "--counts", str(tmp_path / "super.counts")]
    done = CliRunner().invoke(command, [*train, "--vocab-size", "320", "-o", str(tmp_path / "made")])
    assert done.exit_code == 0, done.output
    [path] = (tmp_path / "made").glob("*.bpe.json")
    assert load(str(path)).merges == trained("superbpe:gpt4", documents, 320, tie=tie, store=False).merges
