"""The pool of worker processes.

A process that dies or does not answer in time costs only the tokenizer that it was busy with: it is ended and
replaced, and the run goes on.
"""

from __future__ import annotations

import json
import logging
import mmap
import os
import pickle
import secrets
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
from typing import IO, Any, Final, NamedTuple

from tokbench.config.model import Limits, memory_text
from tokbench.engine.workers.descendants import KNOWN, MARK, end_descendants
from tokbench.engine.workers.pool import Feeds, InMemory, WorkerDied, WorkerPool, text_batches
from tokbench.engine.workers.watch import STDERR, STDOUT, WorkerWatch
from tokbench.engine.workers.worker import Recipe
from tokbench.foundation.errors import BackendError
from tokbench.foundation.failures import HEARTBEAT_BYTES, Failure, Heartbeat, attempt, read_heartbeat
from tokbench.foundation.progress import Progress
from tokbench.measuring.job import Job

# Not multiprocessing's own spawn, which runs the caller's main module again. What is imported stays: the collector need
# not look at it while it comes. The worker's main function turns the collector on.
_START: Final = (
    "import gc, json, sys; gc.disable(); sys.path[:] = json.loads(sys.argv.pop()); "
    "from tokbench.engine.workers.worker import main; main(*map(int, sys.argv[1:]))"
)
_CHECKS_PER_LIMIT: Final = 4
"""So often is a time limit checked while it lasts."""

_EXIT_GRACE_S: Final = 10.0
"""Seconds that a process has, after it hung up, to end itself: it may be writing a core dump."""

_MOST_IDLE_DEATHS: Final = 3
"""So many workers in a row may die while no tokenizer is at work."""

_MAX_TAIL_CHARS: Final = 300
"""Length of the end of a worker's output, as errors show it."""


def _open_shared_file() -> IO[bytes]:
    """Open a file that two processes can map: in memory where the system can do that, since a disk may be full."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("tokbench"), "w+b")
    return tempfile.TemporaryFile()


class _WorkerFiles(NamedTuple):
    """The file descriptors that a worker inherits."""

    line: int
    """The worker's end of the line to this process."""
    heartbeat: int
    """The memory for its heartbeat."""
    stdout: int
    stderr: int


