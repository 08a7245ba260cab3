"""Nothing is left of a worker and its process group, however it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import worker_steps

from tokbench.config.model import Limits
from tokbench.engine.workers.pool import WorkerDied
from tokbench.engine.workers.processes import ProcessPool
from tokbench.engine.workers.worker import Recipe
from tokbench.foundation.progress import silent
from tokbench.measuring.job import TokenizerJob
from tokbench.tokenizers.options import Options

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")


def pool_of_one():
    pool = ProcessPool(1, Limits(), silent)
    pool.keep("bytes", Recipe("utf8_bytes", Options()))
    return pool


def job_of(step):
    return TokenizerJob(("bytes",), "testing", "a step", step)


def gone(pid, tries=100):
    """Return true if a process has ended, or only waits for its parent to notice."""
    for _ in range(tries):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.slow
def test_a_crashed_worker_takes_its_children_with_it(tmp_path, monkeypatch):
    monkeypatch.setenv("COPY_TO", str(tmp_path / "pid"))
    with pool_of_one() as pool:
        answer = pool.ask(job_of(worker_steps.leave_a_copy))
    assert isinstance(answer, WorkerDied)
    assert answer.ended == "the process died with SIGSEGV"
    assert gone((tmp_path / "pid").read_text())


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, signal.SIGKILL])
def test_nothing_is_left_of_a_process_that_had_workers(number):
    script = (
        "import os, test_process_group, worker_steps\n"
        "pool = test_process_group.pool_of_one()\n"
        "print(pool.ask(test_process_group.job_of(worker_steps.process_id)), flush=True)\n"
        f"os.kill(os.getpid(), {number})\n"
    )
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    command = [sys.executable, "-c", script]
    environment = os.environ | {"PYTHONPATH": path}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == -number, done.stderr
    assert gone(int(done.stdout))


@pytest.mark.slow
def test_a_process_that_ends_with_a_worker_at_hand_does_not_wait_for_it():
    code = (
        "from tokbench.testing.process import CheckProcess\n"
        "from tokbench.testing.under_test import CheckRequest\n"
        "process = CheckProcess(CheckRequest('utf8_bytes', {}, 0, 0), 60.0)\n"
        "print(process._pool._slots[0].processes['']._process.pid)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert gone(int(done.stdout))
