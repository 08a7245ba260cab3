"""Runs that are killed, and go on: what was finished is not done again, and the results are those of a run at one go."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest
from counting import counted, noted

pytestmark = pytest.mark.slow

GROUPS = 10


@pytest.fixture
def slow_run(install, stored, write_config, tmp_path, monkeypatch):
    """Write a configuration of four slow tokenizers, two of them trained, and return how to start it."""
    install("counting")
    monkeypatch.setenv("TOKBENCH_PLUGINS", "corpora,counting,metrics,reports")  # processes start a little faster
    monkeypatch.setenv("COUNTED", str(tmp_path / "counted"))
    for number in range(GROUPS):
        (tmp_path / f"{number:02}.txt").write_text(f"text {number}\nab\n", encoding="utf-8")
    tokenizers = [f"  {name}: {{backend: counting, name: {name}, slow: 0.05}}" for name in ("one", "two")]
    tokenizers += [
        f"  {name}: {{backend: counting, name: {name}, slow: 0.05, train: {{corpus: c, vocab_size: 300}}}}"
        for name in ("three", "four")
    ]
    corpora = "  c: {source: text, path: '??.txt', document: line}"
    path = write_config(
        corpora=corpora, tokenizers="\n".join(tokenizers), metrics="[compression, fertility, roundtrip]"
    )
    out = tmp_path / "out"

    def start(*options):
        command = [sys.executable, "-m", "tokbench", "run", str(path), "-o", str(out), "-w2", *options]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def results():
        return (out / "results.csv").read_bytes()

    start.results = results
    return start


def finish(process):
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return errors


def wait_for_notes(number, path, process):
    """Wait until so many things were done, or the run has ended."""
    end = time.monotonic() + 60
    while (
        time.monotonic() < end
        and process.poll() is None
        and (not path.exists() or path.read_text(encoding="utf-8").count("\n") < number)
    ):
        time.sleep(0.02)


def redone(before, after):
    """Return what a process had finished before it went on to another text, and is done again.

    A process is given its next shard when the store has what it made of the last one.
    """
    finished = {
        (what, digest)
        for number, (what, _, digest, process) in enumerate(before)
        if any(later[3] == process and later[2] != digest for later in before[number + 1 :])
    }
    return [line for line in after if (line[0], line[2]) in finished]


@pytest.fixture(scope="module")
def remembered():
    """Return a place for what the tests share."""
    return {}


@pytest.fixture
def at_one_go(slow_run, remembered):
    """Return the results of a run at one go without a store, and its seconds; it is done once for all tests."""
    if not remembered:
        begin = time.monotonic()
        finish(slow_run("--no-store"))
        remembered.update(seconds=time.monotonic() - begin, results=slow_run.results())
        noted()
    return remembered


def kill(process, moment, path, *, early):
    """Kill a run after so many seconds, which begin when it starts, or when something is finished."""
    if not early:
        wait_for_notes(1, path, process)
    time.sleep(moment)
    process.kill()
    process.communicate()


@pytest.mark.parametrize("seed", range(2))
def test_a_run_that_is_killed_six_times_goes_on(slow_run, at_one_go, seed, tmp_path):
    moments, seconds = random.Random(seed), at_one_go["seconds"]
    # The first is any moment of the whole run, and each other one after the first thing that is finished after the last.
    first = moments.uniform(0, seconds)
    rounds = []
    for number in range(6):
        moment = moments.uniform(0, seconds - first / 2) / 3 if number else first
        kill(slow_run(), moment, tmp_path / "counted", early=not number)
        rounds.append(noted())
    finish(slow_run())
    assert slow_run.results() == at_one_go["results"]
    rounds.append(noted())
    for number, notes in enumerate(rounds):
        for later in rounds[number + 1 :]:
            assert redone(notes, later) == []
    if not seed:
        finish(slow_run())
        assert slow_run.results() == at_one_go["results"]
        assert noted() == []


def test_what_a_stopped_run_finished_is_kept(slow_run, at_one_go, tmp_path):
    process = slow_run()
    wait_for_notes(6, tmp_path / "counted", process)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 143
    before = noted()
    assert len(before) >= 6
    errors = finish(slow_run())
    assert redone(before, noted()) == [], errors
    assert slow_run.results() == at_one_go["results"]


def test_two_runs_at_once_share_a_store(slow_run, at_one_go):
    both = [slow_run(), slow_run()]
    for process in both:
        assert "damaged" not in finish(process)
    assert slow_run.results() == at_one_go["results"]
    assert counted("trained:three") > 0
    finish(slow_run())
    assert noted() == []


def test_a_worker_that_is_killed_costs_what_it_had_not_finished(slow_run, at_one_go, tmp_path, monkeypatch):
    fatal = tmp_path / "die"
    monkeypatch.setenv("DIE_ONCE", str(fatal))
    process = slow_run()
    wait_for_notes(8, tmp_path / "counted", process)
    fatal.touch()
    process.communicate(timeout=120)
    assert process.returncode == 0, "what died was done again in a fresh process"
    before = noted()
    assert not fatal.exists()
    finish(slow_run())
    assert redone(before, noted()) == []
    assert slow_run.results() == at_one_go["results"]
    assert "DIE_ONCE" in os.environ
