"""Trainings are timed without compiling for the machine: one that compiles is done once more, in a fresh process."""

import json

import pytest
from click.testing import CliRunner

from tokbench.cli.main import tokbench as command

pytest.importorskip("numba")

CONFIG = """schema: tokbench/1
name: test
corpora: {c: {source: text, path: c.txt, document: line}}
tokenizers: {one: {backend: compiling, log: LOG, train: {corpus: c, vocab_size: 256}}}
metrics: [compression]
"""


@pytest.fixture
def trainings(install, tmp_path, monkeypatch):
    """Train from a configuration, and return what the trainer wrote about each of its trainings."""
    install("compiling_trainer")
    monkeypatch.setenv("TOKBENCH_PLUGINS", "compiling_trainer,corpora,metrics")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "machine code"))
    (tmp_path / "c.txt").write_text("".join(f"line {number}\n" for number in range(500)), encoding="utf-8")
    (tmp_path / "run.yaml").write_text(CONFIG.replace("LOG", str(tmp_path / "log")), encoding="utf-8")

    def train():
        (tmp_path / "log").write_text("")
        arguments = ["train", str(tmp_path / "run.yaml"), "--no-store", "--json", "-o", str(tmp_path / "out")]
        CliRunner().invoke(command, arguments)
        return [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]

    return train


@pytest.mark.slow
def test_compiled_training_repeats_in_fresh_process(trainings):
    first, second = trainings()
    assert (first["compiled"], first["texts"]) == (1, 500)
    assert (second["compiled"], second["texts"]) == (0, 500)
    assert first["process"] != second["process"]
    [later] = trainings()  # the machine code is there
    assert (later["compiled"], later["texts"]) == (0, 500)
