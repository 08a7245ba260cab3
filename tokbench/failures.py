"""Calls of foreign code: what it raises becomes a failure with a reason, and the run goes on.

What a process does not survive (a segmentation fault, an endless loop) is seen from outside, by
:mod:`tokbench.runner.workers.processes`. For that a process says what it is doing with :func:`doing`.
"""

from __future__ import annotations

import bdb
import mmap
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from tokbench.errors import one_line

T = TypeVar("T")

_LONGEST_TRACEBACK: Final = 20_000


class Failure(NamedTuple):
    """The reason why a step has no result.

    Attributes:
        reason: what happened, on one line.
        timed_out: whether the step took too long.
        traceback: where the code failed, as Python prints it, at most 20,000 characters; empty if a process died.
    """

    reason: str
    timed_out: bool = False
    traceback: str = ""


def attempt(step: Callable[[], T], what: str = "") -> T | Failure:
    """Return the result of a step, or the failure if it raises; ``what`` is put before the reason.

    Native libraries panic with exceptions that are not an ``Exception`` (``pyo3_runtime.PanicException``),
    so everything is caught except what a person or the interpreter uses to stop the program.

    Raises:
        KeyboardInterrupt: Ctrl-C, or ``quit`` in a debugger.

    >>> attempt(lambda: 1 / 0, "dividing").reason
    'dividing: ZeroDivisionError: division by zero'
    """
    try:
        return step()
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except bdb.BdbQuit as error:
        raise KeyboardInterrupt from error
    except BaseException as error:  # noqa: BLE001 - see above
        where = "".join(traceback.format_exception(error))[-_LONGEST_TRACEBACK:]
        return Failure(f"{what}: {one_line(error)}" if what else one_line(error), traceback=where)


def tracebacks(failures: Iterable[Failure]) -> dict[str, str]:
    """Return the tracebacks of failures that have one, by reason; the home folder is written ``~``.

    >>> list(tracebacks([attempt(lambda: 1 / 0), Failure("it took too long", timed_out=True)]))
    ['ZeroDivisionError: division by zero']
    """
    home = str(Path.home())
    return {each.reason: each.traceback.replace(home, "~") for each in failures if each.traceback}


class Heartbeat(NamedTuple):
    """The present activity of a process.

    Attributes:
        tokenizer: the tokenizer whose code runs, or an empty string.
        verb: such as ``encoding``.
        place: such as ``corpus c, group en``.
        number: how many heartbeats there were before. As long as it stays, the process is doing the same thing.
    """

    tokenizer: str = ""
    verb: str = ""
    place: str = ""
    number: int = 0


HEARTBEAT_BYTES: Final = 1 << 14
"""Size of the memory that keeps the heartbeat of a process."""

_HEAD: Final = 12  # eight bytes of count, four of length
_LONGEST: Final = 2000


class _Now:
    """The heartbeat of this process, and the memory that outlives the process, if there is one."""

    heartbeat = Heartbeat()
    memory: mmap.mmap | None = None


def keep_heartbeat(memory: mmap.mmap) -> None:
    """Keep the heartbeat of this process in a memory that another process reads, from now on."""
    _Now.memory = memory


@contextmanager
def doing(verb: str, *, tokenizer: str | None = None, place: str | None = None) -> Iterator[None]:
    """Say what is done while the block lasts; what is not given stays as it was."""
    before = _Now.heartbeat
    set_heartbeat(verb, tokenizer=tokenizer, place=place)
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        raise  # the process ends here, and the heartbeat says where
    except BaseException:
        _set(*before[:3])
        raise
    _set(*before[:3])


def set_heartbeat(verb: str, *, tokenizer: str | None = None, place: str | None = None) -> None:
    """Say what is done from now on; what is not given stays as it was."""
    before = _Now.heartbeat
    _set(before.tokenizer if tokenizer is None else tokenizer, verb, before.place if place is None else place)


def _set(*parts: str) -> None:
    tokenizer, verb, place = (part[:_LONGEST] for part in parts)
    _Now.heartbeat = Heartbeat(tokenizer, verb, place, _Now.heartbeat.number + 1)
    if _Now.memory is not None:
        text = "\0".join(_Now.heartbeat[:3]).encode("utf-8", "replace")[: HEARTBEAT_BYTES - _HEAD]
        head = _Now.heartbeat.number.to_bytes(8, "little") + len(text).to_bytes(4, "little")
        _Now.memory[: _HEAD + len(text)] = head + text


def read_heartbeat(memory: mmap.mmap) -> Heartbeat:
    """Return the last heartbeat of the process that keeps it in this memory."""
    length = int.from_bytes(memory[8:_HEAD], "little")
    parts = memory[_HEAD : _HEAD + length].decode("utf-8", "replace").split("\0")
    tokenizer, verb, place = (*parts, "", "", "")[:3]
    return Heartbeat(tokenizer, verb, place, int.from_bytes(memory[:8], "little"))
