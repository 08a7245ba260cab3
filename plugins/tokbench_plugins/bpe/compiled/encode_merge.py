"""The merges of chunks, compiled: what :func:`..fast.encode.merge_ids` does, several chunks at a time.

Importing this file needs numba. All integers in tables are unsigned: with a signed one among them numba would
compute in floats.

**Ranks of pairs** stand in a perfect hash table, so that no look-up takes a branch. Every merge has a slot of its
own. The slot depends on the pair and on the displacement of the bucket that the pair falls into, a small number
that is found by trial when the table is made. A look-up reads two words, one of a small table and one of a large
one. A search along slots, however short, ends where the processor cannot predict, and costs more.

**First merges.** About half of all merges of a chunk join two bytes, and most of these are certain at once: all merges
that could take one of the two bytes, with what ends in the byte before or begins with the byte behind, come later.
See :func:`byte_pairs`. They are done while the chunk is read.

**Short chunks** are merged :data:`LANES` at a time, one merge each in turn. A merge depends on the one before it
and mostly waits: for a word of a table, for the lowest rank. So the processor works on one chunk while another
waits. A turn has no branches but the one at the end of a chunk. A lane is a stretch of :data:`STRIDE` entries of
four arrays, in which places are counted from 1:

- ``tokens``: the ids; before the first and behind the last one an id that merges with nothing;
- ``after`` and ``before``: the places of the neighbours, since merged ids leave gaps;
- ``keys``: ``rank << 8 | place`` of each pair, at the place of its left half. The lowest is the next merge,
  of one rank the leftmost. Place 0 has no pair and takes what would be written for it.

**Long chunks** have a heap of possible merges, and links over the gaps. The time of a merge grows with the
logarithm of the length, so a text of one letter, or without spaces, is no slower than others.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tokbench.plugin import compiled
from tokbench_plugins.bpe.compiled.hashing import hash_of
from tokbench_plugins.bpe.compiled.intrinsics import HALF_VECTOR, VECTOR, lowest_of_half, lowest_of_vector
from tokbench_plugins.bpe.vocabulary import FIRST_MERGE, Vocabulary

NO_RANK: Final = np.uint32(0xFFFF_FFFF)
"""A rank above all others: no merge."""

HIGHEST_ID: Final = (1 << 21) - 1
"""No id is as high: left, right and rank fit into a word."""

PAIRS_VERSION: Final = 1
"""It goes up when :func:`pair_tables` makes other tables of the same merges."""

_DOUBLINGS: Final = 5
_LEAST: Final = 1 << 12
"""Slots: with fewer, two pairs of a bucket have the same slot and the same step every few thousand vocabularies."""

_FREE: Final = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_ID_BITS: Final = np.uint64(21)
_RANK: Final = np.uint64((1 << 21) - 1)
_ONE: Final = np.uint64(1)
_STEP: Final = np.uint64(3)  # from these bits on the hash says the step, ...
_BUCKET: Final = np.uint64(24)  # ... the bucket ...
_SLOT: Final = np.uint64(40)  # ... and the slot, which are hardly the same bits
_HALF: Final = np.uint64(32)
_LOW: Final = np.uint64(0xFFFF_FFFF)
_DISPLACEMENTS: Final = 1 << 16


# A call costs as much as a merge, so numba copies these small functions to where they are called.
_copied = njit(inline="always")


@_copied
def _hash(left: Any, right: Any) -> tuple[Any, Any]:
    """Return the pair as one number, and its hash."""
    key = (np.uint64(left) << _ID_BITS) | np.uint64(right)
    return key, hash_of(key)


@_copied
def _slot(mixed: Any, displacement: Any, size: Any) -> Any:
    """Return the slot; two pairs of the same slot have different steps, so the next displacement parts them."""
    return ((mixed >> _SLOT) + displacement * ((mixed >> _STEP) | _ONE)) & np.uint64(size - 1)


@_copied
def rank_of(pairs: Any, displacements: Any, left: Any, right: Any) -> Any:
    """Return the rank of a pair of ids, ``NO_RANK`` if it is not a merge."""
    key, mixed = _hash(left, right)
    bucket = (mixed >> _BUCKET) & np.uint64(len(displacements) - 1)
    word = pairs[_slot(mixed, np.uint64(displacements[bucket]), len(pairs))]
    return np.uint32(word & _RANK) if word >> _ID_BITS == key else NO_RANK


def pair_tables(merges: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.uint16]]:
    """Return the tables in which :func:`rank_of` looks pairs up.

    Args:
        merges: int64[merges, 3 or more], left id, right id and rank, no pair twice; all are below :data:`HIGHEST_ID`.

    Returns:
        uint64[slots], pairs with their ranks; uint16[buckets], their displacements.

    Raises:
        ValueError: pairs collide as they only do on purpose.

    >>> pairs, displacements = pair_tables(np.array([[97, 98, 0], [256, 99, 1]]))
    >>> [int(rank_of(pairs, displacements, *pair)) for pair in ((97, 98), (256, 99))]
    [0, 1]
    """
    size = max(_LEAST, 1 << (5 * len(merges) // 4).bit_length())
    buckets = 1 << (len(merges) // 4).bit_length()
    for _ in range(_DOUBLINGS):
        pairs = np.full(size, _FREE, np.uint64)
        displacements = np.zeros(buckets, np.uint16)
        if _enter(merges, pairs, displacements):
            return pairs, displacements
        size, buckets = 2 * size, 2 * buckets
    raise ValueError(f"the {len(merges)} pairs of ids that are merged cannot be told apart by their hash")


@compiled
def _enter(merges: Any, pairs: Any, displacements: Any) -> bool:
    """Fill the tables, the fullest buckets first; whether all found a place."""
    keys, mixed = np.empty(len(merges), np.uint64), np.empty(len(merges), np.uint64)
    buckets = np.empty(len(merges), np.int64)
    sizes = np.zeros(len(displacements), np.int64)
    for k in range(len(merges)):
        keys[k], mixed[k] = _hash(merges[k, 0], merges[k, 1])
        buckets[k] = np.int64((mixed[k] >> _BUCKET) & np.uint64(len(displacements) - 1))
        sizes[buckets[k]] += 1
    members = np.argsort(buckets)
    ends = np.cumsum(sizes)
    for bucket in np.argsort(-sizes):
        some = members[ends[bucket] - sizes[bucket] : ends[bucket]]
        displacement = 0
        while not _place(some, merges, keys, mixed, displacement, pairs):
            displacement += 1
            if displacement == _DISPLACEMENTS:
                return False
        displacements[bucket] = displacement
    return True


@compiled
def _place(some: Any, merges: Any, keys: Any, mixed: Any, displacement: Any, pairs: Any) -> bool:
    """Enter the merges of a bucket, all of them or none."""
    for placed in range(len(some)):
        slot = _slot(mixed[some[placed]], np.uint64(displacement), len(pairs))
        if pairs[slot] != _FREE:
            for k in some[:placed]:
                pairs[_slot(mixed[k], np.uint64(displacement), len(pairs))] = _FREE
            return False
        pairs[slot] = (keys[some[placed]] << _ID_BITS) | np.uint64(merges[some[placed], 2])
    return True


def byte_pairs(vocabulary: Vocabulary, merges: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Return what merging has to know of two bytes side by side.

    Args:
        vocabulary: the tokens and merges.
        merges: int64[merges, 4], left id, right id, rank and the id that is made.

    Returns:
        uint32[4 * 65536], at ``4 * (256 * a + b)`` for the bytes ``a`` and ``b``: the rank of their merge; the lowest
        rank that merges a token ending in ``a`` with ``b`` alone, and ``a`` alone with a token that begins with
        ``b``; and the id that their merge makes. ``NO_RANK`` where there is no merge.

    If the merge of two bytes has a lower rank than the second number of the pair before and the third of the pair
    behind, then no other merge can take one of the bytes first. Where a merge of lower rank takes what they make, the
    second and third numbers beside them are 0, and such a merge is left to its turn.

    >>> vocabulary = Vocabulary.trained([(98, 99), (97, 98), (97, 256)])
    >>> ranked = np.array([[98, 99, 0, 256], [97, 98, 1, 257], [97, 256, 2, 258]])
    >>> byte_pairs(vocabulary, ranked)[4 * (256 * 97 + 98) :][:4].tolist()
    [1, 1, 1, 257]
    """
    table = np.full((FIRST_MERGE, FIRST_MERGE, 4), NO_RANK, np.uint32)
    byte_of = np.full(len(vocabulary.tokens), -1, np.int64)
    byte_of[list(vocabulary.byte_ids)] = np.arange(FIRST_MERGE)
    left, right, ranks, made = merges.T
    first, second = byte_of[left], byte_of[right]
    both = (first >= 0) & (second >= 0)
    table[first[both], second[both], 0] = ranks[both]
    table[first[both], second[both], 3] = made[both]
    for column, alone, others, end in ((1, second, left, -1), (2, first, right, 0)):
        some = np.flatnonzero(alone >= 0)
        ends = np.array([vocabulary.tokens[token_id][end] for token_id in others[some].tolist()], np.int64)
        places = (ends, alone[some]) if column == 1 else (alone[some], ends)
        np.minimum.at(table[:, :, column], places, ranks[some].astype(np.uint32))
    taken = np.full(len(vocabulary.tokens), int(NO_RANK), np.int64)  # the lowest rank that takes an id
    for half in (left, right):
        np.minimum.at(taken, half, ranks)
    early = both & (taken[made] <= ranks)
    table[:, first[early], 1] = 0
    table[second[early], :, 2] = 0
    return table.ravel()


