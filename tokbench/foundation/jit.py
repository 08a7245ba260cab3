"""numba where it is installed: functions are compiled once per machine, which is announced; nobody needs it.

A module that holds compiled functions imports :func:`compiled` from here, and is itself imported late, when there is
enough to do: numba alone takes a third of a second to import. Every compiled function has an equal in Python.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeVar, cast

_log = logging.getLogger("tokbench")
_Function = TypeVar("_Function", bound=Callable[..., Any])

_WORTH_COMPILED: Final = 60_000_000
"""Bytes of text in all; with fewer, numba takes longer to get ready than it saves."""


@cache
def has_numba() -> bool:
    """Return True if numba is installed and works; the first call imports it."""
    if find_spec("numba") is None:
        return False
    try:
        import_module("numba")
    except ImportError as error:  # such as a NumPy that is too new for it
        _log.warning("numba is installed but cannot be imported, and speed is lost: %s", error)
        return False
    return True


class _SoFar:
    """The state of this process."""

    n_bytes = 0
    """The bytes of text that it has been asked about."""
    compiles = False
    """``True`` once something was worth it."""
    compilations = 0
    """The functions whose machine code was made in this process, for others to read."""


def worth_compiling(n_bytes: int) -> bool:
    """Return True if a compiled function should take the next bytes of text, rather than its equal in Python.

    So it is where something else was compiled already, and from 60 million bytes on.

    Args:
        n_bytes: how many bytes there are, on top of all earlier ones.
    """
    _SoFar.n_bytes += n_bytes
    return (_SoFar.compiles or _SoFar.n_bytes >= _WORTH_COMPILED) and has_numba()


def compilations() -> int:
    """Return how many functions this process has compiled that it would otherwise have read from the cache."""
    return _SoFar.compilations


def compiled(function: _Function) -> _Function:
    """Compile a function with numba; other threads run on while it is called.

    Machine code is kept in ``__pycache__`` beside the module, in the user's cache folder where that
    cannot be written, in ``NUMBA_CACHE_DIR`` where it is set; with none of them it is made anew in every process. It is
    made anew, too, when a source in the folder of the module has changed. So a compiled function may call others of its
    own folder, and none of another one.
    """
    return _compiled(function)


def inlined(function: _Function) -> _Function:
    """Compile a small function that compiled functions call: it becomes part of them.

    A call costs little by itself, but hands over every field of every array.
    """
    return _compiled(function, forceinline=True)


def _compiled(function: _Function, **options: bool) -> _Function:
    numba: Any = import_module("numba")
    _SoFar.compiles = True
    _announce_compilation().add(function.__module__)
    try:
        made = numba.njit(cache=True, nogil=True, **options)(function)
        made._cache._cache_file._source_stamp = _digest_of_folder(Path(function.__code__.co_filename).parent)  # noqa: SLF001
    except (RuntimeError, AttributeError):  # numba found no folder to write to, or has other names for its files
        made = numba.njit(nogil=True, **options)(function)
    return cast("_Function", made)


@cache
def _digest_of_folder(folder: Path) -> str:
    """Return a digest of the sources in a folder, which decides whether machine code that was kept is still right.

    A function becomes one with those that it calls, and numba asks only whether the file of the outer one has changed.
    Compiled functions call functions of their own folder, so all of its sources count, by content.
    """
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()


@cache
def _announce_compilation() -> set[str]:
    """Have one line logged when a function of ours is really compiled, not read from the cache.

    Returns:
        The modules whose functions are ours, to which others are added.
    """
    events: Any = import_module("numba.core.event")
    announced: list[bool] = []
    ours: set[str] = set()

    def on_start(_listener: Any, event: Any) -> None:
        dispatcher = event.data["dispatcher"]
        if dispatcher.py_func.__module__ not in ours:
            return
        _SoFar.compilations += getattr(dispatcher._cache, "cache_path", None) is not None  # noqa: SLF001
        if not announced:
            announced.append(True)
            _log.info("compiling for this machine; this is done once and takes some seconds")

    def on_end(_listener: Any, _event: Any) -> None:
        """Do nothing."""

    listener = type("Announcer", (events.Listener,), {"on_start": on_start, "on_end": on_end})
    events.register("numba:compile", listener())
    return ours
