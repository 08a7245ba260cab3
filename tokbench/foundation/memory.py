"""The memory of this process and its descendants: now, and at its peak."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

MEASURED: Final = sys.platform == "linux"
"""Whether each process's memory is reported."""

_PROC: Final = Path("/proc")
_LOOK_S: Final = 0.1


def resident_memory(field: str = "VmRSS") -> int | None:
    """Return a field of this process's status in bytes (``VmRSS``: memory, ``VmHWM``: peak); ``None`` outside of Linux.

    >>> resident_memory("no such field") is None
    True
    """
    try:
        return _field(_PROC / "self/status", field)
    except OSError:
        return None


def begin_memory_peak() -> bool:
    """Reset this process's peak (Linux), and tell whether that was possible."""
    try:
        (_PROC / "self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def resident_bytes(process: int) -> int:
    """Return the memory of a process and its descendants (Linux); 0 if it has ended. A shared page counts twice."""
    total = 0
    for pid in with_those_below(process):
        with suppress(OSError, ValueError, IndexError):
            total += int((_PROC / str(pid) / "statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return total


def with_those_below(process: int) -> Iterator[int]:
    """Yield the ids of a process and its descendants (Linux).

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
    """Finds the peak memory of this process and its descendants in a block, above the start.

    Linux alone tells it: exactly for the process itself; descendants are read ten times a second, and a shared page
    counts once.
    """

    def __init__(self) -> None:
        self.n_bytes: int | None = None
        """After the block; ``None`` where not reported."""
        self._before: int | None = None
        self._most_with_others = 0
        self._ended = threading.Event()
        self._looks = threading.Thread(target=self._look, name="memory of processes", daemon=True)

    def __enter__(self) -> Self:
        self._before = resident_memory() if begin_memory_peak() else None
        self._looks.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._looks.join()
        # Not the system's count of the process's life on Linux, which begins with the memory of who has started it.
        peak = resident_memory("VmHWM")
        if self._before is not None and peak is not None:
            self.n_bytes = max(0, max(peak, self._most_with_others) - self._before)

    def _look(self) -> None:
        own = os.getpid()
        while MEASURED and not self._ended.wait(_LOOK_S):
            others = [_own_pages(pid) for pid in with_those_below(own) if pid != own]
            if others:
                self._most_with_others = max(self._most_with_others, (resident_memory() or 0) + sum(others))


def _own_pages(pid: int) -> int:
    with suppress(OSError):
        rollup = _PROC / str(pid) / "smaps_rollup"
        return sum(_field(rollup, name) or 0 for name in ("Private_Clean", "Private_Dirty"))
    return 0


def _field(path: Path, field: str) -> int | None:
    lines = path.read_text(encoding="ascii", errors="replace").splitlines()
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(f"{field}:")), None)