LANES: Final = 8
STRIDE: Final = np.uint64(256)
LONGEST_SCANNED: Final = np.uint64(223)
"""Bytes of the longest chunk that fits into a lane, with place 0 and the vectors that are looked at."""

_NO_KEY: Final = np.uint32(0xFFFF_FFFF)
_VECTOR, _HALF_VECTOR = np.uint64(VECTOR), np.uint64(HALF_VECTOR)
_ZERO, _TWO, _THREE, _FOUR, _EIGHT = (np.uint64(number) for number in (0, 2, 3, 4, 8))
_PLACE: Final = np.uint64(255)
_DONE: Final = -2  # instead of a chunk's number: nothing is left to do in this lane; -1 is before the first


@compiled
def lanes() -> Any:
    """Make room for lanes: ``(keys, tokens, after, before)``."""
    size = LANES * STRIDE
    return np.empty(size, np.uint32), np.empty(size, np.uint32), np.empty(size, np.uint8), np.empty(size, np.uint8)


@_copied
def _key(rank: Any, place: Any) -> Any:
    return np.uint32((np.uint64(rank) << _EIGHT) | place) if rank != NO_RANK else _NO_KEY


@_copied
def _fill_tokens(tokens: Any, lane: Any, data: Any, start: Any, length: Any, byte_ids: Any, byte_pairs: Any) -> Any:
    """Write the ids of a chunk's bytes, after the first merges that are certain; returns how many ids these are."""
    count: Any = _ONE
    byte, following = np.uint64(data[start]), np.uint64(data[start + _ONE])
    pair = ((byte << _EIGHT) | following) * _FOUR
    left, merged = NO_RANK, False
    at = start + _TWO
    end = start + length
    while at <= end:
        after = np.uint64(data[at])
        next_pair = ((following << _EIGHT) | after) * _FOUR
        right = byte_pairs[next_pair + _TWO] if at < end else NO_RANK
        rank = byte_pairs[pair]
        certain = rank < min(left, right)
        tokens[lane + count] = byte_pairs[pair + _THREE] if certain else byte_ids[byte]
        count += _ZERO if merged else _ONE
        merged, left = certain, byte_pairs[pair + _ONE]
        pair, byte, following = next_pair, following, after
        at += _ONE
    tokens[lane + count] = byte_ids[byte]
    return count - _ONE if merged else count


