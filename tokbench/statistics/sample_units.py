"""The sampling units of a jackknife: documents, or many whose hashes end alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_UNITS: Final = 256

_HASH_BITS: Final = 32
_FEWEST_BITS: Final = 8
_STRATA: Final = (1 << 29) - 1
_HASH: Final = (1 << _HASH_BITS) - 1


class Placed(NamedTuple):
    """Units, and int64[d], the index of the unit of each document (or former unit)."""

    units: SampleUnits
    places: NDArray[np.int64]


class Joined(NamedTuple):
    """The units of two samples together."""

    units: SampleUnits
    one: NDArray[np.int64]
    """For each unit of the first sample its index in ``units``; ``other`` likewise."""
    other: NDArray[np.int64]


@dataclass(eq=False)
class SampleUnits:
    """The documents of a sample by hash and stratum; a jackknife leaves out one unit after the other.

    A unit is all documents of a stratum whose hashes have the same last bits: all 32 bits while a stratum has at most
    256 units, and as many bits as fit otherwise.

    >>> one = SampleUnits.of(np.array([7, 9, 7]))
    >>> one.units.keys.tolist(), one.units.documents.tolist(), one.places.tolist()
    ([7, 9], [2, 1], [0, 1, 0])
    """

    keys: NDArray[np.int64]
    """int64[u], rising: the stratum, and below it 32 bits for the hash."""
    documents: NDArray[np.int64]
    bits: int = _HASH_BITS
    """The last bits of the hash by which units differ."""

    def __len__(self) -> int:
        return len(self.keys)

    @classmethod
    def of(cls, keys: NDArray[np.int64]) -> Placed:
        distinct, places, documents = np.unique(keys, return_inverse=True, return_counts=True)
        distinct = distinct.astype(np.int64)  # not the type object that came with the keys: units are pickled alike
        fitting = cls(distinct, documents.astype(np.int64)).fitting()
        return Placed(fitting.units, fitting.places[places])

    @classmethod
    def numbered(cls, units: int) -> SampleUnits:
        return cls(np.arange(units), np.ones(units, dtype=np.int64), max(5, (units - 1).bit_length()))

    @property
    def strata(self) -> NDArray[np.int64]:
        return self.keys >> _HASH_BITS

    def joined(self, other: SampleUnits) -> Joined:
        """Return the units of both samples together.

        >>> both = SampleUnits.of(np.array([7, 9])).units.joined(SampleUnits.of(np.array([8, 9])).units)
        >>> both.units.keys.tolist(), both.units.documents.tolist(), both.one.tolist(), both.other.tolist()
        ([7, 8, 9], [1, 1, 2], [0, 2], [1, 2])
        """
        if self.bits == other.bits and np.array_equal(self.keys, other.keys):
            same = np.arange(len(self.keys))
            return Joined(SampleUnits(self.keys, self.documents + other.documents, self.bits), same, same)
        bits = min(self.bits, other.bits)
        parts = self.with_bits(bits), other.with_bits(bits)
        keys = np.union1d(parts[0].units.keys, parts[1].units.keys)
        at = [np.searchsorted(keys, part.units.keys)[part.places] for part in parts]
        documents = _added(at[0], self.documents, len(keys)) + _added(at[1], other.documents, len(keys))
        fitting = SampleUnits(keys, documents, bits).fitting()
        return Joined(fitting.units, fitting.places[at[0]], fitting.places[at[1]])

    def last_bits(self, bits: int) -> NDArray[np.int64]:
        """Return int64[u], the last bits of the hash of each unit; raise a ValueError if fewer are known."""
        if bits > self.bits:
            raise ValueError(f"of these units {self.bits} bits are known, not {bits}")
        return self.keys & ((1 << bits) - 1)

    def with_bits(self, bits: int) -> Placed:
        if bits == self.bits:
            return Placed(self, np.arange(len(self.keys)))
        kept = ~_HASH | ((1 << bits) - 1)
        keys, places = np.unique(self.keys & kept, return_inverse=True)
        return Placed(SampleUnits(keys, _added(places, self.documents, len(keys)), bits), places)

    def fitting(self) -> Placed:
        if not self.crowded():
            return Placed(self, np.arange(len(self.keys)))
        best = self.with_bits(min(_FEWEST_BITS, self.bits))
        for bits in range(_FEWEST_BITS + 1, self.bits):
            finer = self.with_bits(bits)
            if finer.units.crowded():
                break
            best = finer
        return best

    def crowded(self) -> bool:
        if len(self.keys) <= MOST_UNITS:
            return False
        ends = np.flatnonzero(np.diff(self.strata)) + 1
        return int(np.diff(ends, prepend=0, append=len(self.keys)).max()) > MOST_UNITS


def unit_keys(hashes: NDArray[np.int64], group_hash: int | None) -> NDArray[np.int64]:
    """Return int64[d], the unit key of each document from its stratum and 32-bit hash.

    ``group_hash`` is the 32-bit hash of the stratum; ``None`` for parallel groups, whose translations are one unit.

    >>> unit_keys(np.array([3]), None).tolist(), unit_keys(np.array([3]), 0).tolist()
    ([3], [4294967299])
    """
    stratum = 0 if group_hash is None else 1 + (group_hash & _STRATA)
    return hashes | stratum << _HASH_BITS


def _added(places: NDArray[np.int64], values: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    return np.bincount(places, values, size).astype(np.int64)
