"""Conditions that spoil timings."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Final

from tokbench.measuring.timing.contender import LEAST_ROUNDS

_DRIFT: Final = 0.05

_BUSY: Final = 0.5
"""Load average per core, above 1.5 in all."""


def machine_notes(family: str, root: Path = Path("/")) -> list[str]:
    """Return what spoils timings, with advice; ``root`` has ``proc``."""
    return [f"{family}: {note}" for note in [*_load(root), *_virtual(root)]]


def _load(root: Path) -> Iterator[str]:
    text = _read(root / "proc/loadavg").split()
    cores = os.cpu_count() or 1
    if text and float(text[0]) > max(1.5, _BUSY * cores):
        yield (
            f"the machine was busy (load average {text[0]} on {cores} cores); stop other programs and run again, or "
            "compare ratios only"
        )


def _virtual(root: Path) -> Iterator[str]:
    flags = next((line for line in _read(root / "proc/cpuinfo").splitlines() if line.startswith("flags")), "")
    if "hypervisor" in flags.split():
        yield (
            "this is a virtual machine, so speeds may vary; compare ratios of one run, and set 'processes: 5' before "
            "you publish MB/s"
        )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def drift_note(speeds: Mapping[str, Sequence[float]]) -> Iterator[str]:
    """Yield a note if all tokenizers became faster or slower between the halves of the rounds.

    >>> list(drift_note({"a": [100, 100, 100, 80, 80, 80]}))[0][:69]
    'the machine became 20% slower from the first half of the rounds to th'
    >>> list(drift_note({"a": [100, 80, 100, 80, 100, 80, 100, 80]}))
    []
    """
    changes = []
    for values in speeds.values():
        half = len(values) // 2
        if len(values) >= LEAST_ROUNDS:
            changes.append(median(values[-half:]) / median(values[:half]) - 1)
    change = median(changes) if changes else 0.0
    if abs(change) > _DRIFT:
        moved = f"{100 * abs(change):.0f}% {'faster' if change > 0 else 'slower'}"
        yield (
            f"the machine became {moved} from the first half of the rounds to the second; let it cool down, or take "
            "more rounds"
        )
