"""The executor dask: a cluster gives the results of worker processes, whatever becomes of its workers."""

import hashlib
import json
import os
import pickle
import re
import shlex
import signal
import socket
import subprocess
import time
from contextlib import suppress
from io import StringIO
from pathlib import Path

import pytest
from conftest import cell, interruptible
from processes import ended
from rich.console import Console

import tokbench
from tokbench.config.model import Limits
from tokbench.corpus.contract import Document
from tokbench.corpus.corpus import Corpus
from tokbench.corpus.recipe import CorpusRecipe
from tokbench.corpus.shards import Shard
from tokbench.engine.encode_shard import EncodeShard
from tokbench.engine.workers.worker import Recipe
from tokbench.foundation.progress import RunProgress
from tokbench.measuring.job import TokenizerJob, Unread
from tokbench.registry.plugins import load_registry
from tokbench.report.terminal import brief
from tokbench.results.cells import WHOLE, Status
from tokbench.sources.text import TextOptions
from tokbench.tokenizers.options import Options
from tokbench_plugins.dask_executor import cluster
from tokbench_plugins.dask_executor.remote import LEASE, Lacking, Order, RunKey, end_run, run_order
from tokbench_plugins.dask_executor.surroundings import Surroundings

README = Path(tokbench.__file__).parent / "README.md"
GROUPS = 20
CORPUS = "  c: {source: text, path: 't*.txt', document: line}"
METRICS = "[compression, fertility, roundtrip, vocabulary, utf8]"
TOKENIZERS = """\
  slow: {backend: slow}
  bytes: {backend: utf8_bytes, same_as: slow}
  naive: {backend: naive_bpe, engine: python, train: {corpus: c, vocab_size: 300}}
  other: {backend: naive_bpe, engine: python, train: {corpus: c, vocab_size: 280}}"""


def test_other_versions_are_named():
    here, there = Surroundings({"tokbench": "1.0", "numpy": "2"}), Surroundings({"tokbench": "1.1", "numpy": "2"})
    assert there.differences(here) == ["tokbench is 1.1 there and 1.0 here"]
    assert not here.differences(here)


@pytest.mark.slow
def test_an_address_without_a_scheduler(write_config):
    with pytest.raises(tokbench.InputError, match="no scheduler of dask answers at 'gopher://nowhere'"):
        tokbench.run(write_config(), executor="dask", scheduler="gopher://nowhere")


def vocab_size(tokenizer):
    return tokenizer.vocab_size


@pytest.mark.slow
def test_a_recipe_is_sent_once_and_asked_for_where_it_is_not_known():
    data = pickle.dumps(Recipe("utf8_bytes", Options()))
    digest = hashlib.sha256(data).hexdigest()
    key = RunKey("run-of-test", Limits(), {})
    job = TokenizerJob(("b",), "measuring", "", vocab_size)

    def answer(sent):
        return pickle.loads(run_order(pickle.dumps(Order(key, "1", job, {"b": digest}, sent, {}))))

    try:
        assert answer({}) == Lacking((digest,))
        assert answer({digest: data}) == [256]
        assert answer({}) == [256]
    finally:
        end_run(key.run)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["", "file://"])
def test_a_shard_is_read_where_the_job_runs_if_its_files_are_those_of_the_run(tmp_path, scheme):
    """Files that have an address are copied there once, so what becomes of them later is not seen."""
    path = tmp_path / "t.txt"
    path.write_text("".join(f"line {number}\n" for number in range(60_000)), encoding="utf-8")
    options = TextOptions(path=f"{scheme}{path}" if scheme else path, document="line")
    corpus = CorpusRecipe("c", "text", options, 0.0, parallel=False, limit=None, document_limit=256_000_000)
    source = load_registry().corpora.get("text").open(options)
    two = list(Corpus("c", source).shards())[:2]
    jobs = [EncodeShard(shard, {"b": ("compression",)}, {"compression": Options()}, recipe=corpus) for shard in two]
    data = pickle.dumps(Recipe("utf8_bytes", Options()))
    digest = hashlib.sha256(data).hexdigest()
    key = RunKey("run-that-reads", Limits(), {})

    def answers(job):
        order = pickle.dumps(Order(key, "1", job, {"b": digest}, {digest: data}, {}))
        sent.append(len(order))
        return [answer._replace(seconds=None) for answer in pickle.loads(run_order(order))]

    def unread(job):
        [answer] = pickle.loads(run_order(pickle.dumps(Order(key, "1", job, {"b": digest}, {digest: data}, {}))))
        assert isinstance(answer, Unread)
        return answer.reason

    sent = []
    try:
        with_text = [answers(job) for job in jobs]
        assert min(sent) > 200_000
        sent.clear()
        assert [answers(job.without_text()) for job in reversed(jobs)] == with_text[::-1]  # it goes back for the first
        assert max(sent) < 3_000
        path.write_text(path.read_text(encoding="utf-8").replace("line 7\n", "line X\n"), encoding="utf-8")
        if scheme:
            assert answers(jobs[0].without_text()) == with_text[0]
            end_run(key.run)
        assert unread(jobs[0].without_text()) == "the text of corpus 'c' is not that of the run"
        path.unlink()
        assert "no file matches" in unread(jobs[0].without_text())
    finally:
        end_run(key.run)


