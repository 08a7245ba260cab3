"""A hash table of byte strings that remembers their order, compiled by numba.

Most chunks are short: up to seven bytes and their number fit into one whole number of 64 bits, the
*key*, and equal keys are equal chunks. A longer chunk's key is a hash with the highest bit set, and
its bytes are compared.

Open addressing: the table has a power of two of slots, at most half of them taken; a slot holds the key
of a chunk, or 0, and beside it the chunk's number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench_plugins.bpe.jit import compiled, inlined

__all__ = ["add_chunks", "move_table"]

_SHORT = 7
_LONG = np.uint64(1 << 63)
_FIRST_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # the golden ratio: odd, and its bits are well mixed
_SECOND_FACTOR = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)
_TOP_BYTE = np.uint64(56)
_ONE = np.uint64(1)


@inlined
def _word(data: Any, at: Any) -> Any:
    """Eight bytes as one number, the first one lowest: the compiler makes this a single load."""
    at = np.uint64(at)
    word = np.uint64(0)
    for i in range(8):
        word |= np.uint64(data[at + np.uint64(i)]) << np.uint64(8 * i)
    return word


@inlined
def _key(data: Any, start: Any, end: Any) -> Any:
    """The key of the chunk ``data[start:end]``."""
    size = end - start
    key = np.uint64(size)
    if size > _SHORT:
        for i in range(start, end - 8, 8):
            key = (key ^ _word(data, i)) * _FIRST_FACTOR
            key ^= key >> _HALF
        key = (key ^ _word(data, end - 8)) * _FIRST_FACTOR  # may overlap the one before
        return key ^ key >> _HALF | _LONG
    key <<= _TOP_BYTE
    if start + 8 <= data.size:
        return key | _word(data, start) & ((_ONE << np.uint64(8 * size)) - _ONE)
    for i in range(size):
        key |= np.uint64(data[start + i]) << np.uint64(8 * i)
    return key


@inlined
def _slot(key: Any, slots: Any) -> Any:
    """Where the search for a key begins in a table with a power of two of slots."""
    mixed = (key ^ key >> _HALF) * _SECOND_FACTOR
    return np.int64((mixed ^ mixed >> _HALF) & np.uint64(slots - 1))


@inlined
def _same(data: Any, start: Any, size: Any, arena: Any, offsets: Any, number: Any) -> Any:
    """Whether a long chunk is the different chunk ``number``."""
    base = offsets[number]
    if offsets[number + 1] - base != size:
        return False
    for i in range(0, size - 8, 8):
        if _word(data, start + i) != _word(arena, base + i):
            return False
    return _word(data, start + size - 8) == _word(arena, base + size - 8)


@compiled
def move_table(table: Any, larger: Any) -> None:
    """Enter all chunks of a table into an empty one."""
    mask = larger.shape[0] - 1
    for old in range(table.shape[0]):
        if table[old, 0]:
            slot = _slot(table[old, 0], larger.shape[0])
            while larger[slot, 0]:
                slot = (slot + 1) & mask
            larger[slot] = table[old]


@compiled
def add_chunks(
    data: Any, ends: Any, weights: Any, first: Any, arena: Any, offsets: Any, counts: Any, known: Any,
    table: Any,
) -> tuple[Any, Any]:  # fmt: skip
    """Count the chunks ``first``, ``first + 1``, … of ``data`` until all are counted or room runs out.

    Args:
        data: uint8[n], the bytes of all chunks, one after the other.
        ends: int64[c], where each chunk ends.
        weights: int64[c], how often each chunk is to be counted; empty for once.
        first: the chunk to begin with.
        arena: uint8[a], the bytes of all different chunks, one after the other.
        offsets: int64[k + 1]; different chunk ``k`` is ``arena[offsets[k]:offsets[k + 1]]``.
        counts: int64[k], how often each was counted.
        known: how many different chunks there are.
        table: uint64[t, 2], the key and the number of the chunk in each slot; zeros where there is none.

    Returns:
        The number of the first chunk that was not counted, and how many different chunks there are now.
    """
    slots = table.shape[0]
    start = ends[first - 1] if first else 0
    for chunk in range(first, ends.size):
        end = ends[chunk]
        size = end - start
        weight = weights[chunk] if weights.size else 1
        key = _key(data, start, end)
        slot = _slot(key, slots)
        while True:
            if table[slot, 0] == 0:
                base = offsets[known]
                if 2 * known >= slots or known >= counts.size or base + size > arena.size:
                    return chunk, known
                for i in range(size):
                    arena[base + i] = data[start + i]
                table[slot, 0], table[slot, 1] = key, known
                counts[known] = weight
                known += 1
                offsets[known] = base + size
                break
            number = np.int64(table[slot, 1])
            if table[slot, 0] == key and (size <= _SHORT or _same(data, start, size, arena, offsets, number)):
                counts[number] += weight
                break
            slot = (slot + 1) & (slots - 1)
        start = end
    return ends.size, known
