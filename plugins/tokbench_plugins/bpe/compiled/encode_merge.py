"""The merges of chunks, compiled: what :func:`..encode.merge_ids` does, several chunks at a time.

Importing this file needs numba. A merge depends on the one before it, and most of its time is waiting: for
a word of a table, for the lowest rank. So :data:`LANES` chunks are merged in turns, one merge each, and the
processor works on one while it waits for another. A turn has no branches but the one at the end of a chunk.

A lane is a stretch of :data:`STRIDE` entries of four arrays, in which places are counted from 1:

- ``tokens``: the ids; before the first and behind the last one an id that merges with nothing;
- ``after`` and ``before``: the places of the neighbours, since merged ids leave gaps;
- ``keys``: ``rank << 8 | place`` of each pair, at the place of its left half. The lowest is the next merge,
  of one rank the leftmost. Place 0 has no pair and takes what would be written for it.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from tokbench_plugins.bpe.compiled.encode_pairs import HIGHEST_ID, NO_RANK, rank_of
from tokbench_plugins.bpe.compiled.encode_vector import VECTOR, lowest_of_vector
from tokbench_plugins.bpe.compiled.jit import compiled

__all__ = ["LONGEST_SCANNED", "lanes", "merge_chunks"]

LANES: Final = 4
STRIDE: Final = np.uint64(256)
LONGEST_SCANNED: Final = np.uint64(223)
"""Bytes of the longest chunk that fits into a lane, with place 0 and the vectors that are looked at."""

_NO_KEY: Final = np.uint32(0xFFFF_FFFF)
_VECTOR: Final = np.uint64(VECTOR)
_ZERO, _ONE, _EIGHT = np.uint64(0), np.uint64(1), np.uint64(8)
_PLACE: Final = np.uint64(255)
_DONE: Final = -2  # instead of a chunk's number: nothing is left to do in this lane; -1 is before the first

_copied = njit(inline="always")


@compiled
def lanes() -> Any:
    """Room for lanes: ``(keys, tokens, after, before)``."""
    size = LANES * STRIDE
    return np.empty(size, np.uint32), np.empty(size, np.uint32), np.empty(size, np.uint8), np.empty(size, np.uint8)


@_copied
def _key(rank: Any, place: Any) -> Any:
    return np.uint32((np.uint64(rank) << _EIGHT) | place) if rank != NO_RANK else _NO_KEY


@_copied
def _fill(
    lane: Any,
    data: Any,
    start: Any,
    length: Any,
    byte_ids: Any,
    byte_pairs: Any,
    keys: Any,
    tokens: Any,
    after: Any,
    before: Any,
) -> Any:
    """The ids of the bytes of a chunk and the ranks of their pairs; returns where the lane's keys end."""
    end = lane + (length // _VECTOR + _ONE) * _VECTOR
    at: Any = lane
    while at < end:
        keys[at] = _NO_KEY
        at += _ONE
    place: Any
    for place in range(length + np.uint64(2)):
        after[lane + place] = place + _ONE
        before[lane + place] = place - _ONE
    tokens[lane] = tokens[lane + length + _ONE] = HIGHEST_ID
    byte = np.uint64(data[start])
    tokens[lane + _ONE] = byte_ids[byte]
    place = _ONE
    while place < length:
        following = np.uint64(data[start + place])
        tokens[lane + place + _ONE] = byte_ids[following]
        keys[lane + place] = _key(byte_pairs[(byte << _EIGHT) | following], place)
        byte = following
        place += _ONE
    return end


@_copied
def _lowest(keys: Any, lane: Any, end: Any) -> Any:
    lowest = lowest_of_vector(keys, lane)
    at = lane + _VECTOR
    while at < end:  # most chunks have no second vector
        lowest = min(lowest, lowest_of_vector(keys, at))
        at += _VECTOR
    return lowest


@_copied
def _merge(
    lane: Any,
    lowest: Any,
    pairs: Any,
    displacements: Any,
    made: Any,
    keys: Any,
    tokens: Any,
    after: Any,
    before: Any,
) -> None:
    """One merge, and the ranks of the two new pairs."""
    place = np.uint64(lowest) & _PLACE
    token = made[np.uint64(lowest) >> _EIGHT]
    gone = np.uint64(after[lane + place])
    following = np.uint64(after[lane + gone])
    previous = np.uint64(before[lane + place])
    after[lane + place] = following
    before[lane + following] = place
    tokens[lane + place] = token
    keys[lane + gone] = _NO_KEY
    keys[lane + place] = _key(rank_of(pairs, displacements, token, tokens[lane + following]), place)
    keys[lane + previous] = _key(rank_of(pairs, displacements, tokens[lane + previous], token), previous)


@_copied
def _empty(lane: Any, length: Any, tokens: Any, after: Any, ids: Any, start: Any) -> Any:
    """Write the ids that are left; returns how many there are."""
    count, place = _ZERO, _ONE
    while place <= length:
        ids[start + count] = tokens[lane + place]
        count += _ONE
        place = np.uint64(after[lane + place])
    return count


@compiled
def merge_chunks(
    data: Any,
    starts: Any,
    lengths: Any,
    chunks: Any,
    byte_ids: Any,
    byte_pairs: Any,
    pairs: Any,
    displacements: Any,
    made: Any,
    room: Any,
    ids: Any,
    counts: Any,
) -> None:
    """Write the ids of some chunks one behind the other, each with as much room as it has bytes.

    Args:
        data: uint8[bytes], where the chunks lie.
        starts: uint64[chunks or more], their first bytes.
        lengths: uint64[chunks or more], how many bytes they have; at least 1, at most ``LONGEST_SCANNED``.
        chunks: how many there are.
        byte_ids: uint32[256], the id of each byte.
        byte_pairs: uint32[65536], the rank of each pair of bytes.
        pairs: see :func:`..encode_pairs.pair_tables`.
        displacements: likewise.
        made: uint32[merges], the id that each merge makes.
        room: see :func:`lanes`.
        ids: uint32[bytes of all chunks], gets the ids of each chunk, behind the room of the one before it.
        counts: uint64[chunks or more], gets how many ids each chunk has.
    """
    keys, tokens, after, before = room
    chunk_in = np.full(LANES, -1, np.int64)
    place_of, end_of = np.zeros(LANES, np.uint64), np.zeros(LANES, np.uint64)
    entered, working, place = 0, LANES, _ZERO
    for number in range(LANES):
        keys[np.uint64(number) * STRIDE : np.uint64(number) * STRIDE + _VECTOR] = _NO_KEY
    while working:
        for number in range(LANES):
            lane = np.uint64(number) * STRIDE
            lowest = _lowest(keys, lane, end_of[number])
            if lowest != _NO_KEY:
                _merge(lane, lowest, pairs, displacements, made, keys, tokens, after, before)
                continue
            chunk = chunk_in[number]
            if chunk >= 0:
                counts[chunk] = _empty(lane, lengths[chunk], tokens, after, ids, place_of[number])
            if entered < chunks:
                end_of[number] = _fill(
                    lane, data, starts[entered], lengths[entered], byte_ids, byte_pairs, keys, tokens, after, before
                )
                chunk_in[number], place_of[number] = entered, place
                place += lengths[entered]
                entered += 1
            elif chunk != _DONE:
                chunk_in[number] = _DONE
                working -= 1
