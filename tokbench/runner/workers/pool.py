"""The processes in which the code of tokenizers runs, seen from outside.

One that dies or does not answer in time costs the tokenizer that it was busy with: it is ended and
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
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import Any, BinaryIO, Final, NamedTuple, Self, cast

from tokbench.config.model import Limits
from tokbench.errors import BackendError
from tokbench.failures import HEARTBEAT_BYTES, Failure, Heartbeat, read_heartbeat
from tokbench.progress import Progress
from tokbench.runner.workers.worker import Job, Recipe

__all__ = ["ONE_THREAD", "WorkerDied", "WorkerPool", "one_thread"]

ONE_THREAD: Final = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"}

_START: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop()); "
    "from tokbench.runner.workers.worker import main; main(*map(int, sys.argv[1:]))"
)
_BATCH_CHARS: Final = 1 << 20
_LOOKS: Final = 4
"""How often a limit is looked at while it lasts."""

_DYING: Final = 10.0
"""Seconds that a process has, after it hung up, to end itself: it may be writing a core dump."""

_MOST_SENSELESS: Final = 3
"""So many workers in a row may die while no tokenizer is at work."""


def one_thread() -> None:
    """Ask native libraries for one thread, before any of them is loaded; what is set already stays."""
    for name, value in ONE_THREAD.items():
        os.environ.setdefault(name, value)


class WorkerDied(NamedTuple):
    """A worker ended in the middle of a job.

    Attributes:
        failure: what happened, in words.
        heartbeat: what it was doing.
        crashed: whether it ended by itself, and not because it was killed.
    """

    failure: Failure
    heartbeat: Heartbeat
    crashed: bool


def _file_without_a_disk() -> BinaryIO:
    """A file that two processes can map; in memory where the system has such, since a disk may be full."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("tokbench"), "w+b")
    return cast("BinaryIO", tempfile.TemporaryFile())


class _Worker:
    """One process, and the job that it has."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with _file_without_a_disk() as file, theirs:
            file.truncate(HEARTBEAT_BYTES)
            self._memory = mmap.mmap(file.fileno(), HEARTBEAT_BYTES)
            level = logging.getLogger("tokbench").getEffectiveLevel()
            numbers = [theirs.fileno(), file.fileno(), os.getpid(), level]
            # A session of its own, so that Ctrl-C reaches the parent alone, which then ends all of it.
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter, with numbers and paths
                [sys.executable, "-c", _START, *map(str, numbers), json.dumps([str(folder) for folder in sys.path])],
                stdin=subprocess.DEVNULL,
                pass_fds=numbers[:2],
                start_new_session=True,
            )
        self.connection = Connection(ours.detach())
        self.job: Job | None = None
        self._ready = False
        self._known: set[str] = set()
        self._feeds: dict[str, Iterator[str]] = {}
        self._began = self._since = 0.0
        self._number = 0

    def begin(self, job: Job, recipes: Mapping[str, Recipe], feeds: Mapping[str, Iterable[str]]) -> None:
        """Hand over a job."""
        self.job, self._feeds = job, {name: iter(texts) for name, texts in feeds.items()}
        self._began = self._since = time.monotonic()
        new = {name: recipe for name, recipe in recipes.items() if name not in self._known}
        self._known.update(new)
        self._send((job, new))

    def _send(self, message: Any) -> None:
        with suppress(ConnectionError):  # it has died, which is found out when its answer is awaited
            self.connection.send(message)

    def hear(self) -> tuple[str, Any]:
        """The next message.

        Raises:
            EOFError, OSError: there is none, the process has ended.
        """
        message: tuple[str, Any] = self.connection.recv()
        self._since = time.monotonic()
        if message[0] == "ready":  # what it takes to start is on nobody's account
            self._ready, self._began = True, self._since
        return message

    def feed(self, name: str) -> None:
        """Send the next texts of a feed; none, if it is through."""
        batch: list[str] = []
        chars = 0
        for text in self._feeds[name]:
            batch.append(text)
            chars += len(text) + 1
            if chars >= _BATCH_CHARS:
                break
        self._send(batch)

    def late(self, limits: Limits) -> bool:
        """Whether the job has used up its limit: as a whole if it is a training, else without a sign of life."""
        assert self.job is not None
        now, number = time.monotonic(), read_heartbeat(self._memory).number
        if number != self._number:
            self._number, self._since = number, now
        since = self._began if self.job.limit == "train" else self._since
        limit: float = getattr(limits, self.job.limit)
        return self._ready and now - since > limit

    def end(self, patience: float = 0.0) -> tuple[Heartbeat, int]:
        """End the process and all that it started, after so many seconds; return its last heartbeat and exit code."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self.connection.close()
        return read_heartbeat(self._memory), self._process.wait()


