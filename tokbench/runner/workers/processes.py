"""The pool of worker processes.

A process that dies or does not answer in time costs only the tokenizer that it was busy with: it is ended and
replaced, and the run goes on.
"""

from __future__ import annotations

import json
import logging
import mmap
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import IO, Any, Final

from tokbench.config.model import Limits
from tokbench.errors import BackendError
from tokbench.failures import HEARTBEAT_BYTES, Failure, Heartbeat, read_heartbeat
from tokbench.progress import Progress
from tokbench.runner.workers.pool import Feeds, WorkerDied, WorkerPool, text_batches
from tokbench.runner.workers.worker import Job, Recipe

# Not multiprocessing's own spawn, which runs the caller's main module again.
_START: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop()); "
    "from tokbench.runner.workers.worker import main; main(*map(int, sys.argv[1:]))"
)
_CHECKS_PER_LIMIT: Final = 4
"""Checks of a time limit while it lasts."""

_DYING: Final = 10.0
"""Seconds that a process has, after it hung up, to end itself: it may be writing a core dump."""

_MOST_IDLE_DEATHS: Final = 3
"""So many workers in a row may die while no tokenizer is at work."""

_LAST_WORDS: Final = 300


def _open_shared_file() -> IO[bytes]:
    """Open a file that two processes can map: in memory where the system can do that, since a disk may be full."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("tokbench"), "w+b")
    return tempfile.TemporaryFile()


class _Worker:
    """One process, and the job that it has.

    Args:
        environment: variables that are added to those of this process.
        capture_output: keep what the process prints, instead of printing it.
    """

    def __init__(self, environment: Mapping[str, str], *, capture_output: bool) -> None:
        self._output: IO[bytes] | None = tempfile.TemporaryFile() if capture_output else None  # noqa: SIM115
        ours, theirs = socket.socketpair()
        with _open_shared_file() as file, theirs:
            file.truncate(HEARTBEAT_BYTES)
            self._memory = mmap.mmap(file.fileno(), HEARTBEAT_BYTES)
            level = logging.getLogger("tokbench").getEffectiveLevel()
            numbers = [theirs.fileno(), file.fileno(), os.getpid(), level]
            # A session of its own, so that Ctrl-C reaches the parent alone, which then ends all of it.
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter, with numbers and paths
                [sys.executable, "-c", _START, *map(str, numbers), json.dumps([str(folder) for folder in sys.path])],
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._output,
                pass_fds=numbers[:2],
                env={**os.environ, **environment},
                start_new_session=True,
            )
        self.connection = Connection(ours.detach())
        self.job: Job | None = None
        self.answered = False
        self._ready = False
        self._known: set[str] = set()
        self._feeds: dict[str, Iterator[list[str]]] = {}
        self._began = self._since = 0.0
        self._number = 0

    def begin(self, job: Job, recipes: Mapping[str, Recipe], feeds: Feeds) -> None:
        """Hand over a job."""
        self.job, self.answered = job, False
        self._feeds = {name: text_batches(texts) for name, texts in feeds.items()}
        self._began = self._since = time.monotonic()
        new = {name: recipe for name, recipe in recipes.items() if name not in self._known}
        self._known.update(new)
        self._send((job, new))

    def _send(self, message: Any) -> None:
        with suppress(ConnectionError):  # it has died, which is found out when its answer is awaited
            self.connection.send(message)

    def receive(self) -> tuple[str, Any]:
        """Return the next message.

        Raises:
            EOFError, OSError: there is none, the process has ended.
        """
        message: tuple[str, Any] = self.connection.recv()
        self._since = time.monotonic()
        if message[0] == "ready":  # the time that it takes to start is not the job's
            self._ready, self._began = True, self._since
        return message

    def send_batch(self, feed: str) -> None:
        """Send the next texts of a feed, or an empty list after the last."""
        self._send(next(self._feeds[feed], []))

    def late(self, limits: Limits) -> bool:
        """Tell whether the job has used up its limit, see :attr:`Job.limit`."""
        assert self.job is not None
        now, number = time.monotonic(), read_heartbeat(self._memory).number
        if number != self._number:
            self._number, self._since = number, now
        since = self._began if self.job.limit == "train" else self._since
        limit: float = getattr(limits, self.job.limit)
        return self._ready and now - since > limit

    def end(self, patience: float = 0.0) -> tuple[Heartbeat, int, str]:
        """End the process and all that it started.

        Args:
            patience: seconds to wait for it to end by itself.

        Returns:
            Its last heartbeat, its exit code, and the end of its output, if that is captured.
        """
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self.connection.close()
        code, last_words = self._process.wait(), ""
        if self._output is not None:
            with self._output as output:
                output.seek(0)
                last_words = " ".join(output.read().decode(errors="replace").split())[-_LAST_WORDS:]
        return read_heartbeat(self._memory), code, last_words


class ProcessPool(WorkerPool):
    """Some worker processes, which are started when they are needed and replaced when they die.

    Args:
        size: how many.
        limits: time limits of their jobs.
        progress: called with every step that a job reports.
        environment: variables that the processes get besides those of this process.
        capture_output: keep what they print, instead of printing it; see :attr:`WorkerDied.last_words`.
    """

    def __init__(
        self,
        size: int,
        limits: Limits,
        progress: Progress,
        *,
        environment: Mapping[str, str] | None = None,
        capture_output: bool = False,
    ) -> None:
        super().__init__(progress)
        self._limits = limits
        self._size = size
        self._new_worker = partial(_Worker, environment or {}, capture_output=capture_output)
        self._workers: list[_Worker] = []
        self._again: deque[Job] = deque()
        self._idle_deaths = 0

    def start(self) -> None:
        """See :meth:`WorkerPool.start`."""
        while len(self._workers) < self._size:
            self._workers.append(self._new_worker())

    def end(self, keep: int = 0) -> None:
        """See :meth:`WorkerPool.end`."""
        while len(self._workers) > keep:
            self._workers.pop().end()

    def work(
        self,
        next_job: Callable[[], Job | None],
        meanwhile: Callable[[], object] = lambda: None,
        feeds: Callable[[Job], Feeds] = lambda _: {},
    ) -> Iterator[tuple[Job, Any | WorkerDied]]:
        """See :meth:`WorkerPool.work`."""
        self._again.clear()
        while True:
            for number in range(self._size):
                if number < len(self._workers) and self._workers[number].job is not None:
                    continue
                job = self._again.popleft() if self._again else next_job()
                if job is None:
                    break
                if number == len(self._workers):
                    self._workers.append(self._new_worker())
                self._workers[number].begin(job, self._recipes, feeds(job))
            busy = {worker.connection: worker for worker in self._workers if worker.job is not None}
            if not busy:
                return
            meanwhile()
            for connection in wait(list(busy), timeout=self._seconds_between_checks):
                yield from self._receive(busy[connection])  # type: ignore[index]
            for worker in busy.values():
                if worker.job is not None and worker in self._workers and worker.late(self._limits):
                    yield from self._end_worker(worker, killed=True)

    @property
    def _seconds_between_checks(self) -> float:
        return min(self._limits.step, self._limits.train, 4.0) / _CHECKS_PER_LIMIT

    def _receive(self, worker: _Worker) -> Iterator[tuple[Job, Any | WorkerDied]]:
        """Take the next message of a worker; yield the job and its answer if it is one."""
        assert worker.job is not None
        try:
            kind, content = worker.receive()
        except (EOFError, OSError):
            yield from self._end_worker(worker, killed=False)
            return
        if kind == "answer":
            worker.answered = True
            yield worker.job, content
        elif kind == "more":
            worker.send_batch(content)
        elif kind == "done":
            worker.job, self._idle_deaths = None, 0
        elif kind == "progress":
            self.progress(*content)
        elif kind == "log":
            name, level, text = content
            logging.getLogger(name).log(level, text)

    def _end_worker(self, worker: _Worker, *, killed: bool) -> Iterator[tuple[Job, WorkerDied]]:
        """End a worker that has died or is killed for being late; yield its job and how it ended, if it was at work.

        Raises:
            BackendError: workers die before they begin to work.
        """
        job = worker.job
        assert job is not None
        self._workers.remove(worker)
        heartbeat, code, last_words = worker.end(0.0 if killed else _DYING)
        self._idle_deaths = 0 if heartbeat.verb else self._idle_deaths + 1
        if self._idle_deaths > _MOST_IDLE_DEATHS:
            seen = last_words or "see what it wrote above"
            raise BackendError(f"worker processes do not start: the last one {_how_ended(code)}; {seen}")
        if not heartbeat.verb and not worker.answered:
            self._again.append(job)
            return
        doing = " ".join(part for part in (heartbeat.verb, heartbeat.place) if part)
        if not killed:
            ended = f"the process {_how_ended(code)}"
            failure = Failure(f"{ended} while {doing}")
            yield job, WorkerDied(failure, heartbeat, code != -signal.SIGKILL, ended, last_words)
            return
        limit = getattr(self._limits, job.limit)
        ended = f"no answer within {limit:g} s"
        advice = f"if it is only slow, allow more: limits: {{{job.limit}: {10 * limit:g}}}"
        failure = Failure(f"{ended} while {doing}; {advice}", timed_out=True)
        yield job, WorkerDied(failure, heartbeat, crashed=False, ended=ended)


def _how_ended(code: int) -> str:
    """Say how a process ended, from its exit code.

    >>> _how_ended(-11), _how_ended(-9), _how_ended(3)
    ('died with SIGSEGV', 'was killed with SIGKILL, by somebody or for want of memory,', 'ended with exit code 3')
    """
    if code >= 0:
        return f"ended with exit code {code}"
    if code == -signal.SIGKILL:
        return "was killed with SIGKILL, by somebody or for want of memory,"
    try:
        return f"died with {signal.Signals(-code).name}"
    except ValueError:
        return f"died with signal {-code}"
