"""Tokenizers that crash, hang or end their process: their cells say so, and the others are measured."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest
from conftest import cell, interruptible, problems
from processes import ended

import tokbench
from tokbench.results.cells import WHOLE, Status

GOOD = "  good: {backend: utf8_bytes}"
METRICS = "[compression, roundtrip, vocabulary]"
KILLED = "the process was killed with SIGKILL, by somebody or for want of memory"
QUICK = "limits: {step: 1.5, train: 1.5}"


@pytest.fixture
def faulty(faulty, few_plugins):
    """Install ``faulty_backends``, and load few others."""


@pytest.fixture
def run(write_config, corpus, faulty):
    """Run a faulty backend beside a good one, and see that nothing happened to the good one."""

    def execute(backend, extra="", metrics=METRICS, **options):
        tokenizers = f"  bad: {{backend: {backend}}}\n{GOOD}"
        results = tokbench.run(write_config(corpus, tokenizers, metrics, extra=extra), **options)
        for group, tokens in ((WHOLE, 11), ("x", 6), ("y", 5)):
            assert cell(results, "good", "tokens", group).value == tokens
            assert cell(results, "good", "roundtrip_exact", group).value == 1
        assert results.failed
        assert not results.interrupted
        return results

    return execute


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "reason"),
    [
        ("CrashesInEncode", "the process died with SIGSEGV while encoding corpus c, group y, document y.txt:2"),
        ("Kills", f"{KILLED}, while encoding corpus c, group y, document y.txt:2"),
        pytest.param(
            "CrashesInBatch",
            "the process died with SIGSEGV while encoding corpus c, group x, document x.txt:1",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "CrashesOnSeveral",
            "the process died with SIGSEGV while encoding corpus c, group x (each document by itself does no harm)",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "Exits",
            "the process ended with exit code 3 while encoding corpus c, group y, document y.txt:2",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "RaisesKeyboardInterrupt",
            "the process ended with exit code 130 while encoding corpus c, group y, document y.txt:2",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_ends_the_process_while_encoding(run, backend, reason):
    results = run(backend)
    for metric in ("tokens", "roundtrip_exact", "vocab_utilization"):
        for group in ("y", WHOLE):
            found = cell(results, "bad", metric, group)
            assert (found.status, found.reason) == (Status.FAILED, reason)


@pytest.mark.slow
def test_what_was_measured_before_is_kept(run):
    results = run("CrashesInEncode")
    assert cell(results, "bad", "tokens", "x").value == 6
    assert cell(results, "bad", "roundtrip_exact", "x").value == 1


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_crash_while_decoding_costs_the_round_trip_only(run, workers):
    results = run("CrashesInDecode", workers=workers)
    broken = cell(results, "bad", "roundtrip_exact", "y")
    assert broken.status == Status.FAILED
    assert broken.reason == "the process died with SIGSEGV while decoding corpus c, group y, document y.txt:2"
    assert cell(results, "bad", "tokens").value == 11
    assert cell(results, "bad", "distinct_tokens").value == 3


@pytest.mark.slow
def test_native_code_that_never_returns(run):
    results = run("Hangs", QUICK)
    found = cell(results, "bad", "tokens")
    assert found.status == Status.TIMEOUT
    assert found.reason == (
        "no answer within 1.5 s while encoding corpus c, group y, document y.txt:2; if it is only slow, allow more: "
        "limits: {step: 15}"
    )
    assert cell(results, "bad", "tokens", "x").value == 6


@pytest.mark.slow
def test_decoding_that_never_returns(run):
    results = run("Sleeps", QUICK)
    found = cell(results, "bad", "roundtrip_exact")
    assert found.status == Status.TIMEOUT
    assert "while decoding corpus c, group y, document y.txt:2; if it is only slow" in found.reason
    assert cell(results, "bad", "tokens").value == 11


@pytest.mark.slow
def test_all_faults_at_once(write_config, corpus, faulty):
    bad = ("CrashesInEncode", "Kills", "Hangs", "Panics", "CrashesInDecode", "Exits")
    tokenizers = "\n".join(f"  {name}: {{backend: {name}}}" for name in bad) + "\n" + GOOD
    config = write_config(corpus, tokenizers, METRICS, extra=QUICK)
    results = tokbench.run(config, workers=2)
    assert cell(results, "good", "tokens").value == 11
    failed, late = Status.FAILED, Status.TIMEOUT
    tokens, exact = ([cell(results, name, metric).status for name in bad] for metric in ("tokens", "roundtrip_exact"))
    assert tokens == [failed, failed, late, failed, Status.OK, failed], "as each of them alone"
    assert exact == [failed, failed, late, failed, failed, failed]


@pytest.mark.slow
def test_what_leaves_processes_behind_is_ended_with_them(run, tmp_path, monkeypatch):
    monkeypatch.setenv("LEAKS_TO", str(tmp_path / "pids"))
    run("Leaks", QUICK)
    for pid in (tmp_path / "pids").read_text().split():
        assert ended(int(pid))


@pytest.mark.slow
def test_a_crash_while_loading_is_told_before_anything_is_measured(write_config, corpus, faulty):
    config = write_config(corpus, "  bad: {backend: crashes_to_load}\n  slow: {backend: hangs_to_load}", extra=QUICK)
    crash, hang = problems(config, workers=1)
    assert crash == (
        "run.yaml:6:3: tokenizer 'bad' (backend crashes_to_load): the process died with SIGSEGV while loading"
    )
    assert hang == (
        "run.yaml:7:3: tokenizer 'slow' (backend hangs_to_load): no answer within 1.5 s while loading; if it is only "
        "slow, allow more: limits: {step: 15}"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("backend: crashes_to_load", "the process died with SIGSEGV while loading"),
        ("backend: hangs_to_load", "no answer within 1.5 s while loading"),
        (
            "backend: crashes_to_train, train: {corpus: c, vocab_size: 300}",
            "the process died with SIGSEGV while training",
        ),
        ("backend: hangs_to_train, train: {corpus: c, vocab_size: 300}", "no answer within 1.5 s while training"),
    ],
)
def test_an_optional_tokenizer_that_cannot_be_had_is_no_failure_however_it_ends(
    write_config, corpus, faulty, entry, reason
):
    results = tokbench.run(write_config(corpus, f"  bad: {{{entry}, optional: true}}\n{GOOD}", extra=QUICK))
    found = cell(results, "bad", "tokens")
    assert found.status == Status.UNAVAILABLE
    assert found.reason.startswith(reason)
    assert cell(results, "good", "tokens").value == 11
    assert not results.failed, "its exit code is 0"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "state", "reason"),
    [
        ("crashes_to_train", "failed", "the process died with SIGSEGV while training"),
        (
            "hangs_to_train",
            "timeout",
            "no answer within 1.5 s while training; if it is only slow, allow more: limits: {train: 15}",
        ),
        (
            "trains_what_cannot_travel",
            "failed",
            "it was trained, but cannot be handed from one process to another: what 'train' returns must be picklable: TypeError: cannot pickle",
        ),
    ],
)
def test_a_training_that_ends_its_process(write_config, corpus, faulty, backend, state, reason):
    tokenizers = f"  bad: {{backend: {backend}, train: {{corpus: c, vocab_size: 300}}}}\n{GOOD}"
    results = tokbench.run(write_config(corpus, tokenizers, "[compression]", extra="limits: {step: 60, train: 1.5}"))
    assert results.tokenizers["bad"].state == state
    found = cell(results, "bad", "tokens")
    assert found.status == state
    assert found.reason.startswith(reason)
    assert cell(results, "good", "tokens").value == 11


@pytest.mark.slow
def test_speed_without_those_that_crash_or_hang(write_config, faulty, tmp_path):
    (tmp_path / "z.txt").write_text("\n".join("ab cd ef gh"[k % 5 :] for k in range(40)), encoding="utf-8")
    bad = ("CrashesInEncode", "Sleeps", "CrashesInBatch")
    tokenizers = "\n".join(f"  {name}: {{backend: {name}}}" for name in bad) + "\n" + GOOD
    corpora = "  z: {source: text, path: z.txt, document: line}"
    config = write_config(corpora, tokenizers, "[{speed: {rounds: 3, min_time: 0.0001}}]", extra=QUICK)
    results = tokbench.run(config)
    assert cell(results, "good", "encode_mb_per_s").value > 0
    assert cell(results, "good", "decode_mb_per_s").n == 3
    crash, hang, batch = (cell(results, name, "encode_mb_per_s") for name in bad)
    assert crash.status == batch.status == Status.FAILED
    assert crash.reason == batch.reason == "the process died with SIGSEGV while timing on corpus z"
    assert hang.status == Status.TIMEOUT
    assert hang.reason.startswith("no answer within 1.5 s while timing on corpus z; if it is only slow")


@pytest.mark.slow
def test_one_that_crashed_while_encoding_is_not_timed(run):
    results = run("CrashesInEncode", metrics="[compression, roundtrip, {speed: {rounds: 3}}]")
    found = cell(results, "bad", "encode_mb_per_s")
    assert found.reason == "the process died with SIGSEGV while encoding corpus c, group y, document y.txt:2"


@pytest.fixture
def hears_ctrl_c():
    """Let this process hear Ctrl-C as a program in the foreground does."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("hears_ctrl_c")
