"""One worker process, as the process of the run sees it: its start, its line, its limits and its end."""

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
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import IO, Any, Final, NamedTuple

from tokbench.config.model import Limits
from tokbench.engine.workers.pool import Feeds, text_batches
from tokbench.engine.workers.worker import LONGEST, MALFORMED, LoadRecipe, from_worker, packed
from tokbench.foundation.failures import HEARTBEAT_BYTES, Failure, Heartbeat, read_heartbeat
from tokbench.foundation.memory import MemoryOf
from tokbench.measuring.job import Job

# Not multiprocessing's own spawn, which runs the caller's main module again. What is imported stays: the collector need
# not look at it while it comes. The worker's main function turns the collector on.
_START: Final = (
    "import gc, json, sys; gc.disable(); sys.path[:], hosts = json.loads(sys.argv.pop()); "
    "from tokbench.engine.workers.worker import main; main(*map(int, sys.argv[1:]), hosts)"
)
_EXIT_CHECK_S: Final = 0.005
START_S: Final = 120.0

_MEMORY_CHECK_S: Final = 0.1

_MAX_TAIL_CHARS: Final = 300
_TAIL_BYTES: Final = 4096


def _start_process(
    line: int, heartbeat: int, output: IO[bytes] | None, environment: Mapping[str, str], hosts: Sequence[str]
) -> subprocess.Popen[bytes]:
    """Start a process in a session and group of its own, so that Ctrl-C reaches the parent alone."""
    level = logging.getLogger("tokbench").getEffectiveLevel()
    numbers = map(str, [line, heartbeat, os.getpid(), level])
    return subprocess.Popen(  # noqa: S603 - this interpreter, with numbers and paths
        [sys.executable, "-c", _START, *numbers, json.dumps([[str(folder) for folder in sys.path], [*hosts]])],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        pass_fds=[line, heartbeat],
        env={**os.environ, **environment},
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


class Ended(NamedTuple):
    """The end of a worker."""

    heartbeat: Heartbeat
    how: str
    code: int
    too_large: bool
    last_words: str


class WorkerProcess:
    """One process, and the job that it has.

    Args:
        memory: bytes that it may use, if they are limited.
        environment: variables for it.
        capture_output: keep the end of what the process prints, instead of printing it.
        hosts: the distributions beyond tokbench's own whose plugins may run there.
    """

    def __init__(
        self, memory: int | None, environment: Mapping[str, str], hosts: Sequence[str] = (), *, capture_output: bool
    ) -> None:
        ours, theirs = socket.socketpair()
        self._output = tempfile.TemporaryFile() if capture_output else None  # noqa: SIM115 - as long as the process
        with tempfile.TemporaryFile() as file, theirs:
            file.write(bytes(HEARTBEAT_BYTES))  # a disk without room for it is an error here, and not a signal later
            file.flush()
            self._memory = mmap.mmap(file.fileno(), HEARTBEAT_BYTES)
            self._process = _start_process(theirs.fileno(), file.fileno(), self._output, environment, hosts)
        self.line = Connection(ours.detach())
        self._too_large = False
        if memory:
            watch = threading.Thread(target=self._limit_memory, args=[memory], name="memory of a worker", daemon=True)
            watch.start()
        self.job: Job | None = None
        self.ready = False
        """Whether it has started, and waits for jobs."""
        self.answers = 0
        self.loaded: dict[str, None] = {}
        """The tokenizers of its jobs so far, in their order."""
        self.retrying = False
        self._known: set[str] = set()
        self._feeds: dict[str, Iterator[list[str]]] = {}
        self._began = self._since = 0.0
        self._number = 0

    def begin(self, job: Job, recipes: Mapping[str, LoadRecipe], feeds: Feeds, *, retrying: bool) -> None:
        self.job, self.answers, self.retrying = job, 0, retrying
        self.loaded |= dict.fromkeys(job.loads)
        self._feeds = {name: text_batches(texts) for name, texts in feeds.items()}
        self._began = self._since = time.monotonic()
        new = {name: recipes[name] for name in job.loads if name in recipes and name not in self._known}
        self._known.update(new)
        self._send((job, new))

    def _limit_memory(self, most: int) -> None:
        memory = MemoryOf(self._process.pid)
        while not _has_exited(self._process):
            if memory.resident() > most:
                self._too_large = True
                self._process.kill()
            time.sleep(_MEMORY_CHECK_S)

    def _send(self, message: Any) -> None:
        with suppress(OSError):  # it has died, which shows when its answer is awaited
            self.line.send_bytes(packed(message))

    def receive(self) -> tuple[str, Any] | Failure | None:
        """Return the next message, the failure if it cannot be read, or ``None`` if there is nothing to do.

        Texts that it asks for are sent at once. EOFError and OSError say that the process has ended.
        """
        try:
            message = from_worker(self.line.recv_bytes(LONGEST))
        except OSError as error:
            if error.errno is None:  # a length that no message has
                return MALFORMED
            raise
        if isinstance(message, Failure):
            return message
        self._since = time.monotonic()
        if message[0] == "ready":  # the time that it takes to start is not the job's
            self.ready, self._began = True, self._since
        if message[0] == "more":
            return self._send_batch(str(message[1]))
        if message[0] == "call":
            assert self.job is not None
            self._send(self.job.called(message[1]))
            self._since = time.monotonic()
            return None
        return message

    def _send_batch(self, feed: str) -> Failure | None:
        """Send the next texts of a feed, or an empty list after the last."""
        if feed not in self._feeds:
            return Failure(f"the process was ended, because its job has no texts called {feed!r}")
        self._send(next(self._feeds[feed], []))
        return None

    def has_ended(self) -> bool:
        """Tell whether the process has ended, even if a copy of it holds its line."""
        return _has_exited(self._process) and not self.line.poll()

    def timed_out(self, limits: Limits) -> bool:
        """Tell whether the job has used up its limit, see :attr:`Job.limit`, or the process does not start."""
        assert self.job is not None
        if not self.ready:
            return time.monotonic() - self._began > START_S
        now, number = time.monotonic(), read_heartbeat(self._memory).number
        if number != self._number:
            self._number, self._since = number, now
        since = self._began if self.job.limit == "train" else self._since
        limit: float = getattr(limits, self.job.limit)
        return now - since > limit

    def end(self, patience: float = 0.0) -> Ended:
        """End the process and its group, but for what began another session, after ``patience`` seconds."""
        until = time.monotonic() + patience
        while not (by_itself := _has_exited(self._process)) and time.monotonic() < until:
            time.sleep(_EXIT_CHECK_S)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self.line.close()
        code, heartbeat = self._process.wait(), read_heartbeat(self._memory)
        how = heartbeat.ended or f"the process {how_ended(code)}"
        if patience and not by_itself and not heartbeat.ended:
            how = "the process closed its pipe to tokbench"
        return Ended(heartbeat, how, code, self._too_large, self._last_words())

    def _last_words(self) -> str:
        """Return the end of what it printed, if its output is captured."""
        if self._output is None:
            return ""
        with self._output as file:
            file.seek(-min(_TAIL_BYTES, file.seek(0, os.SEEK_END)), os.SEEK_END)
            return " ".join(file.read().decode(errors="replace").split())[-_MAX_TAIL_CHARS:]


def how_ended(code: int) -> str:
    """Say how a process ended, from its exit code.

    >>> how_ended(-11), how_ended(-9), how_ended(3)
    ('died with SIGSEGV', 'was killed (SIGKILL), perhaps for lack of memory,', 'ended with exit code 3')
    """
    if code >= 0:
        return f"ended with exit code {code}"
    if code == -signal.SIGKILL:
        return "was killed (SIGKILL), perhaps for lack of memory,"
    try:
        return f"died with {signal.Signals(-code).name}"
    except ValueError:
        return f"died with signal {-code}"
