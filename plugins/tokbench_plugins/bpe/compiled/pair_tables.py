"""The table of the ranks of pairs of ids, compiled; imports numba.

It is a perfect hash table. The slot of a pair depends on the pair and on the displacement of its bucket, a small number
found by trial when the table is made. All integers in it are unsigned: with a signed one among them numba would compute
in floats.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tokbench.foundation.jit import compiled
from tokbench_plugins.bpe.compiled.hashing import hash_of

NO_RANK: Final = np.uint32(0xFFFF_FFFF)

HIGHEST_ID: Final = (1 << 21) - 1
"""Exclusive upper bound on ids: two ids and a rank pack into 64 bits."""

_DOUBLINGS: Final = 5
_LEAST: Final = 1 << 12
"""Slots: with fewer, pairs of a bucket may have the same slot and step."""

_FREE: Final = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_ID_BITS: Final = np.uint64(21)
_RANK: Final = np.uint64((1 << 21) - 1)
_ONE: Final = np.uint64(1)
_STEP: Final = np.uint64(3)  # from these bits on the hash says the step, ...
_BUCKET: Final = np.uint64(24)  # ... the bucket ...
_SLOT: Final = np.uint64(40)  # ... and the slot, which are hardly the same bits
_DISPLACEMENTS: Final = 1 << 16


# A call costs as much as a merge, so numba copies a small function to where it is called.
copied = njit(inline="always")


@copied
def _hash(left: Any, right: Any) -> tuple[Any, Any]:
    key = (np.uint64(left) << _ID_BITS) | np.uint64(right)
    return key, hash_of(key)


@copied
def _slot(mixed: Any, displacement: Any, size: Any) -> Any:
    return ((mixed >> _SLOT) + displacement * ((mixed >> _STEP) | _ONE)) & np.uint64(size - 1)


@copied
def rank_of(pairs: Any, displacements: Any, left: Any, right: Any) -> Any:
    """Return the rank of a pair of ids, ``NO_RANK`` if it is not a merge."""
    key, mixed = _hash(left, right)
    bucket = (mixed >> _BUCKET) & np.uint64(len(displacements) - 1)
    word = pairs[_slot(mixed, np.uint64(displacements[bucket]), len(pairs))]
    return np.uint32(word & _RANK) if word >> _ID_BITS == key else NO_RANK


class PairTables(NamedTuple):
    """The pairs with their ranks, by slot, and the displacements, by bucket."""

    pairs: NDArray[np.uint64]

    displacements: NDArray[np.uint16]


def pair_tables(merges: NDArray[np.int64]) -> PairTables:
    """Return the tables of :func:`rank_of` for int64[merges, 3 or more]: left id, right id and rank, no pair twice.

    Raises:
        ValueError: no collision-free table was found after five doublings.
    """
    size = max(_LEAST, 1 << (5 * len(merges) // 4).bit_length())
    buckets = 1 << (len(merges) // 4).bit_length()
    for _ in range(_DOUBLINGS):
        pairs = np.full(size, _FREE, np.uint64)
        displacements = np.zeros(buckets, np.uint16)
        if _enter(merges, pairs, displacements):
            return PairTables(pairs, displacements)
        size, buckets = 2 * size, 2 * buckets
    raise ValueError(f"the {len(merges)} merged pairs of ids have a hash collision")


@compiled
def _enter(merges: Any, pairs: Any, displacements: Any) -> bool:
    """Return False if a bucket has no place."""
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
    for placed in range(len(some)):
        slot = _slot(mixed[some[placed]], np.uint64(displacement), len(pairs))
        if pairs[slot] != _FREE:
            for k in some[:placed]:
                pairs[_slot(mixed[k], np.uint64(displacement), len(pairs))] = _FREE
            return False
        pairs[slot] = (keys[some[placed]] << _ID_BITS) | np.uint64(merges[some[placed], 2])
    return True