def test_ctrl_c_keeps_what_was_measured(write_config, corpus, faulty):
    results = tokbench.run(write_config(corpus, f"{GOOD}\n  stop: {{backend: PressesCtrlC}}"))
    assert results.interrupted
    assert cell(results, "good", "tokens", "x").value == 6
    assert cell(results, "stop", "tokens", "x").value == 6
    assert cell(results, "stop", "tokens", "y").reason == "the run was stopped before this was measured"


@pytest.fixture
def stopped(write_config, tmp_path, faulty):
    """A run in one process, stopped in the second shard of the first group, when one of three tokenizers is through."""
    lines = ["a" * 999] * 1199 + ["b" * 999]  # 1,049 of them make a shard
    (tmp_path / "x.txt").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "y.txt").write_text("aa\n", encoding="utf-8")
    corpora = "  c: {source: text, path: '?.txt', document: line}\n  later: {source: sample, part: hostile}"
    tokenizers = f"{GOOD}\n  stop: {{backend: RaisesKeyboardInterrupt}}\n  last: {{backend: utf16_units}}"
    config = write_config(corpora, tokenizers, "[compression, roundtrip, pairs]", "[html, md, csv]")
    return tokbench.run(config, tmp_path / "out", workers=0)


def test_a_run_stopped_in_a_corpus_says_which_part_was_measured(stopped, tmp_path):
    results = tokbench.Results.read(tmp_path / "out" / "results.json")
    assert results.cells == stopped.cells
    assert results.interrupted
    assert results.partial.phase == "measuring"
    assert results.partial.groups["c"] == {"x": pytest.approx((1200 + 1049 + 1049) / 3600), "y": 0}
    assert set(results.partial.groups["later"].values()) == {0}
    whole, part, other = (cell(results, name, "tokens", "x") for name in ("good", "stop", "last"))
    assert (whole.value, whole.n, whole.measured) == (1200 * 999, 1200, None)
    assert (part.value, part.n, part.measured) == (1049 * 999, 1049, pytest.approx(1049 / 1200))
    assert (other.value, other.measured) == (1049 * 999, part.measured)
    shares = [c.measured for c in results.cells if (c.corpus, c.group, c.metric) == ("c", WHOLE, "tokens")]
    assert shares == [pytest.approx(done / 1201) for done in (1200, 1049, 1049)]
    missing = cell(results, "good", "tokens", "y")
    assert (missing.status, missing.measured) == (Status.FAILED, None)
    assert missing.reason == "the run was stopped before this was measured"
    assert not results.pairs, "two tokenizers are compared on the same documents only"
    assert {c.status for c in results.cells if c.metric == "rank" and c.tokenizer == "stop"} == {Status.FAILED}


