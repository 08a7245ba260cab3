"""The merges of one chunk, compiled: what :func:`..encode.merge_ids` does, on machine words.

Importing this file needs numba. A pair's *value* is ``rank << 32 | made id``, so that the smallest value
is the lowest rank and says at once what the merge makes; ``NONE`` is above all of them. Ids are merged in
place in the output, which has room for one id per byte.

All whole numbers are kept unsigned: with a signed one among them numba would compute in floats.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tokbench_plugins.bpe.jit import compiled

__all__ = ["LONGEST_SCANNED", "NONE", "enter_merges", "merge_chunk"]

NONE: Final = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
LONGEST_SCANNED: Final = 160  # bytes; above, the heap is faster

_MIX: Final = np.uint64(0x9E37_79B9_7F4A_7C15)
_HALF: Final = np.uint64(32)
_ONE: Final = np.uint64(1)
_TWO: Final = np.uint64(2)
_LOW: Final = np.uint64(0xFFFF_FFFF)


@compiled
def _slot_of(key: Any, mask: Any) -> Any:
    mixed = (key ^ (key >> _HALF)) * _MIX
    return ((mixed >> _HALF) * _TWO) & mask


@compiled
def _value_of(pairs: Any, left: Any, right: Any) -> Any:
    mask = np.uint64(len(pairs) - 1)
    key = (np.uint64(left) << _HALF) | np.uint64(right)
    slot = _slot_of(key, mask)
    while True:
        found = pairs[slot]
        if found == key:
            return pairs[slot + _ONE]
        if found == NONE:
            return NONE
        slot = (slot + _TWO) & mask


@compiled
def enter_merges(merges: Any, byte_ids: Any, pairs: Any, byte_pairs: Any) -> None:
    """Fill the tables in which :func:`merge_chunk` looks pairs up.

    Args:
        merges: int64[merges, 3], left, right and made id in order of rank, no pair twice.
        byte_ids: uint32[256], the id of each byte.
        pairs: uint64[2 * slots] of ``NONE``, gets key and value by turns; the number of slots is a power
            of two above that of the merges.
        byte_pairs: uint64[65536], gets the value of each pair of bytes.
    """
    mask = np.uint64(len(pairs) - 1)
    for rank in range(len(merges)):
        key = (np.uint64(merges[rank, 0]) << _HALF) | np.uint64(merges[rank, 1])
        slot = _slot_of(key, mask)
        while pairs[slot] != NONE:
            slot = (slot + _TWO) & mask
        pairs[slot] = key
        pairs[slot + _ONE] = (np.uint64(rank) << _HALF) | np.uint64(merges[rank, 2])
    for pair in range(len(byte_pairs)):
        byte_pairs[pair] = _value_of(pairs, byte_ids[pair >> 8], byte_ids[pair & 255])


@compiled
def merge_chunk(data: Any, start: Any, length: Any, byte_ids: Any, byte_pairs: Any, pairs: Any, out: Any) -> Any:
    """Write the ids of one chunk.

    Args:
        data: uint8[n], where the chunk lies.
        start: its first byte.
        length: how many bytes it has; at least 1.
        byte_ids: uint32[256], the id of each byte.
        byte_pairs: uint64[65536], the value of each pair of bytes.
        pairs: see :func:`enter_merges`.
        out: uint32[length or more].

    Returns:
        How many ids were written.
    """
    for i in range(length):
        out[i] = byte_ids[data[start + i]]
    if length == 1:
        return 1
    values = np.empty(length, np.uint64)
    for i in range(length - 1):
        values[i] = byte_pairs[(np.uint64(data[start + i]) << np.uint64(8)) | np.uint64(data[start + i + 1])]
    values[length - 1] = NONE
    if length <= LONGEST_SCANNED:
        return _merge_short(values, length, pairs, out)
    return _merge_long(values, length, pairs, out)


@compiled
def _merge_short(values: Any, size: Any, pairs: Any, out: Any) -> Any:
    """Search all values for the lowest, close the gap, look up the two new neighbours."""
    while True:
        lowest, at = NONE, 0
        for i in range(size - 1):
            if values[i] < lowest:
                lowest, at = values[i], i
        if lowest == NONE:
            return size
        size -= 1
        made = np.uint32(lowest & _LOW)
        out[at] = made
        for i in range(at + 1, size):
            out[i] = out[i + 1]
            values[i] = values[i + 1]
        values[at] = _value_of(pairs, made, out[at + 1]) if at + 1 < size else NONE
        if at:
            values[at - 1] = _value_of(pairs, out[at - 1], made)


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
def _offer(values: Any, at: Any, value: Any, heap: Any, size: Any) -> Any:
    """Note a new pair's value, and put it into the heap if it is a merge; returns the heap's size."""
    values[at] = value
    if value == NONE:
        return size
    _push(heap, size, (value >> _HALF << _HALF) | np.uint64(at))
    return size + 1


@compiled
def _merge_long(values: Any, length: Any, pairs: Any, out: Any) -> Any:
    """A heap of ``rank << 32 | position``, and links over the ids that were merged away."""
    after = np.arange(1, length + 1).astype(np.uint32)
    before = np.arange(-1, length - 1).astype(np.int32)
    # A merge takes one entry or more out and puts two in: never more than two per byte.
    heap = np.empty(2 * length + 2, np.uint64)
    size = 0
    for i in range(length):
        if values[i] != NONE:
            heap[size] = (values[i] >> _HALF << _HALF) | np.uint64(i)
            size += 1
    for i in range((size - 2) >> 2, -1, -1):
        _sink(heap, size, i, heap[i])
    while size:
        entry = heap[0]
        size -= 1
        _sink(heap, size, 0, heap[size])
        at = np.int64(entry & _LOW)
        value = values[at]
        if value == NONE or value >> _HALF != entry >> _HALF:
            continue  # another merge has taken one of the halves
        made = np.uint32(value & _LOW)
        end = np.int64(after[at])
        following = np.int64(after[end])
        out[at] = made
        after[at] = following
        values[end] = values[at] = NONE
        if following < length:
            before[following] = at
            size = _offer(values, at, _value_of(pairs, made, out[following]), heap, size)
        previous = before[at]
        if previous >= 0:
            size = _offer(values, previous, _value_of(pairs, out[previous], made), heap, size)
    written, at = 0, np.int64(0)
    while at < length:
        out[written] = out[at]
        written += 1
        at = np.int64(after[at])
    return written