@_copied
def _fill(
    lane: Any,
    data: Any,
    start: Any,
    length: Any,
    byte_ids: Any,
    byte_pairs: Any,
    pairs: Any,
    displacements: Any,
    keys: Any,
    tokens: Any,
    after: Any,
    before: Any,
) -> Any:
    """Write a chunk's first ids and the ranks of their pairs, and return how many ids there are."""
    count = _fill_tokens(tokens, lane, data, start, length, byte_ids, byte_pairs)
    tokens[lane] = tokens[lane + count + _ONE] = HIGHEST_ID
    place: Any
    for place in range(count + _TWO):
        after[lane + place] = place + _ONE
        before[lane + place] = place - _ONE
    keys[lane] = _NO_KEY
    place = _ONE
    while place < count:
        rank = rank_of(pairs, displacements, tokens[lane + place], tokens[lane + place + _ONE])
        keys[lane + place] = _key(rank, place)
        place += _ONE
    end = _end_of(lane, count)
    while lane + place < end:
        keys[lane + place] = _NO_KEY
        place += _ONE
    return count


@_copied
def _end_of(lane: Any, count: Any) -> Any:
    """Return where the vectors end that have the keys of so many ids."""
    return lane + _HALF_VECTOR + (count + _VECTOR - _HALF_VECTOR) // _VECTOR * _VECTOR


@_copied
def _lowest(keys: Any, lane: Any, end: Any) -> Any:
    lowest = lowest_of_half(keys, lane)
    at = lane + _HALF_VECTOR
    while at < end:  # most chunks have no second vector
        lowest = min(lowest, lowest_of_vector(keys, at))
        at += _VECTOR
    return lowest


