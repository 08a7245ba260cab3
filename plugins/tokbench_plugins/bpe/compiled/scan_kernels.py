"""One loop for all automata of :mod:`..scan_rules`, over UTF-8, compiled by numba."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench_plugins.bpe.compiled.jit import compiled, inlined
from tokbench_plugins.bpe.compiled.scan_rules import BEFORE, HERE, MARKED, SET_MARK, STATE_SHIFT
from tokbench_plugins.bpe.compiled.scan_tables import END

__all__ = ["SPARE", "scan_documents"]

SPARE = 3
"""Entries behind the last end that are written and not meant."""

_TWO, _THREE, _FOUR = 0x80, 0xE0, 0xF0  # from which first byte on a character has that many bytes


@inlined
def _code(data: Any, i: Any, first: Any) -> tuple[Any, Any]:
    """The character at ``i``, which is not of ASCII, and how many bytes it has."""
    second = np.int64(data[i + 1] & 0x3F)
    if first < _THREE:
        return (first & 0x1F) << 6 | second, 2
    third = np.int64(data[i + 2] & 0x3F)
    if first < _FOUR:
        return (first & 0x0F) << 12 | second << 6 | third, 3
    return (first & 0x07) << 18 | second << 12 | third << 6 | np.int64(data[i + 3] & 0x3F), 4


@compiled
def scan_documents(data: Any, offsets: Any, ends: Any, table: Any, classes: Any, pages: Any) -> Any:
    """Write where the chunks of all documents end, and return how many there are.

    Args:
        data: uint8[n], UTF-8.
        offsets: int64[d + 1]; document ``k`` is ``data[offsets[k]:offsets[k + 1]]``.
        ends: int64[n + SPARE], written to.
        table: the automaton; see :func:`..scan_rules.transitions`.
        classes: the classes of all characters; see :class:`..scan_tables.Tables`.
        pages: where those of each page are.
    """
    found: Any = 0
    for document in range(offsets.size - 1):
        i, end = offsets[document], offsets[document + 1]
        state: Any = 0
        previous, mark = i, i
        while True:
            width = 1
            if i < end:
                first = np.int64(data[i])
                if first < _TWO:
                    character = classes[first]
                else:
                    code, width = _code(data, i, first)
                    character = classes[pages[code >> 8] + (code & 255)]
            else:
                character = END
            move = np.int64(table[state + character])
            # Boundaries are written in any case and counted if they are meant: no branch to guess wrong.
            ends[found] = mark
            found += move & MARKED
            ends[found] = previous
            found += (move & BEFORE) // BEFORE
            ends[found] = i
            found += (move & HERE) // HERE
            if move & SET_MARK:
                mark = i
            state = move >> STATE_SHIFT
            if i >= end:
                break
            previous = i
            i += width
    return found
