"""``--workers 0`` and ``--debug``: everything runs in this process, and errors show where the code failed."""

import signal
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
from click.testing import CliRunner
from shared_fixtures import cell

import tokbench
from tokbench.cli.main import tokbench as tokbench_command
from tokbench.corpus import shards
from tokbench.corpus.words import find
from tokbench.results.states import RawStates

HELPER = Path(__file__).parents[1] / "helpers" / "own_plugins.py"


def line_of(text):
    """Return the number of the line of the helper that begins with a text."""
    lines = HELPER.read_text(encoding="utf-8").splitlines()
    [number] = [number for number, line in enumerate(lines, 1) if line.strip().startswith(text)]
    return number


def command(*args, **options):
    return subprocess.run(
        [sys.executable, "-m", "tokbench", *map(str, args)],
        capture_output=True, text=True, timeout=120, check=False, **options,
    )  # fmt: skip


@pytest.fixture
def own(install):
    install("own_plugins")


@pytest.mark.slow
def test_the_number_of_workers_changes_no_file(write_config, corpus, tmp_path):
    tokenizers = (
        "  n: {backend: regex_bpe, engine: python, train: {corpus: c, vocab_size: [257, 258]}}\n"
        "  b: {backend: utf8_bytes}\n  u: {backend: utf16_units}"
    )
    metrics = "[compression, fertility, continued_words, roundtrip, vocabulary, fairness, pairs, probes]"
    study = "study: {vocabulary: {sizes: [256, 257]}}"
    config = write_config(corpus, tokenizers, metrics, extra=study)
    files = {}
    for workers in (0, 1, 2):
        folder = tmp_path / f"workers-{workers}"
        results = tokbench.run(config, folder, workers)
        assert not results.problems
        files[workers] = {path.name: path.read_bytes() for path in folder.glob("*.csv")}
    assert sorted(files[0]) == ["curve.csv", "pairs.csv", "results.csv"]
    assert files[0] == files[1] == files[2]


def test_a_metric_that_raises_fails_the_run(write_config, corpus, own, tmp_path):
    config = write_config(corpus, metrics="[raises]")
    done = CliRunner().invoke(tokbench_command, ["run", str(config), "-o", str(tmp_path / "out"), "-w", "0"])
    assert done.exit_code == 1
    assert "Traceback" not in done.output


@pytest.mark.slow
def test_a_metric_that_raises_shows_its_line(write_config, corpus, own, tmp_path):
    done = command("run", write_config(corpus, metrics="[raises]"), "-o", tmp_path / "out", "--debug")
    assert done.returncode == 1
    assert f'own_plugins.py", line {line_of("raise ValueError")}, in map' in done.stderr, "from a worker as well"


@pytest.mark.slow
def test_a_debugger_in_a_metric(write_config, corpus, own, tmp_path):
    config = write_config(corpus, metrics="[stops]")
    done = command("run", config, "-o", tmp_path / "out", "-w", 0, input="p 40 + 2\nc\nc\nc\nc\n")
    assert done.returncode == 0, done.stderr
    assert "own_plugins.py" in done.stdout
    assert "\n(Pdb) 42\n" in done.stdout


def test_ctrl_c_in_this_process_keeps_what_was_measured(write_config, corpus, faulty):
    tokenizers = "  good: {backend: utf8_bytes}\n  stop: {backend: RaisesKeyboardInterrupt}"
    results = tokbench.run(write_config(corpus, tokenizers), workers=0)
    assert results.interrupted
    assert cell(results, "good", "tokens", "x").value == 6
    assert cell(results, "stop", "tokens", "y").reason == "the run was stopped before this was measured"


def test_ctrl_c_while_cells_are_made_loses_none(write_config, corpus, monkeypatch):
    config = write_config(corpus, "  good: {backend: utf8_bytes}\n  other: {backend: utf16_units}")
    whole, calls, add = tokbench.run(config, workers=0), count(), RawStates.add

    def interrupted(packed, state):
        if next(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        add(packed, state)

    monkeypatch.setattr(RawStates, "add", interrupted)
    results = tokbench.run(config, workers=0)
    assert (results.states, results.cells) == (whole.states, whole.cells)
    assert results.partial.phase == "reports"


@pytest.mark.packages
def test_a_long_document_is_measured_as_others_are(write_config, monkeypatch):
    """Each family finds again what the document does not keep, and finds the same."""
    config = write_config(
        tokenizers="  n: {backend: regex_bpe, train: {corpus: sample, vocab_size: 300}}",
        metrics="[fertility, continued_words, strr, utf8, numbers, roundtrip]",
    )
    whole, searches, found = tokbench.run(config, workers=0, store=False), [], find.find_words
    monkeypatch.setattr(shards, "_LONG", 0)
    monkeypatch.setattr(find, "find_words", lambda texts, *args: searches.append(texts) or found(texts, *args))
    results = tokbench.run(config, workers=0, store=False)
    assert (results.cells, results.states) == (whole.cells, whole.states)
    assert len(searches) > len({tuple(texts) for texts in searches})