def test_the_header_of_a_stopped_run_says_so_in_every_report(stopped, tmp_path):
    said = "Partial: this run was stopped while documents were measured"
    markdown = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert said in markdown.split("\n## ")[0], "above all tables"
    assert "c 92 %: 1 group in part, 1 not at all; later 0 %: " in markdown
    assert "| stop | RaisesKeyboardInterrupt; own 1.0 | 256 | 1.000◐ 87 % |" in markdown
    assert "| x | 1.00 | 1.00◐ 87 % | 1.00◐ 87 % |" in markdown
    assert "◐ the run was stopped when it had measured the share" in markdown
    assert "c / x\u00a092 %" in markdown
    html = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    header = html.split("<main>")[0].split("</header>")[1]
    assert said in header
    assert "<bdi>c</bdi> / <bdi>x</bdi>\u00a092 %" in header
    assert "1.000<sup>◐</sup><small>87 %</small>" in html
    rows = (tmp_path / "out" / "results.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0].endswith(",in_sample,measured")
    [row] = [row for row in rows if row.startswith("stop,c,x,tokens,")]
    assert row.endswith(f",{1049 / 1200!r}")


def test_a_run_stopped_in_a_training_writes_what_it_has(write_config, corpus, faulty, tmp_path, hears_ctrl_c):
    trained = "{backend: %s, train: {corpus: c, vocab_size: 260}}"
    tokenizers = f"  good: {trained % 'naive_bpe, engine: python'}\n  stop: {trained % 'stops_the_training'}\n  bytes: {{backend: utf8_bytes}}"
    results = tokbench.run(write_config(corpus, tokenizers, formats="[md]"), tmp_path / "out")
    assert results.interrupted
    assert results.partial.phase == "training"
    assert (tmp_path / "out" / "artefacts" / "good.bpe.json").exists()
    assert results.tokenizers["stop"].reason == "the run was stopped before it was trained"
    assert results.tokenizers["good"].state == "ready"
    assert cell(results, "bytes", "tokens").reason == "the run was stopped before this was measured"
    assert "stopped while tokenizers were trained; nothing was measured" in (tmp_path / "out" / "report.md").read_text()


def test_a_run_that_is_not_stopped_has_no_part(write_config, corpus, tmp_path):
    results = tokbench.run(write_config(corpus, formats="[md]"), tmp_path / "out")
    assert results.partial is None
    assert {each.measured for each in results.cells} == {None}
    assert "Partial" not in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")


@pytest.fixture
def stuck(write_config, corpus, faulty, tmp_path, monkeypatch):
    """A run, as a process, that hangs in its second tokenizer; and the id of its worker."""
    with hanging(write_config, corpus, tmp_path, monkeypatch, "Leaks") as found:
        yield found


@contextmanager
def hanging(write_config, corpus, tmp_path, monkeypatch, backend, **popen):
    pids = tmp_path / "pids"
    monkeypatch.setenv("LEAKS_TO", str(pids))
    tokenizers = f"{GOOD}\n  bad: {{backend: {backend}}}\n  last: {{backend: utf16_units}}"
    config = write_config(corpus, tokenizers, extra="limits: {step: 15}")
    command = [sys.executable, "-m", "tokbench", "run", "-w", "1", str(config), "-o", str(tmp_path / "out")]
    popen = {"preexec_fn": interruptible} | popen
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **popen) as process:
        while not (pids.exists() and len(pids.read_text().split()) == 2):
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        time.sleep(0.2)  # the run takes the answer of the tokenizer before, which the worker has sent
        worker, child = map(int, pids.read_text().split())
        try:
            yield process, worker
        finally:
            process.kill()
            for pid in (worker, child):
                if not ended(pid, tries=1):
                    os.kill(pid, signal.SIGKILL)


