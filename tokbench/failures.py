"""Foreign code is called here: what it raises becomes a failure with a reason, and the run goes on.

What it does not survive (a segmentation fault, a loop without end) is seen from outside, by
:mod:`tokbench.runner.workers.pool`; for that a process says with :func:`doing` what it does.
"""

from __future__ import annotations

import mmap
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from tokbench.errors import one_line

__all__ = [
    "HEARTBEAT_BYTES",
    "Failure",
    "Heartbeat",
    "attempt",
    "doing",
    "keep_heartbeat",
    "read_heartbeat",
    "tracebacks",
]

T = TypeVar("T")


class Failure(NamedTuple):
    """The reason why a step has no result.

    Attributes:
        reason: the reason, in one line.
        timed_out: whether the step took too long.
        traceback: the traceback of the exception, at most 20,000 characters; empty if there was none.
    """

    reason: str
    timed_out: bool = False
    traceback: str = ""


def attempt(step: Callable[[], T], what: str = "") -> T | Failure:
    """Return the result of a step, or the failure if it raises; ``what`` is put before the reason.

    Native libraries panic with exceptions that are no ``Exception`` (``pyo3_runtime.PanicException``),
    so everything is caught but what a person or the interpreter uses to stop the program.

    >>> attempt(lambda: 1 / 0, "dividing").reason
    'dividing: ZeroDivisionError: division by zero'
    """
    try:
        return step()
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001 - see above
        reason = f"{what}: {one_line(error)}" if what else one_line(error)
        return Failure(reason, traceback=traceback.format_exc()[-_LONGEST_TRACEBACK:])


def tracebacks(failures: Iterable[Failure]) -> dict[str, str]:
    """Return the tracebacks of failures that have one, by reason; the home folder is written ``~``.

    >>> list(tracebacks([attempt(lambda: 1 / 0), Failure("it took too long", timed_out=True)]))
    ['ZeroDivisionError: division by zero']
    """
    home = str(Path.home())
    return {each.reason: each.traceback.replace(home, "~") for each in failures if each.traceback}


class Heartbeat(NamedTuple):
    """What a process is doing.

    Attributes:
        tokenizer: whose code runs; ``""`` if nobody's.
        verb: such as ``encoding``.
        place: such as ``corpus c, group en``.
        number: how many notes there were before; as long as it stays, the same thing is being done.
    """

    tokenizer: str = ""
    verb: str = ""
    place: str = ""
    number: int = 0


HEARTBEAT_BYTES: Final = 4096
"""Size of the memory that keeps the heartbeat of a process."""

_HEAD: Final = 12  # eight bytes of count, four of length
_LONGEST: Final = 1000
_LONGEST_TRACEBACK: Final = 20_000


class _Now:
    """The heartbeat of this process, and the memory that outlives the process, if there is one."""

    heartbeat = Heartbeat()
    memory: mmap.mmap | None = None


def keep_heartbeat(memory: mmap.mmap) -> None:
    """From now on, keep the heartbeat of this process in a memory that another process reads."""
    _Now.memory = memory


@contextmanager
def doing(verb: str, *, tokenizer: str | None = None, place: str | None = None) -> Iterator[None]:
    """Say what is done while the block lasts; what is not given stays as it was."""
    before = _Now.heartbeat
    _say(
        before.tokenizer if tokenizer is None else tokenizer[:_LONGEST],
        verb[:_LONGEST],
        before.place if place is None else place[:_LONGEST],
    )
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        raise  # the process ends here, and the heartbeat says where
    except BaseException:
        _say(*before[:3])
        raise
    _say(*before[:3])


def _say(tokenizer: str, verb: str, place: str) -> None:
    _Now.heartbeat = Heartbeat(tokenizer, verb, place, _Now.heartbeat.number + 1)
    if _Now.memory is not None:
        text = "\0".join(_Now.heartbeat[:3]).encode("utf-8", "replace")[: HEARTBEAT_BYTES - _HEAD]
        head = _Now.heartbeat.number.to_bytes(8, "little") + len(text).to_bytes(4, "little")
        _Now.memory[: _HEAD + len(text)] = head + text


def read_heartbeat(memory: mmap.mmap) -> Heartbeat:
    """The last heartbeat of the process that keeps its notes there."""
    length = int.from_bytes(memory[8:_HEAD], "little")
    parts = memory[_HEAD : _HEAD + length].decode("utf-8", "replace").split("\0")
    tokenizer, verb, place = (*parts, "", "", "")[:3]
    return Heartbeat(tokenizer, verb, place, int.from_bytes(memory[:8], "little"))