def _start_process(files: _WorkerFiles, mark: str, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a process in a session of its own, so that Ctrl-C reaches the parent alone, which then ends all of it.

    Args:
        files: the files that it inherits.
        mark: its value of :data:`MARK`.
        environment: variables that are added to those of this process.
    """
    level = logging.getLogger("tokbench").getEffectiveLevel()
    numbers = map(str, [files.line, files.heartbeat, os.getpid(), level])
    return subprocess.Popen(  # noqa: S603 - this interpreter, with numbers and paths
        [sys.executable, "-c", _START, *numbers, json.dumps([str(folder) for folder in sys.path])],
        stdin=subprocess.DEVNULL,
        stdout=files.stdout,
        stderr=files.stderr,
        pass_fds=[files.line, files.heartbeat],
        env={**os.environ, **environment, MARK: mark},
        start_new_session=True,
    )


def _has_exited(process: subprocess.Popen[bytes]) -> bool:
    """Tell whether a process has ended, without the lock of its object: Ctrl-C in ``poll`` would leave it locked."""
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:  # it has, and its object knows
        return True


class _Ended(NamedTuple):
    """The end of a worker."""

    heartbeat: Heartbeat
    """Its last one."""
    how: str
    """The reason of its end, in words."""
    code: int
    """Its exit code."""
    too_large: bool
    """``True`` if it used more memory than it may."""
    last_words: str
    """The end of what it printed."""


class _Worker:
    """One process, and the job that it has.

    Args:
        memory: bytes that it may use; ``None`` if there is no limit.
        printed: by tokenizer, how many bytes of output were passed on so far.
        environment: variables that are added to those of this process.
        capture_output: keep the end of what the process prints, instead of printing it.
    """

    def __init__(
        self, memory: int | None, printed: dict[str, int], environment: Mapping[str, str], *, capture_output: bool
    ) -> None:
        self._mark = secrets.token_hex(16)
        ours, theirs = socket.socketpair()
        pipes = [os.pipe() for _ in (STDOUT, STDERR)]
        with _open_shared_file() as file, theirs:
            file.truncate(HEARTBEAT_BYTES)
            self._memory = mmap.mmap(file.fileno(), HEARTBEAT_BYTES)
            files = _WorkerFiles(theirs.fileno(), file.fileno(), *(end for _, end in pipes))
            self._process = _start_process(files, self._mark, environment)
        for _, end in pipes:
            os.close(end)
        self._watch = WorkerWatch(
            {pipe: None if capture_output else to for (pipe, _), to in zip(pipes, (STDOUT, STDERR), strict=True)},
            lambda: read_heartbeat(self._memory).tokenizer,
            printed,
            self._process.pid,
            memory,
            self._process.kill,
        )
        self._watch.start()
        self.connection = Connection(ours.detach())
        self.job: Job | None = None
        self.ready = False
        self.answers = 0
        self.loaded: set[str] = set()
        """The tokenizers of its jobs so far, which it has in memory."""
        self._jobs = 0
        self._known: set[str] = set()
        self._feeds: dict[str, Iterator[list[str]]] = {}
        self._began = self._since = 0.0
        self._number = 0

    def begin(self, job: Job, recipes: Mapping[str, Recipe], feeds: Feeds) -> None:
        """Hand over a job."""
        self.job, self.answers = job, 0
        self.loaded.update(job.tokenizers)
        self._jobs += 1
        self._feeds = {name: text_batches(texts) for name, texts in feeds.items()}
        self._began = self._since = time.monotonic()
        new = {name: recipe for name, recipe in recipes.items() if name not in self._known}
        self._known.update(new)
        self._send((self._jobs, job, new))

    def _send(self, message: Any) -> None:
        with suppress(ConnectionError):  # it has died, which shows when its answer is awaited
            self.connection.send(message)

    def receive(self) -> tuple[str, Any] | Failure:
        """Return the next message, or the failure if it cannot be read.

        Raises:
            EOFError, OSError: there is none, the process has ended.
        """
        data = self.connection.recv_bytes()
        self._since = time.monotonic()
        message: tuple[str, Any] | Failure = attempt(lambda: pickle.loads(data), "its answer cannot be read")  # noqa: S301
        if isinstance(message, Failure):
            return message
        if message[0] == "ready":  # the time that it takes to start is not the job's
            self.ready, self._began = True, self._since
        return message

    def expects(self, number: tuple[int, int]) -> bool:
        """Tell whether an answer with these numbers, of its job and its own, is the next one."""
        return number == (self._jobs, self.answers)

    def done(self, number: int) -> bool:
        """Note the end of the job with a number, and return ``True``, if it is the present job."""
        if number == self._jobs:
            self.job = None
        return self.job is None

    def send_batch(self, feed: str) -> None:
        """Send the next texts of a feed, or an empty list after the last."""
        self._send(next(self._feeds[feed], []))

    def has_ended(self) -> bool:
        """Tell whether the process has ended, even if a copy of it holds its line."""
        return _has_exited(self._process) and not self.connection.poll()

    def timed_out(self, limits: Limits) -> bool:
        """Tell whether the job has used up its limit, see :attr:`Job.limit`."""
        assert self.job is not None
        now, number = time.monotonic(), read_heartbeat(self._memory).number
        if number != self._number:
            self._number, self._since = number, now
        since = self._began if self.job.limit == "train" else self._since
        limit: float = getattr(limits, self.job.limit)
        return self.ready and now - since > limit

    def end(self, patience: float = 0.0) -> _Ended:
        """End the process and all that it started.

        Args:
            patience: seconds to wait for it to end by itself.
        """
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        by_itself = self._process.returncode is not None
        if KNOWN:
            self._process.send_signal(signal.SIGSTOP)  # it starts no more, and adopts what its children leave
            end_descendants(self._process.pid, self._mark)
            self._process.kill()
        else:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self.connection.close()
        code, heartbeat = self._process.wait(), read_heartbeat(self._memory)
        how = heartbeat.ended or f"the process {_how_ended(code)}"
        if patience and not by_itself and not heartbeat.ended:
            how = "the process closed its line to tokbench"
        return _Ended(heartbeat, how, code, self._watch.too_large, self._watch.last_words(_MAX_TAIL_CHARS))


class ProcessPool(WorkerPool):
    """Some worker processes, which are started when they are needed and replaced when they die.

    Args:
        size: how many.
        limits: limits of their jobs in time, and of each process in memory.
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
        super().__init__(progress, size)
        self._limits = limits
        self._new_worker = partial(_Worker, limits.memory, {}, environment or {}, capture_output=capture_output)
        self._workers: list[_Worker] = []
        self._again: deque[Job] = deque()
        self._idle_deaths = 0
        self._asking = 0

    @property
    def in_memory(self) -> InMemory | None:
        """See :attr:`WorkerPool.in_memory`."""
        if self.size == 1:
            return None
        others = [worker.loaded for number, worker in enumerate(self._workers) if number != self._asking]
        here = self._workers[self._asking].loaded if self._asking < len(self._workers) else set()
        return InMemory(here, set[str]().union(*others), self.size)

    def start(self) -> None:
        """See :meth:`WorkerPool.start`."""
        while len(self._workers) < self.size:
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
            for number in range(self.size):
                if number < len(self._workers) and self._workers[number].job is not None:
                    continue
                self._asking = number
                job = self._again.popleft() if self._again else next_job()
                if job is None:
                    continue
                if number >= len(self._workers):
                    self._workers.append(self._new_worker())
                self._workers[min(number, len(self._workers) - 1)].begin(job, self.kept, feeds(job))
            busy = {worker.connection: worker for worker in self._workers if worker.job is not None}
            if not busy:
                return
            meanwhile()
            for connection in wait(list(busy), timeout=self._seconds_between_checks):
                yield from self._receive(busy[connection])  # type: ignore[index]
            for worker in [worker for worker in busy.values() if worker.job is not None and worker in self._workers]:
                timed_out = worker.timed_out(self._limits)
                if timed_out or worker.has_ended():
                    yield from self._end_worker(worker, timed_out=timed_out)

    @property
    def _seconds_between_checks(self) -> float:
        return min(self._limits.step, self._limits.train, 4.0) / _CHECKS_PER_LIMIT

    def _receive(self, worker: _Worker) -> Iterator[tuple[Job, Any | WorkerDied]]:
        """Take the next message of a worker; yield the job and its answer if it is one."""
        assert worker.job is not None
        try:
            message = worker.receive()
        except (EOFError, OSError):
            yield from self._end_worker(worker)
            return
        if isinstance(message, Failure):
            yield from self._end_worker(worker, unreadable=message)
            return
        kind, content = message
        if kind == "answer":
            number, answer = content
            if worker.expects(number):
                worker.answers += 1
                yield worker.job, answer
        elif kind == "more":
            worker.send_batch(content)
        elif kind == "done":
            if worker.done(content):
                self._idle_deaths = 0
        elif kind == "progress":
            self.progress(*content)
        elif kind == "log":
            name, level, text = content
            logging.getLogger(name).log(level, text)

    def _end_worker(
        self, worker: _Worker, *, timed_out: bool = False, unreadable: Failure | None = None
    ) -> Iterator[tuple[Job, WorkerDied]]:
        """End a worker that has died or must be ended; yield its job and how it ended, if it was at work.

        Args:
            worker: the worker.
            timed_out: it is ended because it has used up its time.
            unreadable: it is ended because it sent this instead of a message.

        Raises:
            BackendError: workers die before they begin to work.
        """
        job = worker.job
        assert job is not None
        self._workers.remove(worker)
        ended = worker.end(0.0 if timed_out or unreadable else _EXIT_GRACE_S)
        heartbeat = ended.heartbeat
        self._idle_deaths = 0 if heartbeat.verb else self._idle_deaths + 1
        if self._idle_deaths > _MOST_IDLE_DEATHS:
            if not worker.ready:
                seen = ended.last_words or "see what it wrote above"
                raise BackendError(f"worker processes do not start: the last one {_how_ended(ended.code)}; {seen}")
        elif not heartbeat.verb and not worker.answers:
            self._again.append(job)
            return
        if not heartbeat.verb:  # the job itself could not be begun
            heartbeat = Heartbeat(next(iter(job.tokenizers), ""), "beginning")
        yield job, self._death(job, ended._replace(heartbeat=heartbeat), timed_out=timed_out, unreadable=unreadable)

    def _death(self, job: Job, ended: _Ended, *, timed_out: bool, unreadable: Failure | None) -> WorkerDied:
        """Return how a worker ended in the middle of a job, in the words of its cells."""
        heartbeat = ended.heartbeat
        doing = " ".join(part for part in (heartbeat.verb, heartbeat.place) if part)
        if ended.too_large:
            limit = self._limits.memory or 0
            how = f"the process used more memory than {memory_text(limit)}"
            advice = f"if it needs more, allow more: limits: {{memory: {memory_text(2 * limit)}}}"
            return WorkerDied(Failure(f"{how} while {doing}; {advice}"), heartbeat, crashed=False, ended=how)
        if timed_out:
            seconds: float = getattr(self._limits, job.limit)
            how = f"no answer within {seconds:g} s"
            advice = f"if it is only slow, allow more: limits: {{{job.limit}: {10 * seconds:g}}}"
            failure = Failure(f"{how} while {doing}; {advice}", timed_out=True)
            return WorkerDied(failure, heartbeat, crashed=False, ended=how)
        if unreadable:
            return WorkerDied(unreadable, heartbeat, crashed=False, ended=unreadable.reason)
        failure = Failure(f"{ended.how} while {doing}")
        return WorkerDied(failure, heartbeat, ended.code != -signal.SIGKILL, ended.how, ended.last_words)


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
