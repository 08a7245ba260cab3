"""Malformed data on the line to a worker costs that worker, never the run, and a crash takes its children with it."""

import pytest
import worker_steps
from processes import ended

from tokbench.config.model import Limits
from tokbench.engine.workers import process
from tokbench.engine.workers.pool import WorkerDied
from tokbench.engine.workers.processes import ProcessPool
from tokbench.engine.workers.worker import MALFORMED, LoadRecipe, from_worker, packed
from tokbench.foundation.errors import BackendError
from tokbench.foundation.failures import Failure
from tokbench.foundation.progress import silent
from tokbench.measuring.job import TokenizerJob
from tokbench.tokenizers.options import Options


@pytest.fixture
def pool(monkeypatch):
    """A pool of one worker that starts with few plugins."""
    monkeypatch.setenv("TOKBENCH_PLUGINS", "baselines,corpora")
    with ProcessPool(1, Limits(), silent) as made:
        made.keep("bytes", LoadRecipe("utf8_bytes", Options()))
        yield made


def job_of(step):
    return TokenizerJob(("bytes",), "testing", "a step", step)


@pytest.mark.slow
def test_a_worker_that_misbehaves_is_replaced(pool, tmp_path, monkeypatch):
    died = pool.ask(job_of(worker_steps.write_junk))
    assert isinstance(died, WorkerDied)
    assert died.ended == MALFORMED.reason
    assert died.heartbeat.tokenizer == "bytes"
    died = pool.ask(worker_steps.AsksForMore())
    assert "no texts called 'more'" in died.ended
    monkeypatch.setenv("COPY_TO", str(tmp_path / "pid"))
    died = pool.ask(job_of(worker_steps.leave_a_copy))
    assert "SIGSEGV" in died.ended
    assert ended((tmp_path / "pid").read_text())


@pytest.mark.parametrize("junk", [3, ("answer",), ["done", None]])
def test_what_is_no_message_is_malformed(junk):
    assert from_worker(packed(junk)) == MALFORMED


def test_a_pickle_that_cannot_be_read_is_a_failure():
    assert isinstance(from_worker(b"no pickle"), Failure)


@pytest.mark.slow
def test_workers_that_do_not_start_end_the_run(monkeypatch):
    monkeypatch.setattr(process, "START_S", -1)
    with (
        ProcessPool(1, Limits(step=0.04), silent) as pool,
        pytest.raises(BackendError, match="worker processes do not start"),
    ):
        pool.ask(job_of(worker_steps.process_id))
