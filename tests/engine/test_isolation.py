"""Tokenizers that crash, hang or end their process: their cells say so, and the others are measured."""

import os
import signal
import subprocess
import sys
import time

import pytest
from processes import ended
from shared_fixtures import cell, interruptible, problems

import tokbench
from tokbench.results.cells import Status

GOOD = "  good: {backend: utf8_bytes}"
QUICK = "limits: {step: 1.5, train: 1.5}"


@pytest.fixture
def faulty(faulty, few_plugins):
    """Install ``faulty_backends``, and load few others."""


ENDS = {
    "CrashesInBatch": ("SIGSEGV", "corpus c, group x, document x.txt:1"),
    "CrashesOnSeveral": ("SIGSEGV", "corpus c, group x (no single document reproduces it)"),
    "Exits": ("exit code 3", "corpus c, group y, document y.txt:2"),
    "Leaks": ("no answer within 1.5 s", "corpus c, group x, document x.txt:1"),
    "RaisesKeyboardInterrupt": ("exit code 130", "corpus c, group y, document y.txt:2"),
}
"""By backend how its process ends, and the place."""


@pytest.mark.slow
def test_what_ends_the_process_while_encoding(write_config, corpus, faulty, tmp_path, monkeypatch):
    monkeypatch.setenv("LEAKS_TO", str(tmp_path / "pids"))
    tokenizers = "\n".join(f"  {name}: {{backend: {name}}}" for name in ENDS) + "\n" + GOOD
    metrics = "[compression, roundtrip, {speed: {rounds: 3, min_time: 0.0001}}]"
    results = tokbench.run(write_config(corpus, tokenizers, metrics, extra=QUICK), workers=2)
    for name, (how, place) in ENDS.items():
        status = Status.TIMEOUT if name == "Leaks" else Status.FAILED
        for metric in ("tokens", "roundtrip_exact", "encode_mb_per_s"):
            value = cell(results, name, metric)
            assert (value.status, how in value.reason, place in value.reason) == (status, True, True), name
    assert cell(results, "good", "tokens").value == 11
    assert cell(results, "good", "encode_mb_per_s").value > 0
    assert all(ended(int(pid)) for pid in (tmp_path / "pids").read_text().split()), "and all that it started"


@pytest.mark.slow
def test_a_crash_while_loading_is_told_before_anything_is_measured(write_config, corpus, faulty):
    config = write_config(corpus, "  bad: {backend: crashes_to_load}\n  slow: {backend: hangs_to_load}", extra=QUICK)
    crash, hang = problems(config, workers=1)
    assert crash.startswith("run.yaml:6:3: tokenizer 'bad' (backend crashes_to_load): ")
    assert "SIGSEGV" in crash
    assert hang.startswith("run.yaml:7:3: tokenizer 'slow' (backend hangs_to_load): no answer within 1.5 s")


def test_a_training_that_cannot_be_sent(write_config, corpus, faulty):
    tokenizers = f"  bad: {{backend: trains_what_cannot_travel, train: {{corpus: c, vocab_size: 300}}}}\n{GOOD}"
    results = tokbench.run(write_config(corpus, tokenizers), workers=0)
    assert results.tokenizers["bad"].state == "failed"
    assert "picklable object: TypeError" in cell(results, "bad", "tokens").reason
    assert cell(results, "good", "tokens").value == 11


@pytest.mark.slow
def test_speed_without_those_that_crash_or_hang(write_config, faulty, tmp_path):
    (tmp_path / "z.txt").write_text("\n".join("ab cd ef gh"[k % 5 :] for k in range(40)), encoding="utf-8")
    bad = ("CrashesInEncode", "Sleeps")
    tokenizers = "\n".join(f"  {name}: {{backend: {name}}}" for name in bad) + "\n" + GOOD
    corpora = "  z: {source: text, path: z.txt, document: line}"
    config = write_config(corpora, tokenizers, "[{speed: {rounds: 3, min_time: 0.0001}}]", extra=QUICK)
    results = tokbench.run(config)
    assert cell(results, "good", "encode_mb_per_s").value > 0
    assert cell(results, "good", "decode_mb_per_s").n == 3
    crash, hang = (cell(results, name, "encode_mb_per_s") for name in bad)
    assert (crash.status, hang.status) == (Status.FAILED, Status.TIMEOUT)
    assert "SIGSEGV while timing on corpus z" in crash.reason
    assert hang.reason.startswith("no answer within 1.5 s while timing on corpus z")


