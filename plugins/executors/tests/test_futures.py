"""The executor futures: any executor gives the results of a local run, whatever becomes of its workers."""

import os
import re
import signal
import subprocess
import time
from concurrent.futures import Executor, Future
from pathlib import Path

import pytest
from processes import ended
from shared_fixtures import cell

import tokbench
from tokbench.config.model import Limits
from tokbench.plugin import silent
from tokbench.results.cells import Status
from tokbench_executors.made import Made
from tokbench_executors.pool import FuturesPool
from tokbench_executors.remote import _IDLE
from tokbench_executors.surroundings import Surroundings

README = Path(__file__).parents[1] / "README.md"
CORPUS = "  c: {source: text, path: 't*.txt', document: line, group: '{stem}'}"
METRICS = "[compression, fertility, roundtrip]"
THREADS = "concurrent.futures:ThreadPoolExecutor(2)"
EXECUTORS = {
    "python": "",
    "loky": "loky:ProcessPoolExecutor(2)",
    "ray": "mine:executor()",
    "distributed": "dask.distributed:Client(n_workers=2, threads_per_worker=1, dashboard_address=None)",
}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("loky", "no call"),
        ("no_such_module:Executor(2)", "No module named 'no_such_module'"),
        ("concurrent.futures:Pool()", "no attribute 'Pool'"),
        ("concurrent.futures:ThreadPoolExecutor(os.cpu_count())", "cannot be read"),
        ("concurrent.futures:ThreadPoolExecutor(2", "cannot be read"),
        ("concurrent.futures:ThreadPoolExecutor(0)", "max_workers must be greater"),
        ("pathlib:Path()", "not a concurrent.futures.Executor"),
    ],
)
def test_a_call_that_makes_no_executor(write_config, call, said):
    with pytest.raises(tokbench.InputError, match=said):
        tokbench.run(write_config(), executor="futures", scheduler=call)


class Elsewhere(Executor):
    """Has one worker, with other versions or none at all."""

    _max_workers = 1

    def __init__(self, answer):
        self.answer = answer

    def submit(self, *_):
        future = Future()
        if isinstance(self.answer, Exception):
            future.set_exception(self.answer)
        else:
            future.set_result(self.answer)
        return future


@pytest.mark.parametrize(
    ("answer", "said"),
    [(Surroundings({"Python": "2.7"}), "Python is 2.7 there and"), (OSError("no tokbench"), "cannot run tokbench")],
)
def test_a_worker_that_differs_is_an_error_before_anything_is_measured(answer, said):
    elsewhere = Elsewhere(answer)
    with (
        FuturesPool(lambda: Made(elsewhere, elsewhere.shutdown), Limits(), silent) as pool,
        pytest.raises(tokbench.InputError, match=said),
    ):
        pool.start()


@pytest.fixture
def texts(tmp_path, install, monkeypatch):
    install("faulty_backends")
    parts = "baselines,corpora,futures,faulty_backends,metrics,naive_bpe,reports,speed"
    monkeypatch.setenv("TOKBENCH_PLUGINS", parts)
    for k in range(12):
        (tmp_path / f"t{k:02}.txt").write_text(f"a{'c' * k}\ntext {k} of all\n", encoding="utf-8")


@pytest.mark.one_of_file
@pytest.mark.slow
def test_threads_give_the_bytes_of_a_local_run_and_leave_no_process(tmp_path, write_config):
    config = write_config(tokenizers="  bytes: {backend: utf8_bytes}", metrics="[compression]")
    tokbench.run(config, tmp_path / "local", executor="inprocess")
    tokbench.run(config, tmp_path / "out", executor="futures", scheduler=THREADS)
    assert (tmp_path / "out/results.csv").read_bytes() == (tmp_path / "local/results.csv").read_bytes()
    assert not _IDLE._pools


def below(pid):
    """Return the ids of the processes that a process, and those below it, have started."""
    found, waiting = set(), [pid]
    while waiting:
        for thread in Path(f"/proc/{waiting.pop()}/task").glob("*/children"):
            new = set(map(int, thread.read_text().split())) if thread.exists() else set()
            waiting += new - found
            found |= new
    return found


