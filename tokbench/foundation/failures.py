"""Calls of plugins: an exception becomes a failure with a reason, and the run goes on.

A crash or an endless loop is seen from outside, with the activity of :func:`doing`.
"""

from __future__ import annotations

import bdb
import mmap
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from tokbench.foundation.errors import NoIds, NotWritten, TokbenchError, WorkersLost, one_line, shortened

T = TypeVar("T")

_LONGEST_TRACEBACK: Final = 20_000

LOADING: Final = "loading"
"""The activity of loading a tokenizer."""


class Failure(NamedTuple):
    """The reason why a step has no result."""

    reason: str
    """One line, with at most 2,000 characters of the exception's message."""
    timed_out: bool = False
    traceback: str = ""
    """At most 20,000 characters; empty if a process died."""
    foreign: bool = False
    """Whether the exception is not one of tokbench, so that its words do not say what was done."""
    no_ids: bool = False
    """Whether the tokenizer only counts tokens: the step does not apply."""
    loading: bool = False
    """Whether it was raised while a tokenizer was loaded."""

    @property
    def refused(self) -> bool:
        """Whether the input is bad: a tokenizer cannot be loaded, or tokbench or a backend refuses what was asked."""
        return self.loading or (bool(self.traceback) and not self.foreign)

    def during(self, activity: str) -> Failure:
        """Prefix the activity, unless the words of tokbench or a backend say it.

        >>> attempt(lambda: 1 / 0).during("loading").reason
        'loading: ZeroDivisionError: division by zero'
        """
        return self._replace(reason=f"{activity}: {self.reason}") if self.foreign else self


def attempt(step: Callable[[], T], what: str = "") -> T | Failure:
    """Return the result of a step, or the failure if it raises, also by a native panic.

    The reason begins with ``what``, and names the function that raised, as set by :func:`name_in_reasons`.

    Raises:
        KeyboardInterrupt: Ctrl-C, or ``quit`` in a debugger.
        WorkersLost: the step needs workers, and all are unreachable.

    >>> attempt(lambda: 1 / 0, "dividing").reason
    'dividing: ZeroDivisionError: division by zero'
    """
    try:
        return step()
    except (KeyboardInterrupt, SystemExit, WorkersLost):
        raise
    except bdb.BdbQuit as error:
        raise KeyboardInterrupt from error
    except PluginError as error:
        return error.failure._replace(reason=": ".join(part for part in (what, error.failure.reason) if part))
    except BaseException as error:  # noqa: BLE001 - see above
        return failure_of(error, what)


def failure_of(error: BaseException, what: str = "") -> Failure:
    """Return the failure of a step that raised, as :func:`attempt` does."""
    loading = _activity_of(error).verb == LOADING
    _Now.raised = None  # or the frames that it came through would stay in memory
    parts = ("" if isinstance(error, NotWritten) else what, _named(error), one_line(error))  # it names its file
    reason = ": ".join(part for part in parts if part)
    if isinstance(error, NoIds):
        return Failure(str(error), no_ids=True)
    foreign = not isinstance(error, TokbenchError)
    return Failure(reason, traceback=_traceback(error), foreign=foreign, loading=loading)


class PluginError(TokbenchError):
    """A plugin failed in its own process; ``failure`` has the reason."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


_NAMED: Final = set[str]()


def name_in_reasons(names: Iterable[str]) -> None:
    """Let reasons name these functions."""
    _NAMED.update(names)


def _named(error: BaseException) -> str:
    for frame, _ in traceback.walk_tb((error.__cause__ or error).__traceback__):
        package = str(frame.f_globals.get("__name__")).partition(".")[0]
        if package != "tokbench" and frame.f_code.co_name in _NAMED:
            return frame.f_code.co_name
    return ""


def _traceback(error: BaseException) -> str:
    try:
        return shortened("".join(traceback.format_exception(error)), _LONGEST_TRACEBACK)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - its class decides what its attributes do
        return ""


def tracebacks(failures: Iterable[Failure]) -> dict[str, str]:
    """Return tracebacks by reason; the home folder is ``~``.

    >>> list(tracebacks([attempt(lambda: 1 / 0), Failure("it took too long", timed_out=True)]))
    ['ZeroDivisionError: division by zero']
    """
    home = str(Path.home())
    return {failure.reason: failure.traceback.replace(home, "~") for failure in failures if failure.traceback}


class Heartbeat(NamedTuple):
    """What a process is doing."""

    tokenizer: str = ""
    verb: str = ""
    """Such as ``encoding``."""
    place: str = ""
    """Such as ``corpus c, group en``."""
    number: int = 0
    ended: str = ""
    """Why the process ended itself."""


HEARTBEAT_BYTES: Final = 1 << 14

_HEAD: Final = 12  # eight bytes of count, four of length
_LONGEST: Final = 2000


class _Now:
    heartbeat = Heartbeat()
    memory: mmap.mmap | None = None
    """Outlives the process."""
    raised: BaseException | None = None
    raised_in = Heartbeat()
    """The innermost activity that it left."""


def keep_heartbeat(memory: mmap.mmap) -> None:
    """Keep the heartbeat in memory that another process reads."""
    _Now.memory = memory


@contextmanager
def doing(verb: str, *, tokenizer: str | None = None, place: str | None = None) -> Iterator[None]:
    """Set the activity while the block lasts; ``None`` keeps a value."""
    before = _Now.heartbeat
    set_heartbeat(verb, tokenizer=tokenizer, place=place)
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        raise  # the process ends here, and the heartbeat says where
    except BaseException as error:
        if _Now.raised is not error:
            _Now.raised, _Now.raised_in = error, _Now.heartbeat
        _set(*before[:3])
        raise
    _set(*before[:3])


def set_heartbeat(verb: str, *, tokenizer: str | None = None, place: str | None = None) -> None:
    """Set the activity from now on; ``None`` keeps a value."""
    before = _Now.heartbeat
    _set(before.tokenizer if tokenizer is None else tokenizer, verb, before.place if place is None else place)


def set_ended(how: str, error: BaseException | None = None) -> None:
    """Say how this process ends itself; the activity becomes the exception's."""
    _set(*_activity_of(error)[:3], how)


def _activity_of(error: BaseException | None) -> Heartbeat:
    """Return the innermost activity that an exception left; without one that of now."""
    return _Now.raised_in if error is not None and error is _Now.raised else _Now.heartbeat


def _set(*parts: str) -> None:
    tokenizer, verb, place, ended = (*(part[:_LONGEST] for part in parts), "")[:4]
    _Now.heartbeat = Heartbeat(tokenizer, verb, place, _Now.heartbeat.number + 1, ended)
    if _Now.memory is not None:
        text = f"{tokenizer}\0{verb}\0{place}\0{ended}".encode("utf-8", "replace")[: HEARTBEAT_BYTES - _HEAD]
        head = _Now.heartbeat.number.to_bytes(8, "little") + len(text).to_bytes(4, "little")
        _Now.memory[: _HEAD + len(text)] = head + text


def read_heartbeat(memory: mmap.mmap) -> Heartbeat:
    """Return the last heartbeat in this memory."""
    length = int.from_bytes(memory[8:_HEAD], "little")
    parts = memory[_HEAD : _HEAD + length].decode("utf-8", "replace").split("\0")
    tokenizer, verb, place, ended = (*parts, "", "", "", "")[:4]
    return Heartbeat(tokenizer, verb, place, int.from_bytes(memory[:8], "little"), ended)
