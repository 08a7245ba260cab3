"""numba, if installed: functions are compiled once per machine, which is announced.

Modules with functions that are :func:`compiled` are imported late. Each has an equal in Python.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar, cast

_log = logging.getLogger("tokbench")
_Function = TypeVar("_Function", bound=Callable[..., Any])


@cache
def has_numba() -> bool:
    """Tell whether numba works; the first call imports it."""
    if find_spec("numba") is None:
        return False
    try:
        import_module("numba")
    except ImportError as error:  # such as a NumPy that is too new for it
        _log.warning("numba is installed but cannot be imported; encoding is slow: %s", error)
        return False
    return True


class _SoFar:
    compilations = 0
    """Functions compiled here and not read from the cache."""


def compilations() -> int:
    """Count compilations without cache hits."""
    return _SoFar.compilations


def compiled(function: _Function) -> _Function:
    """Compile with numba, without Python's lock.

    Machine code is cached in ``__pycache__``, else in the user's cache folder, or in ``NUMBA_CACHE_DIR``, until a
    source in the module's folder changes: call no compiled function of another folder.
    """
    return _compiled(function)


def is_cached(function: Callable[..., Any]) -> bool:
    """Tell whether the machine code of a :func:`compiled` function is in its cache."""
    try:
        return bool(function._cache._cache_file._load_index())  # type: ignore[attr-defined]  # noqa: SLF001
    except AttributeError:  # no folder to write to, or numba has other names
        return False


def inlined(function: _Function) -> _Function:
    """Compile a small function as part of its callers."""
    return _compiled(function, forceinline=True)


def _compiled(function: _Function, **options: bool) -> _Function:
    numba: Any = import_module("numba")
    _announce_compilation().add(function.__module__)
    try:
        made = numba.njit(cache=True, nogil=True, **options)(function)
        made._cache._cache_file._source_stamp = _digest_of_folder(Path(function.__code__.co_filename).parent)  # noqa: SLF001
    except (RuntimeError, AttributeError):  # numba found no folder to write to, or has other names for its files
        made = numba.njit(nogil=True, **options)(function)
    return cast("_Function", made)


@cache
def _digest_of_folder(folder: Path) -> str:
    """Hash all sources: numba checks only the outer function's file."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()


@cache
def _announce_compilation() -> set[str]:
    """Log one line when a function of ours is compiled, not cached; return their modules, to extend."""
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
            _log.info("compiling for this machine, which takes some seconds; later runs reuse it")

    def on_end(_listener: Any, _event: Any) -> None:
        """Ignore."""

    listener = type("Announcer", (events.Listener,), {"on_start": on_start, "on_end": on_end})
    events.register("numba:compile", listener())
    return ours
