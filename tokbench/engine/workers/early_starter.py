"""Fork the starter of workers from a command that has just begun, so that modules are imported once for both.

A command imports what every worker needs, then forks the starter, and then goes on with what it alone needs. This is
done only where the copy is like a process that has begun from nothing: in a process that a command line has begun, that
has one thread, and that nobody watches. Elsewhere nothing is done here, and the starter begins when it is needed.
"""

from __future__ import annotations

import ctypes
import gc
import logging
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Final

from tokbench.engine.workers.descendants import MARK
from tokbench.engine.workers.starter import (
    NO_MARK,
    POSSIBLE,
    Starter,
    Surroundings,
    begin_of_environment,
    end_threads,
    keep,
    serve,
)
from tokbench.foundation.failures import Failure, attempt
from tokbench.registry.plugins import import_own_plugins

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if POSSIBLE else ()


def fork_starter() -> bool:
    """Fork the starter of workers from this process; return ``False`` where that is not safe.

    Call it before anything else starts a thread, opens a file or changes the environment.
    """
    if not POSSIBLE or not _is_new_command():
        return False
    import_own_plugins()
    surroundings = attempt(lambda: Surroundings.of_this_process({}))
    if isinstance(surroundings, Failure) or isinstance(attempt(end_threads), Failure):
        return False
    if len(Path("/proc/self/environ").read_bytes()) <= len(_shown_mark()):
        return False  # there is no room for the mark of a worker
    keep(Starter(surroundings, _fork))
    return True


def _is_new_command() -> bool:
    """Return ``True`` if this process runs a module or a script, without options of Python, and is not watched.

    A process that is watched by a debugger or by a measurement of coverage would be watched in its copies, too.
    """
    plain = len(sys.orig_argv) > 1 and (sys.orig_argv[1] == "-m" or not sys.orig_argv[1].startswith("-"))
    watched = sys.gettrace() or sys.getprofile()
    return plain and not watched and None not in (sys.stdin, sys.stdout, sys.stderr)


class _ForkedStarter:
    """A starter that was forked from this process."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._code: int | None = None

    def wait(self) -> int:
        """Return its exit code, waiting for its end."""
        if self._code is None:
            self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self._code


def _fork(surroundings: Surroundings, line: int, _path: Sequence[str]) -> _ForkedStarter:
    """Fork this process; the copy serves as the starter, and never returns."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()  # or both processes would write it
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    pid = os.fork()
    if pid:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return _ForkedStarter(pid)
    try:
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        _forget_command(line)
        serve(line, surroundings.parent)
    finally:
        os._exit(1)


def _forget_command(line: int) -> None:
    """Leave nothing of the command in its copy but the modules that it has imported."""
    gc.disable()  # as in a starter that begins from nothing; the worker's main function turns it on
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nowhere, number)
    for number in [int(each.name) for each in Path("/proc/self/fd").iterdir()]:
        if number > 2 and number != line:  # noqa: PLR2004 - the three above
            with suppress(OSError):  # the list itself was one of them
                os.close(number)
    logging.getLogger("tokbench").handlers.clear()
    sys.modules["__main__"] = ModuleType("__main__")
    os.environ[MARK] = NO_MARK
    _make_room_for_mark()


def _shown_mark() -> bytes:
    return f"{MARK}={NO_MARK}\0".encode()


def _make_room_for_mark() -> None:
    """Put a mark where ``/proc/PID/environ`` shows it, in front of the variables with which the command began.

    The C library may still use the variables that lie there, so that each is set anew first, which gives it other
    memory. What does not fit behind the mark is no longer shown.
    """
    for name, value in os.environ.items():
        os.putenv(name, value)
    shown = Path("/proc/self/environ").read_bytes()
    mark = _shown_mark()
    content = (mark + shown)[: len(shown) - 1] + b"\0"
    ctypes.memmove(begin_of_environment(), content, len(content))