def test_a_text_without_files_is_sent():
    shard = Shard("c", "en", 0, [Document("text", "en", "0", "o")], by_key=False)
    assert EncodeShard(shard, {}, {}).without_text() is None


def recipe():
    """Return the commands of the recipe in the README."""
    section = README.read_text(encoding="utf-8").partition("## On a cluster")[2]
    return section.partition("```sh\n")[2].partition("```")[0].splitlines()


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


class Shell:
    """Runs the lines of the recipe, with another port, another configuration and another folder."""

    def __init__(self, folder, config):
        self._port, self.config, self._folder = str(free_port()), str(config), folder
        self.processes = []

    @property
    def address(self):
        return f"tcp://127.0.0.1:{self._port}"

    def start(self, line):
        words = shlex.split(line.rstrip(" &").replace("8786", self._port).replace("CONFIG", self.config))
        if words[0] == "tokbench":
            words += ["-o", str(self._folder / "out")]
        with (self._folder / f"{words[1]}-{len(self.processes)}.log").open("wb") as log:
            process = subprocess.Popen(words, stdout=log, stderr=log, cwd=self._folder, start_new_session=True)
        self.processes.append(process)
        return process

    def wait_for(self, text, number):
        """Wait until a process, by number, has written a text."""
        [log] = self._folder.glob(f"*-{number}.log")
        while text not in log.read_text(encoding="utf-8"):
            assert self.processes[number].poll() is None, log.read_text(encoding="utf-8")
            time.sleep(0.1)

    def end(self):
        for process in self.processes:
            signal_all(process, signal.SIGKILL)
            process.wait()


def signal_all(process, number):
    """Send a signal to a process and those of its session, and to a nanny's child."""
    for pid in [process.pid, *children(process.pid)]:
        with suppress(OSError):
            os.kill(pid, number)


@pytest.fixture
def texts(tmp_path, install):
    install("faulty_backends", "slow_backends")
    for k in range(GROUPS):
        (tmp_path / f"t{k:02}.txt").write_text(f"a{'c' * k}\ntext {k} of all\n", encoding="utf-8")


@pytest.fixture
def shell(tmp_path, write_config, texts):
    config = write_config(CORPUS, TOKENIZERS, METRICS, extra="limits: {step: 6}")
    shell = Shell(tmp_path, config)
    yield shell
    shell.end()


def comparable(results):
    """Return all of results.json that does not say when, where and how fast."""
    plain = json.loads(results) if isinstance(results, str) else results
    for key in ("created", "seconds", "durations", "environment", "notes"):
        del plain[key]
    for tokenizer in plain["tokenizers"].values():
        tokenizer["notes"] = [note for note in tokenizer["notes"] if "on a cluster" not in note]
        tokenizer["load_s"] = None
        tokenizer["artefact"] = tokenizer["artefact_sha256"] = ""
        if tokenizer["train"]:
            tokenizer["train"]["seconds"] = None
    return plain


def wait_for_lines(record, number, process, worker=None):
    """Wait until so many documents were encoded, the last of them by a process of a worker, which has not answered yet."""
    until = time.monotonic() + 120
    lines = []
    while len(lines) < number or (worker and int(lines[-1]) not in below(worker.pid)):
        assert process.poll() is None, "the run ended too early"
        assert time.monotonic() < until
        time.sleep(0.02)
        lines = record.read_text().split() if record.exists() else []