@_copied
def _merge(
    lane: Any, place: Any, token: Any, pairs: Any, displacements: Any, keys: Any, tokens: Any, after: Any, before: Any
) -> None:
    """Do one merge, and look up the ranks of the two new pairs."""
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
def _empty(lane: Any, size: Any, tokens: Any, after: Any, ids: Any, start: Any) -> Any:
    """Write the ids that are left; returns how many there are."""
    count, place = _ZERO, _ONE
    while place <= size:
        ids[start + count] = tokens[lane + place]
        count += _ONE
        place = np.uint64(after[lane + place])
    return count


@compiled
def merge_chunks(
    data: Any, starts: Any, lengths: Any, chunks: Any, merging: Any, room: Any, ids: Any, counts: Any
) -> None:
    """Write the ids of some chunks one behind the other, each with as much room as it has bytes.

    Args:
        data: uint8[bytes], where the chunks lie.
        starts: uint64[chunks or more], their first bytes.
        lengths: uint64[chunks or more], how many bytes they have; at least 1, at most ``LONGEST_SCANNED``.
        chunks: how many there are.
        merging: uint32[256], the id of each byte; uint32[4 * 65536], see :func:`.byte_pairs`; the two arrays of
            :func:`pair_tables`; uint32[ranks], the id that the merge of each rank makes; whether that is the rank.
        room: see :func:`lanes`.
        ids: uint32[bytes of all chunks], gets the ids of each chunk, behind the room of the one before it.
        counts: uint64[chunks or more], gets how many ids each chunk has.
    """
    byte_ids, byte_pairs, pairs, displacements, made, ranks_are_ids = merging
    keys, tokens, after, before = room
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
                token = np.uint32(rank) if ranks_are_ids else made[rank]
                _merge(lane, np.uint64(lowest) & _PLACE, token, pairs, displacements, keys, tokens, after, before)
                continue
            chunk = chunk_in[number]
            if chunk >= 0:
                counts[chunk] = _empty(lane, size_of[number], tokens, after, ids, place_of[number])
            if entered < chunks:
                start, length = starts[entered], lengths[entered]
                size_of[number] = _fill(
                    lane, data, start, length, byte_ids, byte_pairs, pairs, displacements, keys, tokens, after, before
                )
                end_of[number] = _end_of(lane, size_of[number])
                chunk_in[number], place_of[number] = entered, place
                place += lengths[entered]
                entered += 1
            elif chunk != _DONE:
                chunk_in[number] = _DONE
                working -= 1


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
    """Write the rank of a new pair, put it into the heap if it is a merge, and return the size of the heap."""
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
            ranks[i - 1] = byte_pairs[np.int64(data[start + i - 1]) << 10 | np.int64(data[start + i]) << 2]
    return ranks


@_copied
def merge_by_heap(ids: Any, ranks: Any, length: Any, pairs: Any, pair_ranks: Any, made: Any, rank_of_pair: Any) -> int:
    """Merge the first ``length`` of some ids in place; returns how many are left.

    Args:
        ids: ids of any integer type.
        ranks: uint32[length], the rank of each pair by the place of its left half; used up.
        length: how many ids there are.
        pairs: where ``rank_of_pair`` looks pairs up.
        pair_ranks: its second table.
        made: for each rank, the id that the merge makes.
        rank_of_pair: such a function as :func:`rank_of`.
    """
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
        token = made[rank]
        end = np.int64(after[at])
        following = np.int64(after[end])
        ids[at] = token
        after[at] = following
        ranks[end] = ranks[at] = NO_RANK
        if following < length:
            before[following] = at
            size = _offer(ranks, at, rank_of_pair(pairs, pair_ranks, token, ids[following]), heap, size)
        previous = before[at]
        if previous >= 0:
            size = _offer(ranks, previous, rank_of_pair(pairs, pair_ranks, ids[previous], token), heap, size)
    written, at = 0, np.int64(0)
    while at < length:
        ids[written] = ids[at]
        written += 1
        at = np.int64(after[at])
    return written


@compiled
def merge_long_chunk(data: Any, start: Any, length: Any, merging: Any, ids: Any) -> int:
    """Write the ids of one chunk to ``ids``, which has room for one per byte; returns how many there are.

    The other arguments are those of :func:`merge_chunks`.
    """
    byte_ids, byte_pairs, pairs, displacements, made, _ = merging
    ranks = _first_ranks(data, start, length, byte_ids, byte_pairs, ids)
    return merge_by_heap(ids, ranks, length, pairs, displacements, made, rank_of)
