"""The merges of chunks, compiled, as :func:`..fast.encode.merge_ids`, several chunks at a time; imports numba.

**Short chunks** are merged :data:`LANES` at a time, one merge each in turn, so that the processor works on one chunk
while another waits for memory. A lane has :data:`STRIDE` entries of four arrays, whose places count from 1:

- ``tokens``: the ids, between two ids that merge with nothing;
- ``after`` and ``before``: the places of the neighbours;
- ``keys``: ``rank << 8 | place`` of each pair, at the place of its left half. The lowest is the next merge.
  Place 0 has no pair and takes what would be written for it.

**Long chunks** have a heap of possible merges, and links over the gaps.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from tokbench.foundation.jit import compiled
from tokbench_plugins.bpe.compiled.intrinsics import HALF_VECTOR, VECTOR, lowest_of_half, lowest_of_vector
from tokbench_plugins.bpe.compiled.pair_tables import HIGHEST_ID, NO_RANK, copied, rank_of

LANES: Final = 8
STRIDE: Final = np.uint64(256)
LONGEST_SCANNED: Final = np.uint64(223)
"""Bytes of the longest chunk that fits into a lane, with place 0 and whole vectors."""

_NO_KEY: Final = np.uint32(0xFFFF_FFFF)
_HALF: Final = np.uint64(32)
_LOW: Final = np.uint64(0xFFFF_FFFF)
_VECTOR, _HALF_VECTOR = np.uint64(VECTOR), np.uint64(HALF_VECTOR)
_ZERO, _ONE, _TWO, _EIGHT = (np.uint64(number) for number in (0, 1, 2, 8))
_PLACE: Final = np.uint64(255)
_DONE: Final = -2  # instead of a chunk's number: nothing is left to do in this lane; -1 is before the first


class Merging(NamedTuple):
    """The merges, as the kernels look them up."""

    byte_ids: Any
    """uint32[256]."""

    pairs: Any
    """The pairs with their ranks, as in :class:`.pair_tables.PairTables`."""

    displacements: Any

    made: Any
    """uint32[ranks], the id that the merge of each rank makes."""

    ranks_are_ids: Any


class Lanes(NamedTuple):
    """The four arrays of lanes, each of LANES * STRIDE entries: uint32, uint32, uint8, uint8."""

    keys: Any

    tokens: Any

    after: Any

    before: Any


@compiled
def lanes() -> Any:
    """Return empty lanes."""
    size = LANES * STRIDE
    return Lanes(
        np.empty(size, np.uint32), np.empty(size, np.uint32), np.empty(size, np.uint8), np.empty(size, np.uint8)
    )


@copied
def _key(rank: Any, place: Any) -> Any:
    return np.uint32((np.uint64(rank) << _EIGHT) | place) if rank != NO_RANK else _NO_KEY


@copied
def _fill_lane(lane: Any, data: Any, start: Any, length: Any, merging: Any, room: Any) -> None:
    keys, tokens, after, before = room
    place: Any
    for place in range(length):
        tokens[lane + place + _ONE] = merging.byte_ids[data[start + place]]
    tokens[lane] = tokens[lane + length + _ONE] = HIGHEST_ID
    for place in range(length + _TWO):
        after[lane + place] = place + _ONE
        before[lane + place] = place - _ONE
    keys[lane] = _NO_KEY
    place = _ONE
    while place < length:
        rank = rank_of(merging.pairs, merging.displacements, tokens[lane + place], tokens[lane + place + _ONE])
        keys[lane + place] = _key(rank, place)
        place += _ONE
    end = _end_of(lane, length)
    while lane + place < end:
        keys[lane + place] = _NO_KEY
        place += _ONE


@copied
def _end_of(lane: Any, count: Any) -> Any:
    return lane + _HALF_VECTOR + (count + _VECTOR - _HALF_VECTOR) // _VECTOR * _VECTOR


@copied
def _lowest(keys: Any, lane: Any, end: Any) -> Any:
    lowest = lowest_of_half(keys, lane)
    at = lane + _HALF_VECTOR
    while at < end:  # most chunks have no second vector
        lowest = min(lowest, lowest_of_vector(keys, at))
        at += _VECTOR
    return lowest


@copied
def _merge(lane: Any, place: Any, token: Any, merging: Any, room: Any) -> None:
    pairs, displacements = merging.pairs, merging.displacements
    keys, tokens, after, before = room
    gone = np.uint64(after[lane + place])
    following = np.uint64(after[lane + gone])
    previous = np.uint64(before[lane + place])
    after[lane + place] = following
    before[lane + following] = place
    tokens[lane + place] = token
    keys[lane + gone] = _NO_KEY
    keys[lane + place] = _key(rank_of(pairs, displacements, token, tokens[lane + following]), place)
    keys[lane + previous] = _key(rank_of(pairs, displacements, tokens[lane + previous], token), previous)


@copied
def _drain_lane(lane: Any, size: Any, tokens: Any, after: Any, ids: Any, start: Any) -> Any:
    count, place = _ZERO, _ONE
    while place <= size:
        ids[start + count] = tokens[lane + place]
        count += _ONE
        place = np.uint64(after[lane + place])
    return count


@compiled
def merge_chunks(data: Any, chunks: Any, merging: Any, room: Any, ids: Any, counts: Any) -> None:
    """Write the ids of n chunks to ``ids``, each at the start of as much room as it has bytes.

    ``chunks`` has their starts, their lengths (1 to ``LONGEST_SCANNED``) and n; ``counts`` receives the numbers of ids.
    """
    starts, lengths, n_chunks = chunks
    keys = room.keys
    chunk_in = np.full(LANES, -1, np.int64)
    place_of, end_of, size_of = np.zeros(LANES, np.uint64), np.zeros(LANES, np.uint64), np.zeros(LANES, np.uint64)
    entered, working, place = 0, LANES, _ZERO
    for number in range(LANES):
        keys[np.uint64(number) * STRIDE : np.uint64(number) * STRIDE + _VECTOR] = _NO_KEY
    while working:
        for number in range(LANES):
            lane = np.uint64(number) * STRIDE
            lowest = _lowest(keys, lane, end_of[number])
            if lowest != _NO_KEY:
                rank = np.uint64(lowest) >> _EIGHT
                token = np.uint32(rank) if merging.ranks_are_ids else merging.made[rank]
                _merge(lane, np.uint64(lowest) & _PLACE, token, merging, room)
                continue
            chunk = chunk_in[number]
            if chunk >= 0:
                counts[chunk] = _drain_lane(lane, size_of[number], room.tokens, room.after, ids, place_of[number])
            if entered < n_chunks:
                size_of[number] = lengths[entered]
                _fill_lane(lane, data, starts[entered], lengths[entered], merging, room)
                end_of[number] = _end_of(lane, size_of[number])
                chunk_in[number], place_of[number] = entered, place
                place += lengths[entered]
                entered += 1
            elif chunk != _DONE:
                chunk_in[number] = _DONE
                working -= 1


@compiled
def _push(heap: Any, size: Any, entry: Any) -> None:
    """Four children share a cache line."""
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
    ranks[at] = rank
    if rank == NO_RANK:
        return size
    _push(heap, size, (np.uint64(rank) << _HALF) | np.uint64(at))
    return size + 1


@compiled
def _first_ranks(data: Any, start: Any, length: Any, merging: Any, ids: Any) -> Any:
    ranks = np.full(length, NO_RANK, np.uint32)
    for i in range(length):
        ids[i] = merging.byte_ids[data[start + i]]
        if i:
            ranks[i - 1] = rank_of(merging.pairs, merging.displacements, ids[i - 1], ids[i])
    return ranks


@compiled
def merge_long_chunk(data: Any, start: Any, length: Any, merging: Any, ids: Any) -> int:
    """Write the ids of one chunk to ``ids``, which has room for one per byte, and return their number."""
    pairs, displacements = merging.pairs, merging.displacements
    ranks = _first_ranks(data, start, length, merging, ids)
    after = np.arange(1, length + 1).astype(np.uint32)
    before = np.arange(-1, length - 1).astype(np.int32)
    # A merge takes one entry or more out and puts two in: never more than two per id.
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
        token = merging.made[rank]
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
