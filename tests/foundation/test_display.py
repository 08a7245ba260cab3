"""Progress of a run: bars, plain lines, JSON for machines, and the time left."""

import json
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from tokbench.foundation import progress as progress_module
from tokbench.foundation.display import Event, describe, progress_shown
from tokbench.foundation.progress import RunProgress

README = (Path(__file__).parents[2] / "tokbench" / "README.md").read_text(encoding="utf-8")


def documented(heading):
    """The first column of the table that follows a line of the README, without its code marks."""
    table = README.split(heading)[1].split("|---|")[1].split("\n\n")[0]
    return re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)


@pytest.fixture
def clock(monkeypatch):
    """A clock that goes on only when it is told to."""
    now = [100.0]
    monkeypatch.setattr(progress_module, "_now", lambda: now[0])

    def go_on(seconds):
        now[0] += seconds

    return go_on


def test_the_time_left_is_estimated_by_bytes(clock):
    progress = RunProgress()
    progress.expect({"small": 100, "large": 300}, {"c": 1000, "d": 1000}, {"c": 500}, workers=2)
    assert progress.time_left() == (None, ("training", "measuring", "timing"))
    with progress.phase("training"):
        clock(10)
        progress.trained("small")
        assert progress.time_left() == (30, ("measuring", "timing")), "300 bytes at 10 bytes a second"
        progress("training large", 150, 300)
        clock(15)
        assert progress.time_left().seconds == pytest.approx(150 / (150 / 15)), "counted from the first that was done"
        progress.trained("large")
    with progress.phase("measuring"):
        assert progress.time_left() == (None, ("measuring", "timing"))
        clock(5)
        progress.measured("c", documents=2, n_bytes=500, total=4)
        assert progress.time_left() == (1500 / 100 + 500 / 50, ()), "a timing has one worker of the two"
        progress.measured("d", documents=2, n_bytes=1000, total=2, from_store=True)
        assert progress.time_left().seconds == 500 / 100 + 500 / 50, "what the store had costs nothing"
    clock(3)
    with progress.phase("timing"):
        clock(4)
        progress("timing on c", 1, 5)
        assert progress.time_left() == (400 / 50, ()), "as fast as measuring while a fifth is done"
        clock(4)
        progress("timing on c", 2, 5)
        assert progress.time_left() == (pytest.approx(300 / (200 / 8)), ())
    assert progress.time_left() == (None, ())
    assert progress.seconds == {"training": 25, "measuring": 5, "timing": 8}
    assert progress.from_store == 2


def test_compiling_before_the_first_document_does_not_count_as_slow(clock):
    progress = RunProgress()
    progress.expect({}, {"c": 1000}, {})
    with progress.phase("measuring"):
        clock(9)
        progress.measured("c", documents=1, n_bytes=10, total=100)
        assert progress.time_left() == (None, ("measuring",))
        clock(5)
        progress.measured("c", documents=4, n_bytes=40)
        assert progress.time_left() == (950 / 8, ())


def test_compiling_after_the_first_document_is_forgotten_after_some_seconds(clock):
    progress = RunProgress()
    progress.expect({}, {"c": 10_000}, {})
    with progress.phase("measuring"):
        progress.measured("c", documents=1, n_bytes=100, total=100)
        clock(10)
        for _ in range(12):
            progress.measured("c", documents=1, n_bytes=100)
            clock(0.5)
        assert progress.time_left().seconds == pytest.approx((10_000 - 1_300) / 200, rel=0.15)


def test_a_replayed_run_never_says_that_nothing_is_left_and_is_right_from_the_tenth_second_on(clock):
    """Train two tokenizers, compile, measure two corpora for half a minute, make cells and reports."""
    lines, said, end = [], {}, 3 + 6 + 30 + 2 + 4

    def show(step):
        lines.append(describe(step, progress))
        if match := re.search(r"time left (\d+):(\d\d)", lines[-1]):
            said[now[0]] = 60 * int(match[1]) + int(match[2])

    def go_on(seconds):
        clock(seconds)
        now[0] += seconds

    now, progress = [0.0], RunProgress(show)
    progress.expect({"a": 100, "b": 100}, {"c": 2_000_000, "d": 1_000_000}, {}, 2, cells=40_000)
    with progress.phase("training"):
        for name in "ab":
            for done in range(3):
                progress(f"training {name}", done, 2)
                go_on(0.5)
            progress.trained(name)
    with progress.phase("measuring"):
        progress.measuring("c", 200)
        go_on(6)
        for k in range(300):
            progress.measured("c" if k < 200 else "d", documents=1, n_bytes=10_000, total=200 if k < 200 else 100)
            go_on(0.1)
    with progress.phase("cells"):
        progress("making cells", 0, 1)
        go_on(2)
    with progress.phase("reports"):
        for done in range(4):
            progress("writing reports", done, 4)
            go_on(1)
    assert now[0] == pytest.approx(end)
    assert not [line for line in lines if "time left 0:00" in line]
    late = {at: seconds for at, seconds in said.items() if at >= 10}
    assert len(late) > 200
    assert all(abs(seconds - (end - at)) <= max(1.5, 0.15 * (end - at)) for at, seconds in late.items())


