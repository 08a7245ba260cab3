"""The merges of one chunk, compiled: what :func:`..encode.merge_ids` does, on machine words.

Importing this file needs numba. Ids are merged in place in the output, which has room for one id per
byte. What takes the time is the way to memory, so the tables are small: a merge is one word, and most
pairs, which are no merge, are told from one bit.

All whole numbers of tables are kept unsigned: with a signed one among them numba would compute in floats.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit

from tokbench_plugins.bpe.jit import compiled

__all__ = ["EMPTY", "LONGEST_SCANNED", "enter_merges", "merge_chunk"]

EMPTY: Final = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
"""What a free slot of the table of merges holds."""

LONGEST_SCANNED: Final = np.uint64(160)  # bytes; above, the heap is faster

_NONE: Final = np.uint32(0xFFFF_FFFF)  # a rank above all others: no merge
_ID_BITS: Final = np.uint64(21)  # left, right and rank fit into a word
_RANK: Final = np.uint64((1 << 21) - 1)
_MIX: Final = np.uint64(0x9E37_79B9_7F4A_7C15)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_SIX: Final = np.uint64(6)
_LOW_SIX: Final = np.uint64(63)
_HALF: Final = np.uint64(32)
_LOW: Final = np.uint64(0xFFFF_FFFF)
_TOP: Final = np.uint64(40)


# A call costs as much as a merge: what is small is copied to where it is called, by numba itself.
_copied = njit(inline="always")


@_copied
def _mix(left: Any, right: Any) -> Any:
    """The key of a pair, and 24 bits of it that are well mixed."""
    key = (np.uint64(left) << _ID_BITS) | np.uint64(right)
    return key, ((key ^ (key >> _ID_BITS)) * _MIX) >> _TOP


@_copied
def _rank_of(pairs: Any, marks: Any, left: Any, right: Any) -> Any:
    """The rank of a pair, ``_NONE`` if it is no merge."""
    key, mixed = _mix(left, right)
    mark = mixed & np.uint64(64 * len(marks) - 1)
    rank = _NONE
    if (marks[mark >> _SIX] >> (mark & _LOW_SIX)) & _ONE:
        mask = np.uint64(len(pairs) - 1)
        slot = mixed & mask
        while pairs[slot] != EMPTY:
            if pairs[slot] >> _ID_BITS == key:
                rank = np.uint32(pairs[slot] & _RANK)
                break
            slot = (slot + _ONE) & mask
    return rank


@compiled
def enter_merges(merges: Any, byte_ids: Any, pairs: Any, marks: Any, byte_pairs: Any) -> None:
    """Fill the tables in which :func:`merge_chunk` looks pairs up.

    Args:
        merges: int64[merges, 3], left, right and made id in order of rank, no pair twice; all below 2**21.
        byte_ids: uint32[256], the id of each byte.
        pairs: uint64[a power of two above the number of merges] of ``EMPTY``, gets pairs with their ranks.
        marks: uint64[a power of two] of zeros, gets a bit for each merge.
        byte_pairs: uint32[65536], gets the rank of each pair of bytes.
    """
    mask = np.uint64(len(pairs) - 1)
    for rank in range(len(merges)):
        key, mixed = _mix(merges[rank, 0], merges[rank, 1])
        mark = mixed & np.uint64(64 * len(marks) - 1)
        marks[mark >> _SIX] |= _ONE << (mark & _LOW_SIX)
        slot = mixed & mask
        while pairs[slot] != EMPTY:
            slot = (slot + _ONE) & mask
        pairs[slot] = (key << _ID_BITS) | np.uint64(rank)
    for pair in range(len(byte_pairs)):
        byte_pairs[pair] = _rank_of(pairs, marks, byte_ids[pair >> 8], byte_ids[pair & 255])


@compiled
def merge_chunk(
    data: Any,
    start: Any,
    length: Any,
    byte_ids: Any,
    byte_pairs: Any,
    pairs: Any,
    marks: Any,
    made: Any,
    ranks: Any,
    out: Any,
    n: Any,
) -> Any:
    """Write the ids of one chunk; all numbers are uint64.

    Args:
        data: uint8[bytes], where the chunk lies.
        start: its first byte.
        length: how many bytes it has; at least 1.
        byte_ids: uint32[256], the id of each byte.
        byte_pairs: see :func:`enter_merges`.
        pairs: likewise.
        marks: likewise.
        made: uint32[merges], the id that each merge makes.
        ranks: uint32[LONGEST_SCANNED or more], to work with.
        out: uint32[n + length or more], gets the ids.
        n: where in ``out`` the first one goes.

    Returns:
        How many ids were written.
    """
    if length > LONGEST_SCANNED:
        # Away in a function: arrays that come and go here would be counted for every short chunk as well.
        return _merge_far(data, start, length, byte_ids, byte_pairs, pairs, marks, made, out, n)
    _begin(data, start, length, byte_ids, byte_pairs, ranks, out, n)
    return _merge_short(ranks, length, pairs, marks, made, out, n)


@compiled
def _merge_far(
    data: Any,
    start: Any,
    length: Any,
    byte_ids: Any,
    byte_pairs: Any,
    pairs: Any,
    marks: Any,
    made: Any,
    out: Any,
    n: Any,
) -> Any:
    ranks = np.empty(length, np.uint32)
    _begin(data, start, length, byte_ids, byte_pairs, ranks, out, n)
    ranks[length - _ONE] = _NONE
    return np.uint64(_merge_long(ranks, np.int64(length), pairs, marks, made, out[n:]))


@_copied
def _begin(data: Any, start: Any, length: Any, byte_ids: Any, byte_pairs: Any, ranks: Any, out: Any, n: Any) -> None:
    """The ids of the bytes and the ranks of their pairs."""
    byte = np.uint64(data[start])
    out[n] = byte_ids[byte]
    i = _ONE
    while i < length:
        following = np.uint64(data[start + i])
        out[n + i] = byte_ids[following]
        ranks[i - _ONE] = byte_pairs[(byte << np.uint64(8)) | following]
        byte = following
        i += _ONE


@_copied
def _merge_short(ranks: Any, size: Any, pairs: Any, marks: Any, made: Any, out: Any, n: Any) -> Any:
    """Search all ranks for the lowest, close the gap, look up the two new neighbours."""
    left = size
    while True:
        lowest, at, i = _NONE, _ZERO, _ZERO
        while i + _ONE < left:
            if ranks[i] < lowest:
                lowest, at = ranks[i], i
            i += _ONE
        if lowest == _NONE:
            break
        left -= _ONE
        token = made[lowest]
        out[n + at] = token
        i = at + _ONE
        while i < left:
            out[n + i], ranks[i] = out[n + i + _ONE], ranks[i + _ONE]
            i += _ONE
        if at + _ONE < left:
            ranks[at] = _rank_of(pairs, marks, token, out[n + at + _ONE])
        if at > _ZERO:
            ranks[at - _ONE] = _rank_of(pairs, marks, out[n + at - _ONE], token)
    return left


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
    """Note a new pair's rank, and put it into the heap if it is a merge; returns the heap's size."""
    ranks[at] = rank
    if rank == _NONE:
        return size
    _push(heap, size, (np.uint64(rank) << _HALF) | np.uint64(at))
    return size + 1


@compiled
def _merge_long(ranks: Any, length: Any, pairs: Any, marks: Any, made: Any, ids: Any) -> int:
    """A heap of ``rank << 32 | position``, and links over the ids that were merged away."""
    after = np.arange(1, length + 1).astype(np.uint32)
    before = np.arange(-1, length - 1).astype(np.int32)
    # A merge takes one entry or more out and puts two in: never more than two per byte.
    heap = np.empty(2 * length + 2, np.uint64)
    size = 0
    for i in range(length):
        if ranks[i] != _NONE:
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
        ranks[end] = ranks[at] = _NONE
        if following < length:
            before[following] = at
            size = _offer(ranks, at, _rank_of(pairs, marks, token, ids[following]), heap, size)
        previous = before[at]
        if previous >= 0:
            size = _offer(ranks, previous, _rank_of(pairs, marks, ids[previous], token), heap, size)
    written, at = 0, np.int64(0)
    while at < length:
        ids[written] = ids[at]
        written += 1
        at = np.int64(after[at])
    return written