class WorkerPool:
    """Some workers, which are started when they are needed and replaced when they die.

    Attributes:
        progress: told of every step that a job tells of.
    """

    def __init__(self, size: int, limits: Limits, progress: Progress) -> None:
        self.progress = progress
        self._limits = limits
        self._size = size
        self._workers: list[_Worker] = []
        self._recipes: dict[str, Recipe] = {}
        self._senseless = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.dismiss()

    def start(self) -> None:
        """Start the workers that will be needed, so that they are ready by then."""
        while len(self._workers) < self._size:
            self._workers.append(_Worker())

    def dismiss(self, keep: int = 0) -> None:
        """End all workers, whatever they are doing, or all but the first few."""
        while len(self._workers) > keep:
            self._workers.pop().end()

    def keep(self, name: str, recipe: Recipe) -> None:
        """Let every worker get at a tokenizer."""
        self._recipes[name] = recipe

    def ask(self, job: Job, feeds: Callable[[], Mapping[str, Iterable[str]]] = dict) -> Any | WorkerDied:
        """The one answer to a job, by the first worker while the others have nothing to do.

        Args:
            job: the job.
            feeds: makes the texts that the job may ask for, by name.
        """
        while True:
            jobs = iter([job])
            found = list(self._work(partial(next, jobs, None), lambda: None, lambda _: feeds(), 1))  # to its end
            _, answer = found[0]
            if not isinstance(answer, WorkerDied) or answer.heartbeat.verb:
                return answer

    def work(
        self,
        next_job: Callable[[], Job | None],
        meanwhile: Callable[[], object] = lambda: None,
        feeds: Callable[[Job], Mapping[str, Iterable[str]]] = lambda _: {},
    ) -> Iterator[tuple[Job, Any | WorkerDied]]:
        """Jobs and answers, as they come; the last answer of a job may be the death of its worker.

        Args:
            next_job: the next job, or ``None`` if there is none at the moment. It is asked again after every
                answer: an answer may lead to another job.
            meanwhile: called while the workers work, so that the next job can be got ready.
            feeds: makes the texts that a job may ask for, by name.
        """
        return self._work(next_job, meanwhile, feeds, self._size)

    def _work(
        self,
        next_job: Callable[[], Job | None],
        meanwhile: Callable[[], object],
        feeds: Callable[[Job], Mapping[str, Iterable[str]]],
        size: int,
    ) -> Iterator[tuple[Job, Any | WorkerDied]]:
        while True:
            for number in range(size):
                if number < len(self._workers) and self._workers[number].job is not None:
                    continue
                job = next_job()
                if job is None:
                    break
                if number == len(self._workers):
                    self._workers.append(_Worker())
                self._workers[number].begin(job, self._recipes, feeds(job))
            busy = {worker.connection: worker for worker in self._workers if worker.job is not None}
            if not busy:
                return
            meanwhile()
            for connection in wait(list(busy), timeout=self._look_after):
                yield from self._hear(busy[connection])  # type: ignore[index]
            for worker in busy.values():
                if worker.job is not None and worker in self._workers and worker.late(self._limits):
                    yield worker.job, self._bury(worker, killed=True)

    @property
    def _look_after(self) -> float:
        return min(self._limits.step, self._limits.train, 4.0) / _LOOKS

    def _hear(self, worker: _Worker) -> Iterator[tuple[Job, Any | WorkerDied]]:
        assert worker.job is not None
        try:
            kind, content = worker.hear()
        except (EOFError, OSError):
            yield worker.job, self._bury(worker, killed=False)
            return
        if kind == "answer":
            yield worker.job, content
        elif kind == "more":
            worker.feed(content)
        elif kind == "done":
            worker.job, self._senseless = None, 0
        elif kind == "progress":
            self.progress(*content)
        elif kind == "log":
            name, level, text = content
            logging.getLogger(name).log(level, text)

    def _bury(self, worker: _Worker, *, killed: bool) -> WorkerDied:
        """End a worker, which is then replaced when it is needed, and say what it died of."""
        job = worker.job
        assert job is not None
        self._workers.remove(worker)
        heartbeat, code = worker.end(0.0 if killed else _DYING)
        self._senseless = 0 if heartbeat.verb else self._senseless + 1
        if self._senseless > _MOST_SENSELESS:
            msg = f"worker processes do not start: the last one {_ended(code)}; see what it wrote above"
            raise BackendError(msg)
        doing = " ".join(part for part in (heartbeat.verb, heartbeat.place) if part)
        if not killed:
            return WorkerDied(
                Failure(f"the process {_ended(code)} while {doing}"), heartbeat, crashed=code != -signal.SIGKILL
            )
        limit = getattr(self._limits, job.limit)
        reason = f"no answer within {limit:g} s while {doing}; if it is only slow, allow more: "
        return WorkerDied(
            Failure(f"{reason}limits: {{{job.limit}: {10 * limit:g}}}", timed_out=True), heartbeat, crashed=False
        )


def _ended(code: int) -> str:
    """How a process ended, from its exit code.

    >>> _ended(-11), _ended(-9), _ended(3)
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
