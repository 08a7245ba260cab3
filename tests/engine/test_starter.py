"""Workers that are forked from a starter: as separate as processes that are started by themselves, and nothing is left."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import worker_steps

from tokbench.config.model import Limits
from tokbench.engine.workers import starter
from tokbench.engine.workers.pool import WorkerDied
from tokbench.engine.workers.processes import ProcessPool
from tokbench.engine.workers.worker import Recipe, TokenizerJob
from tokbench.foundation.progress import silent
from tokbench.tokenizers.options import Options

pytestmark = pytest.mark.skipif(not starter.POSSIBLE, reason="workers are forked under Linux alone")


def pool_of(size=1, **options):
    pool = ProcessPool(size, Limits(), silent, **options)
    pool.keep("bytes", Recipe("utf8_bytes", Options()))
    return pool


def ask(step, **options):
    """Return the answer of a new worker."""
    with pool_of(**options) as pool:
        return pool.ask(TokenizerJob(("bytes",), "testing", "a step", step))


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


def test_a_forked_worker_is_in_the_state_of_one_that_begins_from_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    forked, other = ask(worker_steps.state), ask(worker_steps.state)
    alone = ask(worker_steps.state, copied=False)
    assert forked["parent"] == other["parent"] != os.getpid() == alone["parent"]
    assert forked["session"] == forked["pid"] != other["pid"]
    assert forked["folder"] == str(tmp_path)
    assert forked["environment"].pop("TOKBENCH_WORKER") != other["environment"].pop("TOKBENCH_WORKER")
    del alone["environment"]["TOKBENCH_WORKER"]
    assert not {*forked["random"]} & {*other["random"]}
    assert forked["threads"] == 1
    assert forked["shows its mark"]
    for same in ("environment", "files", "folder", "umask", "signals", "path", "stdin", "limit"):
        assert forked[same] == alone[same], same


def test_other_surroundings_have_another_starter():
    first = ask(worker_steps.state)
    umask = os.umask(0o027)
    try:
        second = ask(worker_steps.state)
    finally:
        os.umask(umask)
    assert second["umask"] == 0o027
    assert first["umask"] == umask
    assert second["parent"] != first["parent"]
    assert ask(worker_steps.state)["parent"] == first["parent"]


def test_a_further_folder_of_modules_needs_another_starter_only_if_it_has_one_that_was_imported(tmp_path, monkeypatch):
    first = ask(worker_steps.state)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "harmless.py").write_text("")
    second = ask(worker_steps.state)
    assert second["path"][0] == str(tmp_path)
    assert second["parent"] == first["parent"]
    (tmp_path / "regex.py").write_text("")
    found = starter.starter({})
    assert found is None or found._process.pid != first["parent"]


def test_a_copy_of_a_worker_in_a_session_of_its_own_ends_after_the_worker_crashed(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTEST_CURRENT_TEST", str(tmp_path / "pid"))  # the variable that may differ between workers
    answer = ask(worker_steps.leave_a_copy)
    assert isinstance(answer, WorkerDied)
    assert answer.ended == "the process died with SIGSEGV"
    assert gone((tmp_path / "pid").read_text())


@pytest.mark.slow
def test_the_death_of_a_starter_costs_its_workers_alone():
    answer = ask(worker_steps.kill_parent)
    assert isinstance(answer, WorkerDied)
    assert "was killed with SIGKILL" in answer.ended
    assert ask(worker_steps.state)["threads"] == 1


def test_a_process_with_threads_is_not_forked():
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        with pytest.raises(RuntimeError, match="threads; it can be copied safely only if it has one"):
            starter._refuse_threads()
    finally:
        done.set()
        thread.join()


@pytest.mark.slow
def test_a_worker_begins_from_nothing_where_no_starter_can_be_had(tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text(
        "import threading, time\nthreading.Thread(target=time.sleep, args=[600], daemon=True).start()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    found = ask(worker_steps.state)
    assert found["parent"] == os.getpid()
    assert found["threads"] > 1


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, signal.SIGKILL])
def test_nothing_is_left_of_a_process_that_had_workers(number):
    script = (
        "import os, signal, test_starter, worker_steps\n"
        "pool = test_starter.pool_of()\n"
        "job = test_starter.TokenizerJob(('bytes',), 'testing', 'a step', worker_steps.state)\n"
        "found = pool.ask(job)\n"
        "print(found['pid'], found['parent'], flush=True)\n"
        f"os.kill(os.getpid(), {number})\n"
    )
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    command = [sys.executable, "-c", script]
    environment = os.environ | {"PYTHONPATH": path}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == -number, done.stderr
    assert len(done.stdout.split()) == 2
    assert all(gone(pid) for pid in done.stdout.split())


@pytest.mark.slow
def test_a_process_that_ends_with_a_worker_at_hand_does_not_wait_for_it():
    """The handle of a worker's process is kept until the exit of the interpreter has ended the worker."""
    code = (
        "from tokbench.testing.process import CheckProcess\n"
        "from tokbench.testing.under_test import CheckRequest\n"
        "process = CheckProcess(CheckRequest('utf8_bytes', {}, 0, 0), 60.0)\n"
        "print(process._pool._workers[0]._process.pid)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert gone(int(done.stdout))
