"""The merges of a long chunk, compiled: a heap of what is possible, and links over the gaps.

Importing this file needs numba. Every merge takes a time that grows with the logarithm of the length, so
that a text of one letter, or without any spaces, is no slower than others.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tokbench_plugins.bpe.compiled.encode_pairs import NO_RANK, rank_of
from tokbench_plugins.bpe.compiled.jit import compiled

__all__ = ["merge_long_chunk"]

_HALF: Final = np.uint64(32)
_LOW: Final = np.uint64(0xFFFF_FFFF)


@compiled
def _push(heap: Any, size: Any, entry: Any) -> None:
    """Let an entry rise from place ``size`` to where it belongs; four children share a cache line."""
    at = size
    while at:
        parent = (at - 1) >> 2
        if heap[parent] <= entry:
            break
        heap[at] = heap[parent]
        at = parent
    heap[at] = entry


@compiled
def _sink(heap: Any, size: Any, at: Any, entry: Any) -> None:
    """Let an entry sink from place ``at`` to where it belongs."""
    while True:
        child = 4 * at + 1
        if child >= size:
            break
        least = child
        for other in range(child + 1, min(child + 4, size)):
            if heap[other] < heap[least]:
                least = other
        if heap[least] >= entry:
            break
        heap[at] = heap[least]
        at = least
    heap[at] = entry


@compiled
def _offer(ranks: Any, at: Any, rank: Any, heap: Any, size: Any) -> Any:
    """Heartbeat a new pair's rank, and put it into the heap if it is a merge; returns the heap's size."""
    ranks[at] = rank
    if rank == NO_RANK:
        return size
    _push(heap, size, (np.uint64(rank) << _HALF) | np.uint64(at))
    return size + 1


@compiled
def _first_ranks(data: Any, start: Any, length: Any, byte_ids: Any, byte_pairs: Any, ids: Any) -> Any:
    """Write the ids of the bytes; returns the ranks of their pairs."""
    ranks = np.full(length, NO_RANK, np.uint32)
    for i in range(length):
        ids[i] = byte_ids[data[start + i]]
        if i:
            ranks[i - 1] = byte_pairs[np.int64(data[start + i - 1]) << 8 | np.int64(data[start + i])]
    return ranks


@compiled
def merge_long_chunk(
    data: Any,
    start: Any,
    length: Any,
    byte_ids: Any,
    byte_pairs: Any,
    pairs: Any,
    displacements: Any,
    made: Any,
    ids: Any,
) -> int:
    """Write the ids of one chunk to ``ids``, which has room for one per byte; returns how many there are.

    The other arguments are those of :func:`..encode_merge.merge_chunks`.
    """
    ranks = _first_ranks(data, start, length, byte_ids, byte_pairs, ids)
    after = np.arange(1, length + 1).astype(np.uint32)
    before = np.arange(-1, length - 1).astype(np.int32)
    # A merge takes one entry or more out and puts two in: never more than two per byte.
    heap = np.empty(2 * length + 2, np.uint64)
    size = 0
    for i in range(length):
        if ranks[i] != NO_RANK:
            heap[size] = (np.uint64(ranks[i]) << _HALF) | np.uint64(i)
            size += 1
    for i in range((size - 2) >> 2, -1, -1):
        _sink(heap, size, i, heap[i])
    while size:
        entry = heap[0]
        size -= 1
        _sink(heap, size, 0, heap[size])
        at = np.int64(entry & _LOW)
        rank = ranks[at]
        if rank != entry >> _HALF:
            continue  # another merge has taken one of the halves
        token = made[rank]
        end = np.int64(after[at])
        following = np.int64(after[end])
        ids[at] = token
        after[at] = following
        ranks[end] = ranks[at] = NO_RANK
        if following < length:
            before[following] = at
            size = _offer(ranks, at, rank_of(pairs, displacements, token, ids[following]), heap, size)
        previous = before[at]
        if previous >= 0:
            size = _offer(ranks, previous, rank_of(pairs, displacements, ids[previous], token), heap, size)
    written, at = 0, np.int64(0)
    while at < length:
        ids[written] = ids[at]
        written += 1
        at = np.int64(after[at])
    return written