@pytest.mark.slow
def test_the_recipe_on_a_cluster_whose_workers_die_hang_and_join(tmp_path, shell, write_config, monkeypatch):
    config = tmp_path / "run.yaml"
    expected = tokbench.run(config, tmp_path / "inprocess", executor="inprocess")
    csv = (tmp_path / "inprocess" / "results.csv").read_bytes()
    results = tokbench.run(config, tmp_path / "workers", 2)
    assert (tmp_path / "workers" / "results.csv").read_bytes() == csv
    assert comparable(results.to_json()) == comparable(expected.to_json())

    install, scheduler, worker, another, run = recipe()
    assert install.startswith("pip install 'tokbench[cluster]'")
    record = tmp_path / "record"
    monkeypatch.setenv("ENCODED_TO", str(record))
    shell.start(scheduler)
    killed, hanging = shell.start(worker), shell.start(another)
    running = shell.start(run)
    wait_for_lines(record, 10, running, killed)
    signal_all(killed, signal.SIGKILL)
    shell.start(worker)  # it joins late
    wait_for_lines(record, len(record.read_text().split()) + 8, running, hanging)
    signal_all(hanging, signal.SIGSTOP)
    assert running.wait(120) == 0
    assert (tmp_path / "out" / "results.csv").read_bytes() == csv
    text = (tmp_path / "out" / "results.json").read_text(encoding="utf-8")
    assert comparable(text) == comparable(expected.to_json())
    notes = json.loads(text)["notes"]
    assert any("left the cluster; another did its work" in note for note in notes)
    assert any("gave no sign of life for 6 s; another did its work" in note for note in notes)
    assert len(set(record.read_text().split())) == 3

    monkeypatch.delenv("ENCODED_TO")
    (tmp_path / f"t{GROUPS}.txt").write_text("abc\n", encoding="utf-8")
    crash = write_config(CORPUS, "  bad: {backend: CrashesInEncode}\n  good: {backend: utf8_bytes}", METRICS)
    one = tokbench.run(crash, workers=1)
    many = tokbench.run(crash, executor="dask", scheduler=shell.address)
    reason = "the process died with SIGSEGV while encoding corpus c, group t20, document t20.txt:1"
    for group in (f"t{GROUPS}", WHOLE):
        assert (cell(many, "bad", "tokens", group).status, cell(many, "bad", "tokens", group).reason) == (
            Status.FAILED,
            reason,
        )
    assert cell(many, "good", "tokens").status == Status.OK
    assert comparable(many.to_json()) == comparable(one.to_json())


@pytest.mark.slow
def test_a_cluster_on_this_machine(tmp_path, texts, write_config):
    config = write_config(CORPUS, TOKENIZERS, "[compression, {speed: {rounds: 3, min_time: 0.0001}}]")
    one = tokbench.run(config, tmp_path / "one")
    two = tokbench.run(config, tmp_path / "two", 2, executor="dask")
    timed = {name for name, metric in one.metrics.items() if metric.timed}
    rows = [
        [line for line in (tmp_path / name / "results.csv").read_text().splitlines() if line.split(",")[3] not in timed]
        for name in ("one", "two")
    ]
    assert rows[0] == rows[1]
    artefact = two.tokenizers["naive"].artefact
    assert (tmp_path / "one" / artefact).read_bytes() == (tmp_path / "two" / artefact).read_bytes()
    assert cell(two, "slow", "encode_mb_per_s").value > 0
    assert any(note.startswith("speed was measured on the machine that started the run") for note in two.notes)
    assert not any("cluster" in note for note in one.notes)
    assert two.tokenizers["naive"].notes == [
        "it was trained on a cluster, perhaps beside others: the time of its training cannot be compared"
    ]


@pytest.mark.slow
def test_workers_that_cannot_be_used_are_left_out_and_a_run_needs_one_that_can(shell, monkeypatch):
    _, scheduler, worker, another, _ = recipe()
    path = os.environ["PYTHONPATH"].split(os.pathsep)
    shell.start(scheduler)
    with monkeypatch.context() as other:
        other.setenv("PYTHONPATH", os.pathsep.join(path[1:]))  # without the distribution that "install" has made
        shell.start(worker)
    missing = r"own is missing there and 1\.0 here; install the same on every machine"
    with pytest.raises(tokbench.InputError, match=missing):
        tokbench.run(shell.config, executor="dask", scheduler=shell.address)

    with monkeypatch.context() as other:
        other.setenv("SLOW_START", "60")
        shell.start(another)
    shell.start(worker)
    for number in (2, 3):
        shell.wait_for("Registered to", number)
    results = tokbench.run(shell.config, executor="dask", scheduler=shell.address, only=["slow"])
    assert not results.failed
    left_out = [note for note in results.notes if "is not used: " in note or "the run begins without it" in note]
    assert len(left_out) == 2
    assert any(re.search(missing, note) for note in left_out)


