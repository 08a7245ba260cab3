"""The processes that a worker has started: they are found in ``/proc``, measured, and ended with it.

A process that begins a session of its own, or whose parent has ended, still carries the environment variable
:data:`MARK`, and is still below the worker in the tree of processes, because the worker adopts orphans. A process that
drops the variable, and outlives a worker that crashed, is not found.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from tokbench.foundation.memory import with_those_below

MARK: Final = "TOKBENCH_WORKER"
"""An environment variable with a value of its own for each worker, which everything that it starts inherits."""

_PROC: Final = Path("/proc")

KNOWN: Final = sys.platform == "linux"
"""``True`` where the system tells which processes there are, and how much memory they use."""

_ROUNDS: Final = 50
"""Processes may start others while they are ended, so it is done again until none is left, but not for ever."""


class _Process(NamedTuple):
    """One line of the process table."""

    pid: int
    parent: int
    session: int


def _running() -> list[_Process]:
    """Return all processes, except those that have ended and wait for their parents to notice."""
    running = []
    for entry in os.scandir(_PROC):
        if entry.name.isdecimal():
            with suppress(OSError, ValueError):
                fields = (_PROC / entry.name / "stat").read_bytes().rpartition(b")")[2].split()
                state, parent, _, session = fields[:4]
                if state not in {b"Z", b"X"}:
                    running.append(_Process(int(entry.name), int(parent), int(session)))
    return running


def _has_mark(pid: int, mark: str) -> bool:
    with suppress(OSError):  # it has ended, or belongs to somebody else
        return f"{MARK}={mark}".encode() in (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    return False


def descendants(worker: int, mark: str) -> set[int]:
    """Return the ids of the running processes that a worker has started, itself left out.

    Args:
        worker: the id of its process, which is also the id of its session.
        mark: its value of :data:`MARK`.
    """
    running = _running()
    pids = {process.pid for process in running if process.session == worker or _has_mark(process.pid, mark)} | {worker}
    size = 0
    while len(pids) > size:
        size = len(pids)
        pids |= {process.pid for process in running if process.parent in pids}
    return pids - {worker, os.getpid()}


def end_descendants(worker: int, mark: str) -> None:
    """End all that a worker has started, but not the worker itself, which should be stopped."""
    for _ in range(_ROUNDS if KNOWN else 0):
        pids = descendants(worker, mark)
        if not pids:
            return
        for pid in pids:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.001)


def resident_bytes(worker: int) -> int:
    """Return how much memory a worker and the processes below it use; 0 if it has ended.

    A page that two of them share is counted twice.
    """
    total = 0
    for pid in with_those_below(worker):
        with suppress(OSError, ValueError, IndexError):
            total += int((_PROC / str(pid) / "statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return total