def test_a_run_stopped_in_a_corpus_keeps_the_groups_that_are_whole(write_config, tmp_path, faulty):
    """It is stopped in the second shard of the first group, when one of three tokenizers is through."""
    lines = ["a" * 999] * 1199 + ["b" * 999]  # 1,049 of them make a shard
    (tmp_path / "x.txt").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "y.txt").write_text("aa\n", encoding="utf-8")
    corpora = (
        "  c: {source: text, path: '?.txt', document: line, group: '{stem}'}\n  later: {source: sample, part: hostile}"
    )
    tokenizers = f"{GOOD}\n  stop: {{backend: RaisesKeyboardInterrupt}}\n  last: {{backend: utf16_units}}"
    config = write_config(corpora, tokenizers, "[compression, roundtrip, pairs]", "[html, md, csv]")
    stopped = tokbench.run(config, tmp_path / "out", workers=0)
    results = tokbench.Results.read(tmp_path / "out" / "results.json")
    assert results.cells == stopped.cells
    assert results.interrupted
    assert results.partial.phase == "measuring"
    whole, part, other = (cell(results, name, "tokens", "x") for name in ("good", "stop", "last"))
    assert (whole.value, whole.n) == (1200 * 999, 1200)
    assert {part.reason, other.reason} == {"the run was stopped before this was measured"}
    assert cell(results, "good", "tokens", "y").status == Status.FAILED
    assert not results.pairs, "two tokenizers are compared on the same documents only"
    assert {c.status for c in results.cells if c.metric == "rank" and c.tokenizer == "stop"} == {Status.FAILED}
    markdown = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "Partial" in markdown.split("\n## ")[0], "above all tables"
    html = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Partial" in html.split("<main>")[0].split("</header>")[1]


def test_a_run_stopped_in_a_training_writes_what_it_has(write_config, corpus, faulty, tmp_path):
    trained = "{backend: %s, train: {corpus: c, vocab_size: 260}}"
    tokenizers = f"  good: {trained % 'naive_bpe, engine: python'}\n  stop: {trained % 'stops_the_training'}\n  bytes: {{backend: utf8_bytes}}"
    results = tokbench.run(write_config(corpus, tokenizers, formats="[md]"), tmp_path / "out", workers=0)
    assert results.interrupted
    assert results.partial.phase == "training"
    assert (tmp_path / "out" / "artefacts" / "good.bpe.json").exists()
    assert {name: info.state for name, info in results.tokenizers.items()} == {
        "good": "ready",
        "stop": "failed",
        "bytes": "ready",
    }
    assert cell(results, "bytes", "tokens").value is None
    assert (tmp_path / "out" / "report.md").exists()


@pytest.fixture
def start(write_config, corpus, faulty, tmp_path):
    """Start a run that hangs in its second tokenizer, to be ended with a signal, and return its process."""
    config = write_config(corpus, f"{GOOD}\n  bad: {{backend: Leaks}}", extra="limits: {step: 120}")

    def run(number, setting=interruptible):
        command = [sys.executable, "-m", "tokbench", "run", "-w", "1", config, "-o", tmp_path / f"out-{number}"]
        environment = os.environ | {"LEAKS_TO": str(tmp_path / f"pids-{number}")}
        return subprocess.Popen(list(map(str, command)), env=environment, preexec_fn=setting)  # noqa: PLW1509

    return run


def processes_of(path, process):
    """Wait until a run hangs, and return the ids of its worker and of what that has started."""
    while not (path.exists() and len(path.read_text().split()) == 2):
        assert process.poll() is None
        time.sleep(0.05)
    time.sleep(0.2)  # the run takes the answer of the tokenizer before, which the worker has sent
    return map(int, path.read_text().split())


@pytest.mark.slow
def test_signals_end_a_run_with_its_files_and_no_process(start, tmp_path):
    """Three runs at the same time, one of which ignores Ctrl-C, as with ``nohup``."""

    def ignore():
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    runs = {number: start(number) for number in (signal.SIGINT, signal.SIGHUP)}
    runs[signal.SIGTERM] = start(signal.SIGTERM, ignore)
    for number, process in runs.items():
        pids = processes_of(tmp_path / f"pids-{number}", process)
        if number == signal.SIGTERM:
            process.send_signal(signal.SIGINT)
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(1)
        process.send_signal(number)
        assert process.wait(60) == 128 + number
        assert all(map(ended, pids))
        results = tokbench.Results.read(tmp_path / f"out-{number}" / "results.json")
        assert results.interrupted
        assert cell(results, "good", "tokens", "x").value == 6


@pytest.mark.slow
def test_workers_end_when_the_run_is_killed(start, tmp_path):
    process = start(signal.SIGKILL)
    worker, child = processes_of(tmp_path / f"pids-{signal.SIGKILL}", process)
    process.kill()
    process.wait(60)
    os.kill(child, signal.SIGKILL)
    assert ended(worker) or sys.platform != "linux"


def test_limits_that_make_no_sense(write_config):
    for memory in ("8", "8KB", "true", "99 MB"):
        [line] = problems(write_config(extra=f"limits: {{memory: {memory}}}"))
        assert line.startswith("run.yaml:9:18: memory: ")
    lines = problems(write_config(extra="limits: {step: 0, train: long, seconds: 3}"))
    assert [line.split(": ")[0] for line in lines] == ["run.yaml:9:16", "run.yaml:9:26", "run.yaml:9:32"]