@pytest.mark.slow
def test_tokenizers_on_a_cluster_end_soon_after_the_run_was_killed(shell, write_config):
    _, scheduler, worker, _, run = recipe()
    shell.start(scheduler)
    working = shell.start(worker)
    write_config(CORPUS, "  endless: {backend: hangs_to_train, train: {corpus: c, vocab_size: 300}}")
    running = shell.start(run)
    shell.wait_for("training endless", 2)
    started = [pid for pid in below(working.pid) if "from tokbench." in Path(f"/proc/{pid}/cmdline").read_text()]
    assert started
    signal_all(running, signal.SIGKILL)
    assert all(ended(pid, 20 * 3 * LEASE) for pid in started)
    assert working.poll() is None


@pytest.mark.slow
def test_a_run_without_its_scheduler_ends_with_the_results_that_are_there(tmp_path, shell, write_config, monkeypatch):
    """The scheduler is killed in the middle of a training: nobody waits for ever, and nothing is lost silently."""
    monkeypatch.setattr(cluster, "_CONNECT", 5.0)
    monkeypatch.setattr(cluster, "_GONE", 6.0)
    monkeypatch.setitem(cluster._SETTINGS, "distributed.comm.timeouts.connect", "5s")
    trained = (
        "  endless: {backend: hangs_to_train, train: {corpus: c, vocab_size: 300}}\n  bytes: {backend: utf8_bytes}"
    )
    config = write_config(CORPUS, trained)
    _, scheduler, worker, _, _ = recipe()
    running = shell.start(scheduler)
    shell.start(worker)
    shell.wait_for("Registered to", 1)

    def kill_in_training(step, done, total):
        if step == "training endless" and running.poll() is None:
            signal_all(running, signal.SIGKILL)

    results = tokbench.run(
        config, tmp_path / "out", executor="dask", scheduler=shell.address, progress=RunProgress.of(kill_in_training)
    )
    written = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert results.interrupted
    assert written["partial"]["phase"] == "training"
    assert written["partial"]["reason"].startswith("the scheduler of dask is out of reach: ")
    assert {c.reason for c in results.cells if c.tokenizer == "endless"} == {
        "the run was stopped before it was trained"
    }
    console = Console(file=StringIO(), width=200)
    brief(results, console, tmp_path / "out", 1.0)
    assert "nothing was measured. The reason: the scheduler of dask is out of reach: " in console.file.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_nothing_is_left_of_a_cluster_on_this_machine(tmp_path, texts, write_config, monkeypatch, number):
    config, record = write_config(CORPUS, "  slow: {backend: slow}"), tmp_path / "record"
    monkeypatch.setenv("ENCODED_TO", str(record))
    command = ["tokbench", "run", str(config), "-o", str(tmp_path / "out"), "--executor", "dask"]
    with (tmp_path / "log").open("wb") as log:
        options = {"preexec_fn": interruptible, "stdout": log, "stderr": log}
        running = subprocess.Popen(command, **options)
    wait_for_lines(record, 3, running)
    started = below(running.pid)
    assert len(started) >= 3  # a scheduler, a worker, and its process
    running.send_signal(number)
    assert running.wait(60) == (130 if number == signal.SIGINT else -signal.SIGKILL)
    assert all(ended(pid) for pid in started)
    if number == signal.SIGINT:
        [line] = (tmp_path / "out" / "results.csv").read_text().splitlines()[1:2]
        assert line.startswith("slow,c,")


def children(pid):
    """Return the ids of the processes that a process has started; a thread may end while they are read."""
    pids = set()
    for thread in Path(f"/proc/{pid}/task").glob("*"):
        with suppress(OSError):
            pids |= set(map(int, (thread / "children").read_text().split()))
    return pids


def below(pid):
    """Return the ids of the processes that a process, and those below it, have started."""
    pids, waiting = set(), [pid]
    while waiting:
        new = children(waiting.pop()) - pids
        pids |= new
        waiting += new
    return pids