def stop(process, number):
    """Send a signal to a run that hangs; return its exit code after it has written what it has."""
    process.send_signal(number)
    return process.wait(20)


def check_stopped(tmp_path):
    """See that a run that was stopped has left its reports, and no process."""
    assert all(ended(int(pid)) for pid in (tmp_path / "pids").read_text().split())
    results = tokbench.Results.read(tmp_path / "out" / "results.json")
    assert cell(results, "good", "tokens", "x").value == 6
    assert results.interrupted
    assert "good,c,x,tokens,6" in (tmp_path / "out" / "results.csv").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_command_ends_with_130_and_leaves_no_process(stuck, tmp_path):
    assert stop(stuck[0], signal.SIGINT) == 130
    check_stopped(tmp_path)


@pytest.mark.slow
def test_sigterm_does_what_ctrl_c_does(stuck, tmp_path):
    assert stop(stuck[0], signal.SIGTERM) == 143
    check_stopped(tmp_path)


@pytest.mark.slow
def test_sighup_ends_with_129_and_leaves_no_process(stuck, tmp_path):
    assert stop(stuck[0], signal.SIGHUP) == 129
    check_stopped(tmp_path)


@pytest.mark.slow
def test_a_signal_that_was_ignored_stays_ignored(write_config, corpus, faulty, tmp_path, monkeypatch):
    """``nohup`` starts a command like this, and shells what runs in the background."""

    def ignore():
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)

    with hanging(write_config, corpus, tmp_path, monkeypatch, "Leaks", preexec_fn=ignore) as (process, _):
        for number in (signal.SIGINT, signal.SIGHUP):
            process.send_signal(number)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1)
        assert stop(process, signal.SIGTERM) == 143
        check_stopped(tmp_path)