def test_a_training_from_the_store_says_nothing_of_the_speed_of_others(clock):
    progress = RunProgress()
    progress.expect({"stored": 100, "new": 300}, {}, {})
    with progress.phase("training"):
        clock(1)
        progress.trained("stored", from_store=True)
        assert progress.time_left() == (None, ("training",))
        clock(9)
        progress("training new", 1, 3)
        assert progress.time_left() == (20, ())


def test_the_first_documents_say_nothing_of_the_speed_of_all(clock):
    """A loop is compiled for the first of them. After half a minute the time is told all the same."""
    progress = RunProgress()
    progress.expect({}, {"c": 1_000_000}, {})
    with progress.phase("measuring"):
        clock(5)
        progress.measured("c", documents=1, n_bytes=100, total=10_000)
        assert progress.time_left() == (None, ("measuring",))
        clock(25)
        assert progress.time_left() == (pytest.approx(999_900 * 30 / 100), ())
        progress.measured("c", documents=99, n_bytes=9_900)
        assert progress.time_left() == (pytest.approx(990_000 * 25 / 9_900), ())


@pytest.mark.parametrize(("done", "total"), [(10**400, 10**401), (float("nan"), float("inf")), (-1, -(10**400))])
def test_numbers_that_no_float_can_hold_are_no_error(clock, capsys, done, total):
    progress = RunProgress()
    progress.expect({"mine": 10}, {}, {})
    with progress.phase("training"):
        progress("training mine", done, total)
        clock(60)
        progress("training mine", done, total)
        assert describe(progress.current, progress).startswith("training mine")
        assert (progress.time_left().seconds or 0) >= 0
    for log in ("lines", "json"):
        with progress_shown(log) as shown:
            shown("training mine", done, total)


def test_a_line_says_how_far_a_corpus_is(clock):
    progress = RunProgress()
    progress.expect({}, {"c": 9_000_000}, {})
    with progress.phase("measuring"):
        progress.tokenizers_at_work("a", "b")
        progress.measuring("c", 40)
        clock(2)
        progress.measured("c", documents=10, n_bytes=5_000_000, total=40)
        progress.measured("c", documents=10, n_bytes=1_000_000, total=40, from_store=True)
        assert describe(progress.steps["measuring c"], progress) == (
            "measuring c: 20 of 40 documents x tokenizers (50 %), 2.5 MB/s, 10 from the store, at work: a, b, time left 0:01"
        )


def test_lines_come_at_each_step_and_not_more_often_than_every_few_seconds(capsys):
    with progress_shown("lines") as progress:
        for step in ("reading corpora (MB)", "measuring c"):
            for done in range(1000):
                progress(step, done, 1000)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("] ")[1].split(":")[0] for line in lines] == ["reading corpora (MB)", "measuring c"]


def test_the_keys_of_json_are_those_of_the_documentation():
    assert documented("one JSON object a line") == [each.name for each in fields(Event)]


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


@pytest.mark.slow
def test_errors_and_warnings_are_json_as_well(write_config, tmp_path):
    code, lines = run_json(write_config(metrics="[compresion]"), tmp_path)
    assert code == 2
    [error] = [line for line in lines if line["event"] == "error"]
    assert error["message"].endswith("unknown metric 'compresion'; did you mean 'compression'?")
    script = (
        "from tokbench.foundation.display import only_json; only_json(); import logging, os, warnings;"
        "logging.getLogger('tokbench.x').warning('careful'); logging.getLogger('tokbench').error('bad');"
        "warnings.warn('old', stacklevel=1); os.write(2, b'from C\\n'); raise ValueError('a bug')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    found = [(line["event"], line["message"]) for line in map(json.loads, done.stderr.splitlines())]
    assert found[:2] == [("warning", "careful"), ("warning", "bad")]
    assert any(event == "warning" and "UserWarning: old" in message for event, message in found)
    assert {("output", "from C"), ("output", "ValueError: a bug")} <= set(found)
