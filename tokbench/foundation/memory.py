"""The memory that this process takes, with the processes below it: now, and at its peak."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

try:
    import resource
except ModuleNotFoundError:  # only POSIX has it
    resource = None  # type: ignore[assignment]

MEASURED: Final = sys.platform == "linux"
"""``True`` where the system reports the memory of each process."""

_PROC: Final = Path("/proc")
_LOOK_S: Final = 0.1
"""Seconds between two looks at the processes below this one."""


def resident_memory(field: str = "VmRSS") -> int | None:
    """Return a field of this process's status in bytes: ``VmRSS`` is its memory, ``VmHWM`` the peak of it.

    ``None`` where the system does not tell, as on macOS.

    >>> resident_memory("no such field") is None
    True
    """
    try:
        return _field(_PROC / "self/status", field)
    except OSError:
        return None


def begin_memory_peak() -> bool:
    """Begin the peak of this process's memory anew (Linux), and tell whether that was possible."""
    try:
        (_PROC / "self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def resident_bytes(process: int) -> int:
    """Return the memory of a process and of those below it (Linux); 0 if it has ended. A shared page counts twice."""
    total = 0
    for pid in with_those_below(process):
        with suppress(OSError, ValueError, IndexError):
            total += int((_PROC / str(pid) / "statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return total


def with_those_below(process: int) -> Iterator[int]:
    """Yield the id of a process, and those of the processes below it (Linux).

    >>> next(with_those_below(os.getpid())) == os.getpid()
    True
    """
    left = [process]
    while left:
        pid = left.pop()
        yield pid
        with suppress(OSError, ValueError):  # it has ended
            for thread in (_PROC / str(pid) / "task").iterdir():
                left += map(int, (thread / "children").read_bytes().split())


class PeakMemory:
    """Finds the most memory that this process, and those below it, take while a block runs, above that at its start.

    The peak of the process itself is exact on Linux. Where it has started others, it is looked for ten times a second,
    and a page that two processes share counts once. On macOS it is the peak since the process began, without others.

    >>> import mmap
    >>> with PeakMemory() as memory:
    ...     pages = mmap.mmap(-1, 50_000_000)  # a text might take memory that was freed before, and is still here
    ...     _ = pages.write(b"x" * 50_000_000)
    >>> memory.n_bytes is None or memory.n_bytes > 40_000_000
    True
    """

    def __init__(self) -> None:
        self.n_bytes: int | None = None
        """The peak in bytes once the block has ended; ``None`` where the system does not tell it."""
        self._before: int | None = None
        self._most_with_others = 0
        self._ended = threading.Event()
        self._looks = threading.Thread(target=self._look, name="memory of processes", daemon=True)

    def __enter__(self) -> Self:
        self._before = _peak() if sys.platform != "linux" else resident_memory() if begin_memory_peak() else None
        self._looks.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._looks.join()
        # Not the system's count of the process's life on Linux, which begins with the memory of who has started it.
        peak = resident_memory("VmHWM") if sys.platform == "linux" else _peak()
        if self._before is not None and peak is not None:
            self.n_bytes = max(0, max(peak, self._most_with_others) - self._before)

    def _look(self) -> None:
        own = os.getpid()
        while sys.platform == "linux" and not self._ended.wait(_LOOK_S):
            others = [_own_pages(pid) for pid in with_those_below(own) if pid != own]
            if others:
                self._most_with_others = max(self._most_with_others, (resident_memory() or 0) + sum(others))


def _peak() -> int | None:
    """Return the largest memory of this process so far."""
    if resource is None:
        return None
    # Linux counts kibibytes, macOS bytes.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _own_pages(pid: int) -> int:
    """Return the bytes of a process that it shares with no other; 0 if it has ended."""
    with suppress(OSError):
        rollup = _PROC / str(pid) / "smaps_rollup"
        return sum(_field(rollup, name) or 0 for name in ("Private_Clean", "Private_Dirty"))
    return 0


def _field(path: Path, field: str) -> int | None:
    """Return a field of a file of ``/proc`` in bytes; ``None`` if it has no such field."""
    lines = path.read_text(encoding="ascii", errors="replace").splitlines()
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(f"{field}:")), None)
