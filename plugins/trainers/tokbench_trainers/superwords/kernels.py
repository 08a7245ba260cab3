"""Where superwords may join a text: the kernels of :mod:`.cutting`; imports numba.

A *unit* is an id, or a chunk that is one token. A *joint* is the place between two units of one chunk.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from tokbench.foundation.jit import compiled, inlined

SLOTS: Final = 1 << 23
"""Of a sketch: a pair takes the slot of its hash, so that no pair counts for less than it occurs."""

BEGINS_BLANK, ENDS_BLANK, BEGINS_SPACE, ENDS_COLON = 1, 2, 4, 8

_FACTOR: Final = np.uint64(0x9E37_79B9_7F4A_7C15)
_HALF: Final = np.uint64(32)
_SHIFT: Final = np.uint64(20)


class Joining(NamedTuple):
    """Which units may be joined."""

    words: Any
    """int32[t], the words of each unit; too many in one that is never joined."""

    marks: Any
    """uint8[t], how each begins and ends."""

    most: Any
    """The words of a superword."""


class Units(NamedTuple):
    """A text in units."""

    units: Any
    """int64[n]."""

    ends: Any
    """int64[n], the byte behind each."""

    borders: Any
    """int64[c], the ends that no superword crosses, rising."""


@compiled
def cut_atoms(data: Any, ends: Any, together: Any, atoms: Any) -> Any:
    """Write where chunks end and where no token has the bytes left and right; return their number."""
    n = chunk = 0
    for i in range(1, ends[-1] + 1):
        if i == ends[chunk]:
            chunk += 1
        elif together[np.int64(data[i - 1]) << 8 | data[i]]:
            continue
        atoms[n] = i
        n += 1
    return n


@inlined
def _slot(left: Any, right: Any) -> Any:
    """Return the slot of a pair in a sketch."""
    mixed = np.uint64(left << 32 | right) * _FACTOR
    mixed = (mixed ^ mixed >> _HALF) * _FACTOR
    return np.int64(mixed >> _SHIFT) & (SLOTS - 1)


@inlined
def _may_join(joining: Any, left: Any, right: Any) -> Any:
    before, after = joining.marks[left], joining.marks[right]
    words = joining.words[left] + joining.words[right] - (before & ENDS_BLANK == 0 and after & BEGINS_BLANK == 0)
    return words <= joining.most and not (before & ENDS_COLON and after & BEGINS_SPACE)


@compiled
def add_joints(text: Any, joining: Any, sketch: Any) -> None:
    """Count the joints that may be joined."""
    units, ends, borders = text
    border = 0
    for i in range(units.size - 1):
        if ends[i] == borders[border]:
            border += 1
        elif _may_join(joining, units[i], units[i + 1]):
            sketch[_slot(units[i], units[i + 1])] += 1


@compiled
def cut_joints(text: Any, joining: Any, frequent: Any, cuts: Any) -> Any:
    """Write where the text is cut: at joints that may not be joined or are not frequent; return the number of cuts."""
    units, ends, borders = text
    border = n = 0
    for i in range(units.size):
        if ends[i] == borders[border]:
            border += 1
        elif _may_join(joining, units[i], units[i + 1]) and frequent[_slot(units[i], units[i + 1])]:
            continue
        cuts[n] = ends[i]
        n += 1
    return n
