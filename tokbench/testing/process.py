"""A process that has the tokenizer in it: what kills or stops it is survived here, and becomes a reason."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import weakref
from multiprocessing.connection import Connection
from typing import IO, Any, Final, Self

from tokbench.errors import BackendError, BackendUnavailable
from tokbench.testing.job import Job
from tokbench.testing.shown import Note, read_note

__all__ = ["Died", "Process"]

# Not multiprocessing's own spawn, which runs the caller's main module again.
_START: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from tokbench.testing.worker import main; main()"
)
_LAST_WORDS: Final = 300


class Died(Exception):  # noqa: N818 - what happened, not what is wrong here
    """The process is no more.

    Attributes:
        reason: why.
        note: what the tokenizer was doing.
    """

    def __init__(self, reason: str, note: Note) -> None:
        super().__init__(reason)
        self.reason = reason
        self.note = note


class Process:
    """A fresh process with a tokenizer; use it as a context, or close it.

    Args:
        job: how to come by the tokenizer.
        limit: seconds that loading or training may take, and every request after it.
        hash_seed: Python's ``PYTHONHASHSEED`` there; processes with different ones order sets differently.
        avoid: calls that killed an earlier process.

    Raises:
        BackendUnavailable: the tokenizer is not to be had here.
        BackendError: it does not load, or loading kills the process or takes too long.
    """

    def __init__(self, job: Job, limit: float, *, hash_seed: int = 0, avoid: frozenset[str] = frozenset()) -> None:
        self._limit = limit
        self._note: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
        self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._connection, theirs = multiprocessing.Pipe()
        fds = (theirs.fileno(), self._note.fileno())
        self._process = subprocess.Popen(  # noqa: S603 - this Python, our own code
            [sys.executable, "-c", _START, json.dumps(sys.path), *map(str, fds)],
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=self._output,
            pass_fds=fds,
            env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
            start_new_session=True,
        )
        theirs.close()
        self.close = weakref.finalize(self, _end, self._process, self._connection, self._note, self._output)
        try:
            state, reason = self.ask(pickle.dumps(job), avoid, limit)
        except Died as died:
            raise BackendError(f"backend {job.name!r} does not load: {died.reason}") from died
        except BaseException:
            self.close()
            raise
        if state != "ready":
            self.close()
            raise (BackendUnavailable if state == "unavailable" else BackendError)(reason)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, *request: Any) -> Any:
        """The answer to a request.

        Raises:
            Died: there is none, since the process has ended or was ended after the time limit.
        """
        try:
            self._connection.send(request)
            if self._connection.poll(self._limit):
                return self._connection.recv()
            reason = f"no answer within {self._limit:g} s"
        except (EOFError, OSError):
            reason = f"the process {self._end_of_process()}"
        note = read_note(self._note.fileno())
        self.close()
        raise Died(reason, note)

    def _end_of_process(self) -> str:
        try:
            code = self._process.wait(self._limit)
        except subprocess.TimeoutExpired:
            return "closed its connection"
        self._output.seek(0)
        words = " ".join(self._output.read().decode(errors="replace").split())[-_LAST_WORDS:]
        try:
            how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended itself with code {code}"
        except ValueError:
            how = f"was killed by signal {-code}"
        return f"{how}: {words}" if words else how


def _end(process: subprocess.Popen[bytes], connection: Connection, *files: IO[bytes]) -> None:
    connection.close()
    with contextlib.suppress(ProcessLookupError):  # with all that it has started
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for file in files:
        file.close()
