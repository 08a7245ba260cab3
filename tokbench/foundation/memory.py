"""The memory of this process and its descendants: now, and at its peak."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

import psutil

_LOOK_S: Final = 0.1
_CHILDREN_S: Final = 1.0
"""How long a list of descendants is good: to find them takes milliseconds, for a system tells parents alone."""

_STATUS: Final = Path("/proc/self/status")
_CLEAR: Final = Path("/proc/self/clear_refs")


def resident_memory() -> int:
    """Return the resident memory of this process in bytes.

    >>> resident_memory() > 1_000_000
    True
    """
    return int(psutil.Process().memory_info().rss)


def begin_memory_peak() -> None:
    """Reset this process's peak, where the system can (Linux)."""
    with suppress(OSError):
        _CLEAR.write_text("5", encoding="ascii")


def memory_peak() -> int | None:
    """Return the most resident memory since :func:`begin_memory_peak` in bytes; ``None`` outside of Linux."""
    with suppress(OSError):
        lines = _STATUS.read_text(encoding="ascii", errors="replace").splitlines()
        return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), None)
    return None


class MemoryOf:
    """The memory of a process and its descendants, by number of the process.

    >>> import os
    >>> MemoryOf(os.getpid()).resident() >= 1_000_000
    True
    """

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid) if psutil.pid_exists(pid) else None
        self._below: list[psutil.Process] = []
        self._listed = 0.0

    def resident(self) -> int:
        """Return resident bytes; a shared page counts once a process. A process that has ended has none."""
        return sum(_bytes_of(process, "rss") for process in [self._process, *self.below()] if process)

    def below(self) -> list[psutil.Process]:
        """Return the descendants, as they were at most a second ago."""
        if self._process and time.monotonic() >= self._listed + _CHILDREN_S:
            with suppress(psutil.Error):
                self._below = self._process.children(recursive=True)
            self._listed = time.monotonic()
        return self._below


class PeakMemory:
    """Finds the peak memory of this process and its descendants in a block, above the start.

    Linux tells that of the process itself exactly; else, and for descendants, it is read ten times a second. Of a
    descendant only pages count that it has for itself.
    """

    def __init__(self) -> None:
        self.n_bytes = 0
        """After the block."""
        self._before = self._most = 0
        self._ended = threading.Event()
        self._looks = threading.Thread(target=self._look, name="memory of processes", daemon=True)

    def __enter__(self) -> Self:
        begin_memory_peak()
        self._before = resident_memory()
        self._looks.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._looks.join()
        self.n_bytes = max(0, max(memory_peak() or 0, self._most, resident_memory()) - self._before)

    def _look(self) -> None:
        own = MemoryOf(psutil.Process().pid)
        while not self._ended.wait(_LOOK_S):
            others = sum(_bytes_of(process, "uss") for process in own.below())
            self._most = max(self._most, resident_memory() + others)


def _bytes_of(process: psutil.Process, kind: str) -> int:
    with suppress(psutil.Error):
        return int(getattr(process.memory_info() if kind == "rss" else process.memory_full_info(), kind))
    return 0
