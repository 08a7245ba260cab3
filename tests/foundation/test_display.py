"""Progress of a run: bars, plain lines, and JSON for machines."""

import json
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from tokbench.foundation import progress as progress_module
from tokbench.foundation.display import Event, describe, progress_shown
from tokbench.foundation.progress import RunProgress

PAGE = Path(__file__).parents[2] / "reports" / "site" / "docs" / "running.md"


def documented(heading):
    """The first column of the table that follows a line of the page, without its code marks."""
    table = PAGE.read_text(encoding="utf-8").split(heading)[1].split("|---|")[1].split("\n\n")[0]
    return re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)


@pytest.fixture
def clock(monkeypatch):
    """A clock that goes on only when it is told to."""
    now = [100.0]
    monkeypatch.setattr(progress_module, "_now", lambda: now[0])

    def go_on(seconds):
        now[0] += seconds

    return go_on


def test_phases_have_seconds_and_steps_their_progress(clock):
    progress = RunProgress()
    with progress.phase("training"):
        progress("training large", 150, 300)
        clock(25)
    with progress.phase("measuring"):
        clock(5)
        progress.measured("c", documents=2, n_bytes=500, total=4)
        progress.measured("d", documents=2, n_bytes=1000, total=2, from_store=True)
        with progress.phase("reports"):
            clock(2)
    assert progress.seconds == {"training": 25, "measuring": 5, "reports": 2}
    assert progress.from_store == 2
    assert progress.steps["training large"].tokenizer == "large"
    assert (progress.steps["measuring c"].corpus, progress.steps["measuring c"].ended) == ("c", None)
    assert progress.steps["measuring d"].ended is not None


def test_a_line_says_how_far_a_corpus_is(clock):
    progress = RunProgress()
    with progress.phase("measuring"):
        progress.tokenizers_at_work("a", "b")
        progress.measuring("c", 40)
        clock(2)
        progress.measured("c", documents=10, n_bytes=5_000_000, total=40)
        progress.measured("c", documents=10, n_bytes=1_000_000, total=40, from_store=True)
        assert describe(progress.steps["measuring c"], progress) == (
            "measuring c: 20 of 40 documents x tokenizers (50%), 2.5 MB/s, 10 from the store, at work: a, b"
        )


def test_lines_come_at_each_step_and_not_at_each_move(capsys):
    with progress_shown("lines") as progress:
        for step in ("reading corpora (MB)", "measuring c"):
            for done in range(50):
                progress(step, done, 50)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("] ")[1].split(":")[0] for line in lines] == ["reading corpora (MB)", "measuring c"]


def test_the_keys_of_json_are_those_of_the_documentation():
    assert documented("one JSON object a line") == [field.name for field in fields(Event)]


def run_json(config, tmp_path):
    command = [sys.executable, "-m", "tokbench", "run", str(config), "-o", str(tmp_path / "out"), "--log", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, [json.loads(line) for line in done.stderr.splitlines()]


@pytest.mark.slow
def test_nothing_but_json_reaches_standard_error(write_config, corpus, faulty, tmp_path):
    config = write_config(corpus, "  loud: {backend: Complains}", extra="show: {documents: 0}")
    code, lines = run_json(config, tmp_path)
    assert code == 0
    assert {tuple(line) for line in lines} == {tuple(documented("one JSON object a line"))}
    assert {line["event"] for line in lines} <= set(documented("The events are"))
    measuring = [line for line in lines if line["step"] == "measuring c"]
    assert (measuring[0]["event"], measuring[0]["corpus"], measuring[0]["tokenizer"]) == ("step", "c", "loud")
    assert (measuring[-1]["done"], measuring[-1]["total"]) == (4, 4)
    assert measuring[-1]["mb_per_s"] > 0
    assert [line["message"] for line in lines if line["event"] == "output"] == ["\\xff\\xfe complaint"] * 4
    assert (lines[-1]["event"], lines[-1]["from_store"]) == ("end", 0)
    assert lines[-1]["message"].startswith("1 tokenizer on 1 corpus")


BARS = "from tokbench.foundation.display import progress_shown\nwith progress_shown('bars') as p: p('at rest', 1, 2)"


def test_bars_vanish_from_a_terminal():
    reading, writing = os.openpty()
    subprocess.run([sys.executable, "-c", BARS], stderr=writing, check=True, env={**os.environ, "TERM": "xterm"})
    shown = os.read(reading, 100_000).decode()
    assert "\x1b[2K" in shown[shown.rindex("at rest") :]


def test_bars_stay_where_no_terminal_is():
    done = subprocess.run([sys.executable, "-c", BARS], capture_output=True, check=True, text=True)
    assert "at rest" in done.stderr