def start(config, folder, call):
    """Start a run that measures where ``call`` says; return it, and a worker that measures."""
    command = ["tokbench", "run", str(config), "-o", str(folder / "out"), "--executor", "futures"]
    command += ["--scheduler", call] if call else ["--workers", "2"]
    with (folder / "log").open("wb") as log:
        running = subprocess.Popen(command, stdout=log, stderr=log)
    record = folder / "record"
    while True:
        assert running.poll() is None, (folder / "log").read_text()
        time.sleep(0.02)
        workers = set(map(int, record.read_text().split())) if record.exists() else set()
        if elsewhere := workers - {running.pid}:  # which checks tokenizers itself
            return running, elsewhere.pop()


@pytest.mark.one_of_file
@pytest.mark.slow
@pytest.mark.parametrize("library", EXECUTORS)
def test_a_killed_worker_changes_no_byte(tmp_path, texts, write_config, monkeypatch, library):
    if EXECUTORS[library]:
        pytest.importorskip(library)
    tokenizers = "  slow: {backend: slow}\n  bytes: {backend: utf8_bytes, same_as: slow}\n"
    trained = "  naive: {backend: naive_bpe, engine: python, train: {corpus: c, vocab_size: 300}}"
    config = write_config(CORPUS, tokenizers + trained, METRICS)
    tokbench.run(config, tmp_path / "local", executor="inprocess")
    [recipe] = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "mine.py").write_text(recipe, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("ENCODED_TO", str(tmp_path / "record"))
    running, worker = start(config, tmp_path, EXECUTORS[library])
    os.kill(worker, signal.SIGKILL)
    assert running.wait(120) == 0, (tmp_path / "log").read_text()
    assert (tmp_path / "out/results.csv").read_bytes() == (tmp_path / "local/results.csv").read_bytes()
    assert ended(worker)


@pytest.mark.one_of_file
@pytest.mark.slow
def test_nothing_is_left_of_a_run_that_is_killed(tmp_path, texts, write_config, monkeypatch):
    monkeypatch.setenv("ENCODED_TO", str(tmp_path / "record"))
    running, _ = start(write_config(CORPUS, "  slow: {backend: slow}"), tmp_path, "")
    started = below(running.pid)
    assert len(started) >= 4  # two workers, and a process of each
    running.kill()
    assert running.wait(60) == -signal.SIGKILL
    assert all(ended(pid) for pid in started)


@pytest.mark.one_of_file
@pytest.mark.slow
def test_a_stranger_s_tokenizer_costs_its_own_cells(tmp_path, texts, write_config):
    harmful = "  bad: {backend: harmful, what: bincount}\n  crash: {backend: CrashesInEncode}\n"
    (tmp_path / "t00.txt").write_text("abc\n", encoding="utf-8")
    good = "  good: {backend: utf8_bytes}\n  naive: {backend: naive_bpe, train: {corpus: c, vocab_size: 280}}"
    config = write_config(CORPUS, harmful + good, "[compression, {speed: {rounds: 3, min_time: 0.0001}}]")
    one = tokbench.run(config, tmp_path / "one", 1)
    two = tokbench.run(config, tmp_path / "two", 1, executor="futures")
    timed = {name for name, metric in one.metrics.items() if metric.timed}
    rows = [
        [line for line in (tmp_path / name / "results.csv").read_text().splitlines() if line.split(",")[3] not in timed]
        for name in ("one", "two")
    ]
    assert rows[0] == rows[1]
    crashed = cell(two, "crash", "tokens", "t00")
    assert crashed.status == Status.FAILED
    assert "SIGSEGV" in crashed.reason
    assert "t00.txt:1" in crashed.reason
    artefact = two.tokenizers["naive"].artefact
    assert (tmp_path / "one" / artefact).read_bytes() == (tmp_path / "two" / artefact).read_bytes()
    assert cell(two, "good", "encode_mb_per_s").value > 0