@pytest.mark.slow
def test_a_memory_limit_costs_the_tokenizer_alone(run):
    results = run("Hogs", "limits: {memory: 700MB}")
    reason = (
        "the process used more memory than 700MB while encoding corpus c, group y, document y.txt:2; if it needs more, "
        "allow more: limits: {memory: 1400MB}"
    )
    assert [cell(results, "bad", metric).reason for metric in ("tokens", "roundtrip_exact")] == [reason, reason]
    assert cell(results, "bad", "tokens", "x").value == 6


def test_what_a_tokenizer_prints_is_cut(write_config, corpus, faulty, capfd):
    results = tokbench.run(write_config(corpus, f"  loud: {{backend: Prints}}\n{GOOD}", METRICS))
    assert cell(results, "loud", "tokens").value == cell(results, "good", "tokens").value == 11
    out, err = capfd.readouterr()
    assert 65_000 < len(out) + len(err) < 200_000
    assert "[tokenizer 'loud' has printed 65,536 bytes; the rest is left out]" in out + err


@pytest.mark.slow
def test_a_worker_killed_by_hand(stuck, tmp_path):
    process, worker = stuck
    os.kill(worker, signal.SIGKILL)
    process.wait(60)
    assert process.returncode == 1
    results = tokbench.Results.read(tmp_path / "out" / "results.json")
    reason = cell(results, "bad", "tokens").reason
    assert reason.startswith("no answer within 15 s while encoding corpus c, group x, document x.txt:1; "), (
        "tried alone"
    )
    assert [cell(results, name, "tokens").value for name in ("good", "last")] == [11, 11]


def test_memory_that_makes_no_sense(write_config):
    for given, shown in (("8", "8"), ("8KB", '"8KB"'), ("lots", '"lots"'), ("true", "true")):
        [line] = problems(write_config(extra=f"limits: {{memory: {given}}}"))
        assert line == f"run.yaml:9:18: memory: {shown} is not an amount of memory; write it as 8GB or 8GiB"
    [line] = problems(write_config(extra="limits: {memory: 99 MB}"))
    assert line == "run.yaml:9:18: memory: 99 MB is less than a worker itself needs; give 256MB or more"


def test_workers_end_when_the_run_is_killed(stuck):
    process, worker = stuck
    process.kill()
    process.wait(60)
    if sys.platform == "linux":
        assert ended(worker)


@pytest.mark.slow
def test_the_number_of_workers_changes_no_number(write_config):
    tokenizers = (
        "  n: {backend: regex_bpe, train: {corpus: sample, vocab_size: [257, 300]}}\n"
        "  w: {backend: whitespace_words, train: {corpus: sample, vocab_size: 300}}\n  b: {backend: utf8_bytes}"
    )
    config = write_config(
        "  sample: {source: sample, part: languages}",
        tokenizers,
        "[compression, fertility, continued_words, roundtrip, vocabulary]",
    )
    one, two = tokbench.run(config), tokbench.run(config, workers=2)
    assert [str(each) for each in one.cells] == [str(each) for each in two.cells]
    assert (one.states, one.losses) == (two.states, two.losses)


def test_fewer_than_no_worker_is_refused(write_config):
    with pytest.raises(tokbench.InputError, match="workers: -1 is too few; give 0 or more"):
        tokbench.run(write_config(), workers=-1)


def test_limits_that_make_no_sense(write_config):
    lines = problems(write_config(extra="limits: {step: 0, train: long, seconds: 3}"))
    assert lines == [
        "run.yaml:9:16: step: must be more than 0, but is 0",
        'run.yaml:9:26: train: must be a number, but is "long"',
        "run.yaml:9:32: unknown key 'seconds'; known: document, memory, step, train",
    ]
