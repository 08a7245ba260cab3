"""A hash table of byte strings that remembers their order, compiled by numba.

Most chunks are short: up to seven bytes and their number fit into one whole number of 64 bits, the
*key*, and equal keys are equal chunks. A longer chunk's key is a hash with the highest bit set, and
its bytes are compared.

Open addressing: the table has a power of two of slots, at most half of them taken; a slot holds the
number of a chunk, or -1, and beside it the chunk's key.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench_plugins.bpe.jit import compiled

__all__ = ["add_chunks", "fill_table"]

_SHORT = 7
_LONG = np.uint64(1 << 63)
_FIRST_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # the golden ratio: odd, and its bits are well mixed
_SECOND_FACTOR = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)


@compiled
def _key(data: Any, start: Any, end: Any) -> Any:
    """The key of the chunk ``data[start:end]``."""
    key = np.uint64(end - start)
    if end - start <= _SHORT:
        for i in range(start, end):
            key = key << np.uint64(8) | np.uint64(data[i])
        return key
    for i in range(start, end):
        key = (key ^ np.uint64(data[i])) * _FIRST_FACTOR
        key ^= key >> _HALF
    return key | _LONG


@compiled
def _slot(key: Any, slots: Any) -> Any:
    """Where the search for a key begins in a table with a power of two of slots."""
    mixed = (key ^ key >> _HALF) * _SECOND_FACTOR
    return np.int64((mixed ^ mixed >> _HALF) & np.uint64(slots - 1))


@compiled
def _same(data: Any, start: Any, size: Any, arena: Any, offsets: Any, number: Any) -> Any:
    """Whether a chunk is the different chunk ``number``."""
    base = offsets[number]
    if offsets[number + 1] - base != size:
        return False
    for i in range(size):  # noqa: SIM110 - numba
        if arena[base + i] != data[start + i]:
            return False
    return True


@compiled
def fill_table(keys: Any, table_keys: Any, table: Any) -> None:
    """Enter chunks, all different, into an empty table, by their keys."""
    mask = table.size - 1
    for number in range(keys.size):
        slot = _slot(keys[number], table.size)
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = number
        table_keys[slot] = keys[number]


@compiled
def add_chunks(
    data: Any, ends: Any, weights: Any, first: Any, arena: Any, offsets: Any, counts: Any, known: Any,
    table_keys: Any, table: Any,
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
        table_keys: uint64[t], the key of the chunk in each slot of the table.
        table: int32[t], the number of the chunk in each slot, or -1.

    Returns:
        The number of the first chunk that was not counted, and how many different chunks there are now.
    """
    mask = table.size - 1
    start = ends[first - 1] if first else 0
    for chunk in range(first, ends.size):
        end = ends[chunk]
        size = end - start
        weight = weights[chunk] if weights.size else 1
        key = _key(data, start, end)
        slot = _slot(key, table.size)
        while True:
            number = table[slot]
            if number < 0:
                base = offsets[known]
                if 2 * known >= table.size or known >= counts.size or base + size > arena.size:
                    return chunk, known
                for i in range(size):
                    arena[base + i] = data[start + i]
                table[slot] = known
                table_keys[slot] = key
                counts[known] = weight
                known += 1
                offsets[known] = base + size
                break
            if table_keys[slot] == key and (size <= _SHORT or _same(data, start, size, arena, offsets, number)):
                counts[number] += weight
                break
            slot = (slot + 1) & mask
        start = end
    return ends.size, known
