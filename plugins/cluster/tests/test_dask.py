"""The executor dask: a cluster gives the results of a local run, whatever becomes of its workers."""

import hashlib
import json
import os
import pickle
import shlex
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from processes import ended
from shared_fixtures import cell

import tokbench
from tokbench.config.model import Limits
from tokbench.corpus.contract import Document
from tokbench.corpus.shards import Shard
from tokbench.engine.encode_shard import EncodeShard
from tokbench.engine.workers.worker import Recipe
from tokbench.results.cells import Status
from tokbench.tokenizers.options import Options
from tokbench_cluster.remote import Lacking, Order, RunKey, end_run, run_order

README = Path(__file__).parents[1] / "README.md"
GROUPS = 12
CORPUS = "  c: {source: text, path: 't*.txt', document: line}"
METRICS = "[compression, fertility, roundtrip]"


@pytest.mark.slow
def test_an_address_without_a_scheduler(write_config):
    with pytest.raises(tokbench.InputError, match="'gopher://nowhere'"):
        tokbench.run(write_config(), executor="dask", scheduler="gopher://nowhere")


def test_a_worker_asks_for_recipes_it_lacks():
    shard = Shard("c", "en", 0, [Document("text", "en", "0", "o")], by_key=False)
    job = EncodeShard(shard, {"b": ("compression",)}, {"compression": Options()})
    data = pickle.dumps(Recipe("utf8_bytes", Options()))
    digest = hashlib.sha256(data).hexdigest()
    key = RunKey("run-that-asks", Limits(), {})
    try:
        orders = [Order(key, "1", job, {"b": digest}, recipes, {}) for recipes in ({}, {digest: data})]
        lacking, [states] = (pickle.loads(run_order(pickle.dumps(order))) for order in orders)
        assert lacking == Lacking((digest,))
        assert states.name == "b"
    finally:
        end_run(key.run)


class Shell:
    """Runs the commands of the recipe in the README, with another port, another configuration and another folder."""

    def __init__(self, folder, config):
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            self._port = str(listening.getsockname()[1])
        self.config, self._folder = str(config), folder
        self.processes = []
        recipe = README.read_text(encoding="utf-8").partition("```sh\n")[2].partition("```")[0].splitlines()
        _, self.scheduler, self.worker, _, self.run = recipe

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

    def end(self):
        for process in self.processes:
            kill(process)
            process.wait()


def kill(process):
    """Kill a process and, of a nanny, its child."""
    for pid in [process.pid, *children(process.pid)]:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def texts(tmp_path, install, monkeypatch):
    install("faulty_backends", "harmful_backends", "slow_backends")
    parts = "baselines,corpora,dask,faulty_backends,harmful_backends,metrics,naive_bpe,reports,slow_backends,speed"
    monkeypatch.setenv("TOKBENCH_PLUGINS", parts)
    for k in range(GROUPS):
        (tmp_path / f"t{k:02}.txt").write_text(f"a{'c' * k}\ntext {k} of all\n", encoding="utf-8")


def comparable(results):
    """Return all of results.json that does not say when, where and how fast."""
    plain = json.loads(results)
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
    lines = []
    while len(lines) < number or (worker and int(lines[-1]) not in below(worker.pid)):
        assert process.poll() is None, "the run ended too early"
        time.sleep(0.02)
        lines = record.read_text().split() if record.exists() else []


@pytest.mark.slow
def test_a_cluster_whose_worker_dies_gives_the_bytes_of_a_local_run(tmp_path, texts, write_config, monkeypatch):
    tokenizers = "  slow: {backend: slow}\n  bytes: {backend: utf8_bytes, same_as: slow}\n"
    trained = "  naive: {backend: naive_bpe, engine: python, train: {corpus: c, vocab_size: 300}}"
    shell = Shell(tmp_path, write_config(CORPUS, tokenizers + trained, METRICS))
    record = tmp_path / "record"
    expected = tokbench.run(shell.config, tmp_path / "local", executor="inprocess")
    monkeypatch.setenv("ENCODED_TO", str(record))
    try:
        shell.start(shell.scheduler)
        killed, _ = shell.start(shell.worker), shell.start(shell.worker)
        running = shell.start(shell.run)
        wait_for_lines(record, 6, running, killed)
        kill(killed)
        assert running.wait(120) == 0
    finally:
        shell.end()
    out, local = tmp_path / "out", tmp_path / "local"
    assert (out / "results.csv").read_bytes() == (local / "results.csv").read_bytes()
    text = (out / "results.json").read_text(encoding="utf-8")
    assert comparable(text) == comparable(expected.to_json())
    assert any("did its work" in note for note in json.loads(text)["notes"])


@pytest.mark.slow
def test_a_stranger_s_tokenizer_costs_its_own_cells_on_a_cluster(tmp_path, texts, write_config):
    harmful = "  bad: {backend: harmful, what: bincount}\n  crash: {backend: CrashesInEncode}\n"
    (tmp_path / "t00.txt").write_text("abc\n", encoding="utf-8")
    good = "  good: {backend: utf8_bytes}\n  naive: {backend: naive_bpe, train: {corpus: c, vocab_size: 280}}"
    config = write_config(CORPUS, harmful + good, "[compression, {speed: {rounds: 3, min_time: 0.0001}}]")
    one = tokbench.run(config, tmp_path / "one", 1)
    two = tokbench.run(config, tmp_path / "two", 1, executor="dask")
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
    total = sum(len(line) for path in tmp_path.glob("t*.txt") for line in path.read_text().splitlines())
    assert cell(two, "good", "tokens").value == total
    artefact = two.tokenizers["naive"].artefact
    assert (tmp_path / "one" / artefact).read_bytes() == (tmp_path / "two" / artefact).read_bytes()
    assert cell(two, "good", "encode_mb_per_s").value > 0


@pytest.mark.slow
def test_nothing_is_left_of_a_cluster_on_this_machine(tmp_path, texts, write_config, monkeypatch):
    config, record = write_config(CORPUS, "  slow: {backend: slow}"), tmp_path / "record"
    monkeypatch.setenv("ENCODED_TO", str(record))
    command = ["tokbench", "run", str(config), "-o", str(tmp_path / "out"), "--executor", "dask"]
    with (tmp_path / "log").open("wb") as log:
        running = subprocess.Popen(command, stdout=log, stderr=log)
    wait_for_lines(record, 2, running)
    started = below(running.pid)
    assert len(started) >= 3  # a scheduler, a worker, and its process
    running.kill()
    assert running.wait(60) == -signal.SIGKILL
    assert all(ended(pid) for pid in started)


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
