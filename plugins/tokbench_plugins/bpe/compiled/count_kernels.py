"""A hash table of byte strings that remembers their order, compiled by numba.

Most chunks are short: up to 15 bytes and their number fit into two whole numbers of 64 bits, the *key*,
and equal keys are equal chunks. A longer chunk's key is a hash, and its bytes are compared.

Open addressing: the table has a power of two of slots, at most three quarters of them taken; a slot holds
the key of a chunk, its number and its count. The second half of a key is never 0, so that an empty slot is.

The processor waits for memory and for branches that it guessed wrong, hardly for anything else. So chunks
are counted by blocks, in three loops: the keys; the chunks found where their search begins, which are
nine of ten, with no branch; and the rest.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tokbench_plugins.bpe.compiled.jit import compiled, inlined

__all__ = ["BLOCK", "add_chunks", "move_table", "read_counts"]

BLOCK: Final = 1024
"""Chunks counted at a time, for all of which there must be room."""

_FIRST_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # the golden ratio: odd, and its bits are well mixed
_SECOND_FACTOR = np.uint64(0xD6E8FEB86659FD93)
_ONE = np.uint64(1)
_BYTE = np.uint64(8)
_HALF = np.uint64(32)
_TOP_BYTE = np.uint64(56)
_WORD: Final = 8  # bytes
_LONG: Final = 2 * _WORD  # bytes from which on a chunk does not fit into a key
_LONG_KEY = np.uint64(_LONG << 56)
_FIRST, _SECOND, _NUMBER, _COUNT = (np.uint64(column) for column in range(4))  # the columns of the table

# By the number of bytes: which bits of the first word are the chunk's, by how much less a byte the word that
# ends with the chunk is shifted to have what comes behind the first word, and which bits of that are meant.
_FIRST_BITS = np.array([(1 << 8 * min(size, _WORD)) - 1 for size in range(_LONG)], np.uint64)
_SHIFTS = np.array([8 * (_LONG - 1 - size) if size >= _WORD else 0 for size in range(_LONG)], np.uint64)
_SECOND_BITS = np.array([2**64 - 1 if size >= _WORD else 0 for size in range(_LONG)], np.uint64)


@inlined
def _word(data: Any, at: Any) -> Any:
    """Eight bytes as one number, the first one lowest: the compiler makes this a single load."""
    at = np.uint64(at)
    word = np.uint64(0)
    for i in range(8):
        word |= np.uint64(data[at + np.uint64(i)]) << np.uint64(8 * i)
    return word


@inlined
def _key(data: Any, start: Any, end: Any) -> tuple[Any, Any]:
    """The key of the chunk ``data[start:end]``, which is not empty."""
    size = end - start
    if size >= _LONG:
        key = np.uint64(size)
        for i in range(start, end - 8, 8):
            key = (key ^ _word(data, i)) * _FIRST_FACTOR
            key ^= key >> _HALF
        key = (key ^ _word(data, end - 8)) * _FIRST_FACTOR  # may overlap the one before
        return key ^ key >> _HALF, _LONG_KEY
    second = np.uint64(size) << _TOP_BYTE
    if start + 8 <= data.size:
        behind = _word(data, max(start, end - 8)) >> _SHIFTS[size] >> _BYTE
        return _word(data, start) & _FIRST_BITS[size], second | behind & _SECOND_BITS[size]
    first = np.uint64(0)
    for i in range(size):
        first |= np.uint64(data[start + i]) << np.uint64(8 * i)
    return first, second


@inlined
def _slot(first: Any, second: Any, table: Any) -> Any:
    """Where the search for a key begins."""
    mixed = (first ^ second >> _TOP_BYTE ^ second << _BYTE) * _FIRST_FACTOR
    mixed = (mixed ^ mixed >> _HALF) * _SECOND_FACTOR
    return (mixed ^ mixed >> _HALF) & np.uint64(table.shape[0] - 1)


@inlined
def _same(data: Any, start: Any, end: Any, arena: Any, offsets: Any, number: Any) -> Any:
    """Whether a long chunk is the different chunk ``number``."""
    size = end - start
    base = offsets[number]
    if offsets[number + 1] - base != size:
        return False
    for i in range(0, size - 8, 8):
        if _word(data, start + i) != _word(arena, base + i):
            return False
    return _word(data, end - 8) == _word(arena, base + size - 8)


@compiled
def move_table(table: Any, larger: Any) -> None:
    """Enter all chunks of a table into an empty one."""
    mask = np.uint64(larger.shape[0] - 1)
    for old in range(table.shape[0]):
        if table[old, _SECOND]:
            slot = _slot(table[old, _FIRST], table[old, _SECOND], larger)
            while larger[slot, _SECOND]:
                slot = (slot + _ONE) & mask
            larger[slot] = table[old]


@compiled
def read_counts(table: Any, counts: Any) -> None:
    """Write how often each different chunk was counted, in the order of their numbers."""
    for slot in range(table.shape[0]):
        if table[slot, _SECOND]:
            counts[table[slot, _NUMBER]] = table[slot, _COUNT]


@compiled
def _has_room(chunks: Any, size: Any, arena: Any, offsets: Any, known: Any, table: Any) -> Any:
    """Whether so many more different chunks, of ``size`` bytes in all, can be counted."""
    return (
        4 * (known + chunks) <= 3 * table.shape[0]
        and known + chunks < offsets.size
        and offsets[known] + size <= arena.size
    )


@inlined
def _count_found(firsts: Any, seconds: Any, weights: Any, begin: Any, size: Any, table: Any, rest: Any) -> Any:
    """Count the chunks of a block that are found at once; write down the others, and return how many."""
    left: Any = 0
    for i in range(size):
        slot = _slot(firsts[i], seconds[i], table)
        differ = (table[slot, _FIRST] ^ firsts[i]) | (table[slot, _SECOND] ^ seconds[i])
        found = np.uint64(differ == 0) & np.uint64(seconds[i] < _LONG_KEY)
        table[slot, _COUNT] += found * (np.uint64(weights[begin + i]) if weights.size else _ONE)
        rest[left] = i
        left += 1 - np.int64(found)
    return left


@inlined
def _count(
    first: Any, second: Any, data: Any, start: Any, end: Any, weight: Any, arena: Any, offsets: Any, known: Any,
    table: Any,
) -> Any:  # fmt: skip
    """Count any chunk, and return how many are known then."""
    slot = _slot(first, second, table)
    while table[slot, _SECOND]:
        if (
            table[slot, _FIRST] == first
            and table[slot, _SECOND] == second
            and (second < _LONG_KEY or _same(data, start, end, arena, offsets, table[slot, _NUMBER]))
        ):
            table[slot, _COUNT] += weight
            return known
        slot = (slot + _ONE) & np.uint64(table.shape[0] - 1)
    table[slot, _FIRST], table[slot, _SECOND] = first, second
    table[slot, _NUMBER], table[slot, _COUNT] = known, weight
    base = offsets[known]
    for i in range(end - start):
        arena[base + i] = data[start + i]
    offsets[known + 1] = base + end - start
    return known + 1


@compiled
def add_chunks(
    data: Any, bounds: Any, weights: Any, begin: Any, arena: Any, offsets: Any, known: Any, table: Any
) -> tuple[Any, Any]:
    """Count the chunks ``begin``, ``begin + 1``, … of ``data`` until all are counted or room may run out.

    Args:
        data: uint8[n], the bytes of all chunks, one after the other; no chunk is empty.
        bounds: int64[c + 1], where each chunk begins, and where the last one ends.
        weights: int64[c], how often each chunk is to be counted; empty for once.
        begin: the chunk to begin with.
        arena: uint8[a], the bytes of all different chunks, one after the other.
        offsets: int64[k + 1]; different chunk ``k`` is ``arena[offsets[k]:offsets[k + 1]]``.
        known: how many different chunks there are.
        table: uint64[t, 4], the key, the number and the count of the chunk in each slot; zeros if there is none.

    Returns:
        The number of the first chunk that was not counted, and how many different chunks there are now.
    """
    firsts, seconds = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64)
    rest = np.empty(BLOCK, np.int64)
    chunks = bounds.size - 1
    while begin < chunks:
        size = min(BLOCK, chunks - begin)
        if not _has_room(size, bounds[begin + size] - bounds[begin], arena, offsets, known, table):
            break
        for i in range(size):
            firsts[i], seconds[i] = _key(data, bounds[begin + i], bounds[begin + i + 1])
        for at in range(_count_found(firsts, seconds, weights, begin, size, table, rest)):
            i = rest[at]
            chunk = begin + i
            weight = np.uint64(weights[chunk]) if weights.size else _ONE
            known = _count(
                firsts[i], seconds[i], data, bounds[chunk], bounds[chunk + 1], weight, arena, offsets, known, table
            )
        begin += size
    return begin, known
