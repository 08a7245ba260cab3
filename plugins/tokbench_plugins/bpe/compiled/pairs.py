"""The pairs of a training text, compiled: their positions, a hash table, and the most frequent; see :mod:`.train`."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.foundation.jit import compiled, inlined
from tokbench_plugins.bpe.compiled.hashing import hash_of
from tokbench_plugins.bpe.vocabulary import Pair

GAP: Final = -1
TAIL: Final = -2
BLOCK: Final = 256  # slots; every chunk has one for its gap, so no more than 255 chunks begin behind the first slot
KEY, COUNT, START, END = range(4)  # the columns of ``pairs``
MADE, PAIRS, ARENA, HEAP, THRESHOLD, DISJOINT, STATE = range(7)  # the entries of ``state``, and their number


class Text(NamedTuple):
    """The state of the kernels; n slots, v ids at most."""

    flat: Any
    """int32[n], the ids."""

    block_chunk: Any
    """int32[n / BLOCK + 1], the chunk that each block of slots begins in."""

    later_chunk: Any
    """uint8[n], how many chunks later each slot is: one byte instead of four."""

    weights: Any
    """int64[c], the number of times that each chunk occurs."""

    widths: Any
    """int32[v], the number of bytes of each id."""

    pairs: Any
    """int64[p, 4]: (left << 32 | right, count, start and end in ``arena``)."""

    table: Any
    """int32[t], a hash table with open addressing: rows of ``pairs``, or -1; t is a power of two."""

    arena: Any
    """int32[a], positions."""

    heap: Any
    """int64[p, 3]: (count, rank, row of ``pairs``), the highest count and then the lowest rank first."""

    neighbour_counts: Any
    """int64[v, 4], zeros between merges: how often each id is left of the merged pair, and at how many positions; the
    same on the right."""

    neighbours: Any
    """int32[2, v], the ids left and right of it."""

    merges: Any
    """int64[v], the merged pairs as numbers."""

    state: Any
    """int64[6]: ids made, rows of ``pairs`` used, of ``arena``, of ``heap``, the threshold, and 1 if a pair counts by
    the merges that would happen, without overlaps."""


@inlined
def weight_at(text: Any, position: Any) -> Any:
    """Return the number of times that a slot's chunk occurs."""
    return text.weights[text.block_chunk[position // BLOCK] + text.later_chunk[position]]


@inlined
def _slot(table: Any, key: Any) -> Any:
    return np.int64((hash_of(key) >> np.uint64(20)) & np.uint64(table.size - 1))


@inlined
def _enter(table: Any, key: Any, row: Any) -> None:
    slot = _slot(table, key)
    while table[slot] >= 0:
        slot = (slot + 1) & (table.size - 1)
    table[slot] = row


@compiled
def fill_table(pairs: Any, taken: Any, table: Any) -> None:
    """Enter the first rows of ``pairs`` into an empty table."""
    for row in range(taken):
        _enter(table, pairs[row, KEY], row)


@compiled
def drop_stale(text: Any) -> None:
    """Move the valid positions together."""
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
    """Return the row of a pair, which must have one."""
    table = text.table
    slot = _slot(table, key)
    while text.pairs[table[slot], KEY] != key:
        slot = (slot + 1) & (table.size - 1)
    return table[slot]


@inlined
def new_pair(text: Any, key: Any, count: Any, positions: Any) -> Any:
    """Make a row with room for positions."""
    row = text.state[PAIRS]
    start = text.state[ARENA]
    text.pairs[row, KEY], text.pairs[row, COUNT] = key, count
    text.pairs[row, START], text.pairs[row, END] = start, start + positions
    _enter(text.table, key, row)
    text.state[PAIRS] = row + 1
    text.state[ARENA] = start + positions
    return row


_RANK, _PAIR = 1, 2  # the columns of ``heap`` behind the count


@inlined
def _comes_first(count: Any, rank: Any, other_count: Any, other_rank: Any) -> Any:
    return count > other_count or (count == other_count and rank < other_rank)


@inlined
def _sink(heap: Any, size: Any, at: Any, count: Any, rank: Any, pair: Any) -> None:
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and _comes_first(heap[child + 1, 0], heap[child + 1, 1], heap[child, 0], heap[child, 1]):
            child += 1
        if not _comes_first(heap[child, 0], heap[child, _RANK], count, rank):
            break
        heap[at] = heap[child]
        at = child
    heap[at, 0], heap[at, _RANK], heap[at, _PAIR] = count, rank, pair


@inlined
def push(text: Any, row: Any, smallest: Any) -> None:
    """Enter a pair into the heap."""
    heap, pairs = text.heap, text.pairs
    count = pairs[row, COUNT]
    rank = pairs[row, KEY] if smallest else text.arena[pairs[row, START]]
    at = text.state[HEAP]
    text.state[HEAP] += 1
    while at > 0:
        parent = (at - 1) >> 1
        if not _comes_first(count, rank, heap[parent, 0], heap[parent, _RANK]):
            break
        heap[at] = heap[parent]
        at = parent
    heap[at, 0], heap[at, _RANK], heap[at, _PAIR] = count, rank, row


@inlined
def drop_best(text: Any) -> None:
    """Take the first entry out of the heap."""
    size = text.state[HEAP] - 1
    text.state[HEAP] = size
    if size:
        _sink(text.heap, size, 0, text.heap[size, 0], text.heap[size, _RANK], text.heap[size, _PAIR])


@compiled
def forbid_best(text: Any, row: Any) -> None:
    """Take the first pair of the heap out for good."""
    drop_best(text)
    text.pairs[row, COUNT] = 0


@compiled
def _refill(text: Any, smallest: Any) -> Any:
    highest = 0
    for row in range(text.state[PAIRS]):
        highest = max(highest, text.pairs[row, COUNT])
    text.state[THRESHOLD] = max(1, highest // 2)
    if highest:
        for row in range(text.state[PAIRS]):
            if text.pairs[row, COUNT] >= text.state[THRESHOLD]:
                push(text, row, smallest)
    return highest > 0


@inlined
def _times(text: Any, row: Any, left: Any) -> Any:
    """Return how often a pair of two equal ids would be merged: three in a row are one merge."""
    width, taken, times = text.widths[left], -1, 0
    for at in range(text.pairs[row, START], text.pairs[row, END]):
        position = text.arena[at]
        if position > taken and text.flat[position] == left and text.flat[position + width] == left:
            times += weight_at(text, position)
            taken = position + width
    return times


@compiled
def best_pair(text: Any, smallest: Any) -> Any:
    """Return the row of the pair to merge; -1 if no pair is left."""
    flat, pairs, heap, arena = text.flat, text.pairs, text.heap, text.arena
    while True:
        if text.state[HEAP] == 0 and not _refill(text, smallest):
            return -1
        row = heap[0, _PAIR]
        count, rank = pairs[row, COUNT], pairs[row, KEY]
        left, right = rank >> 32, rank & 0xFFFF_FFFF
        if left == right and text.state[DISJOINT]:
            count = _times(text, row, left)
        if count < text.state[THRESHOLD]:
            drop_best(text)
            continue
        if not smallest:
            width = text.widths[left]
            at = pairs[row, START]
            while flat[arena[at]] != left or flat[arena[at] + width] != right:
                at += 1
            pairs[row, START] = at
            rank = np.int64(arena[at])
        if heap[0, 0] == count and heap[0, _RANK] == rank:
            return row
        _sink(heap, text.state[HEAP], 0, count, rank, row)


def pairs_of(keys: NDArray[np.int64]) -> list[Pair]:
    """Return the pairs written as numbers."""
    return list(zip((keys >> 32).tolist(), (keys & 0xFFFF_FFFF).tolist(), strict=True))
