"""Malformed data on the line to a worker costs that worker, and never the run."""

import os
import signal
import socket
from functools import partial

import pytest
import worker_steps

from tokbench.config.model import Limits
from tokbench.engine.workers import line, process
from tokbench.engine.workers.line import WorkerLine, packed
from tokbench.engine.workers.pool import WorkerDied
from tokbench.engine.workers.processes import ProcessPool
from tokbench.engine.workers.worker import Recipe
from tokbench.foundation.errors import BackendError
from tokbench.foundation.failures import Failure
from tokbench.foundation.progress import silent
from tokbench.measuring.job import TokenizerJob
from tokbench.tokenizers.options import Options

MALFORMED = line._MALFORMED.reason


def pool_of(size=1, **limits):
    pool = ProcessPool(size, Limits(**limits), silent)
    pool.keep("bytes", Recipe("utf8_bytes", Options()))
    return pool


@pytest.fixture(autouse=True)
def quick_to_start(monkeypatch):
    """Start workers with few plugins."""
    monkeypatch.setenv("TOKBENCH_PLUGINS", "baselines,corpora")


def job_of(step):
    return TokenizerJob(("bytes",), "testing", "a step", step)


@pytest.fixture
def ends():
    """The end of the run, and that of the worker."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield WorkerLine(ours), theirs


@pytest.mark.slow
@pytest.mark.parametrize("junk", ["text", "huge", "an_answer"])
def test_junk_on_the_line_is_the_death_of_the_worker(junk, monkeypatch):
    monkeypatch.setenv("JUNK", junk)
    with pool_of(step=30) as pool:
        died = pool.ask(job_of(worker_steps.write_junk))
        assert isinstance(died, WorkerDied)
        assert died.ended == MALFORMED
        assert died.failure.reason in {f"{MALFORMED} while testing a step", f"{MALFORMED} while working"}
        assert died.heartbeat.tokenizer == "bytes"
        assert pool.ask(job_of(worker_steps.process_id)) > 0, "another worker goes on"


@pytest.mark.parametrize("junk", ["text", "ones", "huge", "zeros"])
def test_junk_before_a_message_is_a_failure(ends, junk):
    near, far = ends
    far.send(worker_steps.JUNK[junk])
    far.send(packed(("done", 1)))
    assert near.receive() == Failure(MALFORMED)


def test_a_message_in_pieces(ends, monkeypatch):
    near, far = ends
    monkeypatch.setattr(line, "_PATIENCE_S", 0.01)
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


@pytest.mark.parametrize(
    "message",
    [3, None, (), ("answer",), ("answer", (1, 2)), ("done", "x"), ("log", (1, 2, 3)), ("progress", ()), ["done", 1], ("x", 1)],
)  # fmt: skip
def test_a_message_of_another_shape_is_a_failure(ends, message):
    near, far = ends
    far.send(packed(message))
    assert near.receive() == Failure(MALFORMED)


def test_a_message_that_is_too_long_is_not_sent(monkeypatch):
    monkeypatch.setattr(line, "LONGEST", 100)
    with pytest.raises(ValueError, match=r"a message of 1,0.. bytes is too long; at most 100 can be sent"):
        packed("x" * 1000)


def test_texts_that_a_job_does_not_have_cost_its_worker():
    with pool_of() as pool:
        died = pool.ask(worker_steps.AsksForMore())
    assert died.ended == "the process was ended, because its job has no texts called 'more'"


@pytest.mark.slow
def test_a_worker_that_is_stopped_before_it_starts_is_replaced(monkeypatch):
    monkeypatch.setattr(process, "START_S", 6)
    with pool_of() as pool:
        pool.start()
        stopped = pool._slots[0].processes[""]._process.pid
        os.kill(stopped, signal.SIGSTOP)
        answer = pool.ask(job_of(worker_steps.process_id))
    assert isinstance(answer, int)
    assert answer != stopped


def test_workers_that_do_not_start_end_the_run(monkeypatch):
    monkeypatch.setattr(process, "START_S", 0.01)
    with pool_of(step=0.2) as pool, pytest.raises(BackendError) as caught:
        pool.ask(job_of(worker_steps.process_id))
    assert str(caught.value).startswith("worker processes do not start: the last one took more than 0.01 s; ")


@pytest.mark.slow
def test_a_worker_that_does_not_read_is_replaced(monkeypatch):
    monkeypatch.setattr(line, "DEAF_S", 0.5)
    with pool_of() as pool:
        stopped = pool.ask(job_of(worker_steps.process_id))
        os.kill(stopped, signal.SIGSTOP)
        monkeypatch.setattr(line, "DEAF_S", 60)
        much = partial(worker_steps.length_of, b"x" * 10_000_000)
        assert pool.ask(job_of(much)) == 10_000_000
        assert pool.ask(job_of(worker_steps.process_id)) != stopped
