"""A run that is killed, stopped and disturbed goes on: finished work is not done again, and the results are the same."""

import signal
import subprocess
import sys
import time

import pytest
from counting import noted

GROUPS = 8


@pytest.fixture
def start(install, stored, write_config, tmp_path, monkeypatch):
    """Write a configuration of two slow tokenizers, one of them trained, and return what starts it."""
    install("counting")
    monkeypatch.setenv("TOKBENCH_PLUGINS", "corpora,counting,metrics,reports")
    monkeypatch.setenv("COUNTED", str(tmp_path / "counted"))
    monkeypatch.setenv("DIE_ONCE", str(tmp_path / "die"))
    for number in range(GROUPS):
        (tmp_path / f"{number:02}.txt").write_text(f"text {number}\nab\n", encoding="utf-8")
    slow = "backend: counting, slow: 0.05"
    tokenizers = f"  one: {{{slow}}}\n  two: {{{slow}, name: two, train: {{corpus: c, vocab_size: 300}}}}"
    path = write_config(
        "  c: {source: text, path: '??.txt', document: line, group: '{stem}'}", tokenizers, "[compression, roundtrip]"
    )

    def run(*options):
        command = [sys.executable, "-m", "tokbench", "run", str(path), "-o", str(tmp_path / "out"), "-w2", *options]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    return run


def finish(process):
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert "damaged" not in errors


def wait_for_notes(number, path, process):
    """Wait until so many things were done, or the run has ended."""
    while process.poll() is None and (not path.exists() or path.read_text(encoding="utf-8").count("\n") < number):
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


@pytest.mark.slow
def test_a_disturbed_run_goes_on(start, tmp_path):
    table, counted = tmp_path / "out" / "results.csv", tmp_path / "counted"
    finish(start("--no-store"))
    expected = table.read_bytes()
    noted()
    rounds = []
    for number, how in ((3, signal.SIGKILL), (3, signal.SIGTERM)):
        process = start()
        wait_for_notes(number, counted, process)
        process.send_signal(how)
        process.communicate(timeout=60)
        assert process.returncode in {-signal.SIGKILL, 143}
        rounds.append(noted())
    (tmp_path / "die").touch()  # a worker dies, whose shard is measured in a fresh process
    both = [start(), start()]
    for process in both:
        finish(process)
    assert not (tmp_path / "die").exists()
    assert table.read_bytes() == expected
    rounds.append(noted())
    for number, notes in enumerate(rounds):
        for later in rounds[number + 1 :]:
            assert redone(notes, later) == []
    finish(start())
    assert noted() == []
    assert table.read_bytes() == expected
