"""Malformed data on the line to a worker costs that worker, never the run, and a crash takes its children with it."""

import os
import signal
import socket
from functools import partial

import pytest
import worker_steps
from processes import ended

from tokbench.config.model import Limits
from tokbench.engine.workers import process, protocol
from tokbench.engine.workers.pool import WorkerDied
from tokbench.engine.workers.processes import ProcessPool
from tokbench.engine.workers.protocol import WorkerLine, packed
from tokbench.engine.workers.worker import Recipe
from tokbench.foundation.errors import BackendError
from tokbench.foundation.failures import Failure
from tokbench.foundation.progress import silent
from tokbench.measuring.job import TokenizerJob
from tokbench.tokenizers.options import Options

MALFORMED = protocol._MALFORMED.reason


@pytest.fixture
def pool(monkeypatch):
    """A pool of one worker that starts with few plugins."""
    monkeypatch.setenv("TOKBENCH_PLUGINS", "baselines,corpora")
    with ProcessPool(1, Limits(), silent) as made:
        made.keep("bytes", Recipe("utf8_bytes", Options()))
        yield made


def job_of(step):
    return TokenizerJob(("bytes",), "testing", "a step", step)


@pytest.fixture
def ends():
    """The end of the run, and that of the worker."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield WorkerLine(ours), theirs


@pytest.mark.slow
def test_a_worker_that_misbehaves_is_replaced(pool, tmp_path, monkeypatch):
    died = pool.ask(job_of(worker_steps.write_junk))
    assert isinstance(died, WorkerDied)
    assert died.ended == MALFORMED
    assert died.heartbeat.tokenizer == "bytes"
    died = pool.ask(worker_steps.AsksForMore())
    assert "no texts called 'more'" in died.ended
    monkeypatch.setenv("COPY_TO", str(tmp_path / "pid"))
    died = pool.ask(job_of(worker_steps.leave_a_copy))
    assert "SIGSEGV" in died.ended
    assert ended((tmp_path / "pid").read_text())
    monkeypatch.setattr(protocol, "DEAF_S", 0.5)
    stopped = pool.ask(job_of(worker_steps.process_id))
    os.kill(stopped, signal.SIGSTOP)
    monkeypatch.setattr(protocol, "DEAF_S", 60)
    much = partial(worker_steps.length_of, b"x" * 10_000_000)
    assert pool.ask(job_of(much)) == 10_000_000
    assert pool.ask(job_of(worker_steps.process_id)) != stopped


@pytest.mark.parametrize(
    "junk",
    [b"hello world\n" * 20, b"\xff" * 100, bytes(100), packed(3), packed(("answer", (1, 2))), packed(["done", 1])],
    ids=["text", "huge", "zeros", "no tuple", "no answer", "a list"],
)
def test_junk_before_a_message_is_a_failure(ends, junk):
    near, far = ends
    far.send(junk)
    far.send(packed(("done", 1)))
    assert near.receive() == Failure(MALFORMED)


def test_a_message_in_pieces(ends, monkeypatch):
    near, far = ends
    monkeypatch.setattr(protocol, "_PATIENCE_S", 0.01)
    data = packed(("done", 3)) + packed(("more", "x"))
    got = []
    for at in range(len(data)):
        far.send(data[at : at + 1])
        if message := near.receive():
            got.append(message)
    assert got == [("done", 3), ("more", "x")]


def test_a_pickle_that_cannot_be_read_is_a_failure(ends):
    near, far = ends
    far.send((9).to_bytes(8, "little") + b"no pickle")
    assert isinstance(near.receive(), Failure)


@pytest.mark.slow
def test_workers_that_do_not_start_end_the_run(monkeypatch):
    monkeypatch.setattr(process, "START_S", -1)
    with (
        ProcessPool(1, Limits(step=0.04), silent) as pool,
        pytest.raises(BackendError, match="worker processes do not start"),
    ):
        pool.ask(job_of(worker_steps.process_id))
