"""What the kernels of the compiled trainer work on: the text, its pairs, and how a pair is found.

All chunks lie in one array, ``flat``, with a gap before and after each. An id that stands for ``w`` bytes
takes ``w`` slots for ever: the first holds the id, the last ``TAIL - id`` (a single byte's only slot
holds the id), those between mean nothing. So the next id begins ``w`` slots further on, and the slot
before an id tells which id ends there: no links are needed, and smaller positions stay the earlier ones.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from tokbench_plugins.bpe.compiled.jit import compiled, inlined

__all__ = [
    "ARENA", "COUNT", "END", "GAP", "HEAP", "KEY", "MADE", "PAIRS", "START", "STATE", "TAIL", "THRESHOLD", "Text",
    "drop_stale", "fill_table", "find_pair", "new_pair",
]  # fmt: skip

GAP: Final = -1
TAIL: Final = -2
KEY, COUNT, START, END = range(4)  # the columns of ``pairs``
MADE, PAIRS, ARENA, HEAP, THRESHOLD, STATE = range(6)  # the entries of ``state``, and their number
_FACTOR: Final = np.uint64(0x9E37_79B9_7F4A_7C15)


class Text(NamedTuple):
    """Everything the kernels know; n slots, v ids at most.

    Attributes:
        flat: int32[n], the ids.
        weighs: uint16[n] or uint32[n], which of ``weights`` the slot's chunk has.
        weights: int64[w], the different numbers of times that chunks occur.
        widths: int32[v], the number of bytes of each id.
        pairs: int64[p, 4]: (left << 32 | right, count, start and end in ``arena``).
        table: int32[t], a hash table with open addressing: rows of ``pairs``, or -1; t is a power of two.
        arena: int32[a], positions.
        heap: int64[p, 3]: (count, rank, row of ``pairs``), the highest count and then the lowest rank first.
        around: int64[v, 4], zeros between two merges: for each id that stands left of the pair to be
            merged how often in all and at how many positions; the same to the right.
        met: int32[2, v], the ids that stand left and right of it.
        merges: int64[v], the merged pairs as numbers.
        state: int64[5]: ids made, rows of ``pairs`` taken, of ``arena``, of ``heap``, the threshold.
    """

    flat: Any
    weighs: Any
    weights: Any
    widths: Any
    pairs: Any
    table: Any
    arena: Any
    heap: Any
    around: Any
    met: Any
    merges: Any
    state: Any


@inlined
def _slot(table: Any, key: Any) -> Any:
    mixed = np.uint64(key) * _FACTOR
    mixed = (mixed ^ mixed >> np.uint64(32)) * _FACTOR
    return np.int64((mixed >> np.uint64(20)) & np.uint64(table.size - 1))


@compiled
def fill_table(pairs: Any, taken: Any, table: Any) -> None:
    """Enter the first rows of ``pairs`` into an empty table."""
    for row in range(taken):
        slot = _slot(table, pairs[row, KEY])
        while table[slot] >= 0:
            slot = (slot + 1) & (table.size - 1)
        table[slot] = row


@compiled
def drop_stale(text: Any) -> None:
    """Move the positions that still hold together, in place: later rows have theirs further on in ``arena``."""
    flat, pairs, arena = text.flat, text.pairs, text.arena
    kept = 0
    for row in range(text.state[PAIRS]):
        left, right = pairs[row, KEY] >> 32, pairs[row, KEY] & 0xFFFF_FFFF
        start, end = pairs[row, START], pairs[row, END]
        pairs[row, START] = kept
        if pairs[row, COUNT]:
            width = text.widths[left]
            for at in range(start, end):
                position = arena[at]
                arena[kept] = position
                kept += flat[position] == left and flat[position + width] == right
        pairs[row, END] = kept
    text.state[ARENA] = kept


@inlined
def find_pair(text: Any, key: Any) -> Any:
    """The row of a pair that has one."""
    slot = _slot(text.table, key)
    while text.pairs[text.table[slot], KEY] != key:
        slot = (slot + 1) & (text.table.size - 1)
    return text.table[slot]


@inlined
def new_pair(text: Any, key: Any, count: Any, positions: Any) -> Any:
    """The row of a pair that had none, with room for its positions, which are not there yet."""
    row = text.state[PAIRS]
    start = text.state[ARENA]
    text.pairs[row, KEY], text.pairs[row, COUNT] = key, count
    text.pairs[row, START], text.pairs[row, END] = start, start + positions
    slot = _slot(text.table, key)
    while text.table[slot] >= 0:
        slot = (slot + 1) & (text.table.size - 1)
    text.table[slot] = row
    text.state[PAIRS] = row + 1
    text.state[ARENA] = start + positions
    return row
