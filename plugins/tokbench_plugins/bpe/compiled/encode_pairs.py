"""The rank of a pair of ids, compiled: a perfect hash, so that no answer takes a branch.

Importing this file needs numba. Every merge has a slot of its own. Which one depends on the pair and on the
displacement of the bucket that the pair falls into, a small number tried out when the table is made. To look
a pair up is then to read two words, one of a small table and one of a large; a search along slots, short as
it would be, ends where the processor cannot guess, and costs more.

All whole numbers of tables are kept unsigned: with a signed one among them numba would compute in floats.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tokbench_plugins.bpe.compiled.jit import compiled

__all__ = ["HIGHEST_ID", "NO_RANK", "pair_tables", "rank_of"]

NO_RANK: Final = np.uint32(0xFFFF_FFFF)
"""A rank above all others: no merge."""

HIGHEST_ID: Final = (1 << 21) - 1
"""No id is as high: left, right and rank fit into a word."""

_DOUBLINGS: Final = 5
_LEAST: Final = 1 << 12
"""Slots: with fewer, two pairs of a bucket have the same slot and the same step every few thousand vocabularies."""

_FREE: Final = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_ID_BITS: Final = np.uint64(21)
_RANK: Final = np.uint64((1 << 21) - 1)
_MIX: Final = np.uint64(0x9E37_79B9_7F4A_7C15)
_ONE: Final = np.uint64(1)
_STEP: Final = np.uint64(3)  # from these bits on the hash says the step, ...
_BUCKET: Final = np.uint64(24)  # ... the bucket ...
_SLOT: Final = np.uint64(40)  # ... and the slot, which are hardly the same bits
_HALF: Final = np.uint64(32)
_DISPLACEMENTS: Final = 1 << 16


# A call costs as much as a merge: what is small is copied to where it is called, by numba itself.
_copied = njit(inline="always")


@_copied
def _hash(left: Any, right: Any) -> tuple[Any, Any]:
    """The pair as one number, and its hash."""
    key = (np.uint64(left) << _ID_BITS) | np.uint64(right)
    mixed = key * _MIX
    return key, (mixed ^ (mixed >> _HALF)) * _MIX


@_copied
def _slot(mixed: Any, displacement: Any, size: Any) -> Any:
    """Two pairs of the same slot have different steps, and part with the next displacement."""
    return ((mixed >> _SLOT) + displacement * ((mixed >> _STEP) | _ONE)) & np.uint64(size - 1)


@_copied
def rank_of(pairs: Any, displacements: Any, left: Any, right: Any) -> Any:
    """The rank of a pair of ids, ``NO_RANK`` if it is no merge."""
    key, mixed = _hash(left, right)
    bucket = (mixed >> _BUCKET) & np.uint64(len(displacements) - 1)
    word = pairs[_slot(mixed, np.uint64(displacements[bucket]), len(pairs))]
    return np.uint32(word & _RANK) if word >> _ID_BITS == key else NO_RANK


def pair_tables(merges: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.uint16]]:
    """The tables in which :func:`rank_of` looks pairs up.

    Args:
        merges: int64[merges, 3], left, right and made id in order of rank, no pair twice; ids and ranks are
            below :data:`HIGHEST_ID`.

    Returns:
        uint64[slots], pairs with their ranks; uint16[buckets], their displacements.

    Raises:
        ValueError: pairs collide as they only do on purpose.

    >>> pairs, displacements = pair_tables(np.array([[97, 98, 256], [256, 99, 257]]))
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
    for rank in range(len(merges)):
        keys[rank], mixed[rank] = _hash(merges[rank, 0], merges[rank, 1])
        buckets[rank] = np.int64((mixed[rank] >> _BUCKET) & np.uint64(len(displacements) - 1))
        sizes[buckets[rank]] += 1
    members = np.argsort(buckets)
    ends = np.cumsum(sizes)
    for bucket in np.argsort(-sizes):
        ranks = members[ends[bucket] - sizes[bucket] : ends[bucket]]
        displacement = 0
        while not _place(ranks, keys, mixed, displacement, pairs):
            displacement += 1
            if displacement == _DISPLACEMENTS:
                return False
        displacements[bucket] = displacement
    return True


@compiled
def _place(ranks: Any, keys: Any, mixed: Any, displacement: Any, pairs: Any) -> bool:
    """Enter the merges of a bucket, all of them or none."""
    for placed in range(len(ranks)):
        slot = _slot(mixed[ranks[placed]], np.uint64(displacement), len(pairs))
        if pairs[slot] != _FREE:
            for rank in ranks[:placed]:
                pairs[_slot(mixed[rank], np.uint64(displacement), len(pairs))] = _FREE
            return False
        pairs[slot] = (keys[ranks[placed]] << _ID_BITS) | np.uint64(ranks[placed])
    return True
