"""Counts of ids: tables of counts by jackknife group, and the entropy of counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.shards import BUCKET_BITS, BUCKETS
from tokbench.measuring.encoded_shard import EncodedShard, differs_from_previous
from tokbench.tokenizers.batch import vocab_size_of

Key = TypeVar("Key", np.int64, np.uint64, np.unsignedinteger[Any])

DEPENDS_ON_AMOUNT: Final = "it depends on the amount of text, which leaving out documents changes"
"""The reason why shares and evenness of a vocabulary have no interval."""

_FEW: Final = 16
_WAITING: Final = 1 << 18


def renyi_entropy(counts: NDArray[np.int64], alpha: float) -> float:
    """Return the Rényi entropy of order alpha in bits; at 1 it is Shannon's.

    H_α = log2(Σ p^α) / (1 - α); at α = 1 its limit -Σ p log2 p (Rényi 1961).

    >>> counts = np.array([4, 2, 1, 1])
    >>> renyi_entropy(counts, 1.0), round(renyi_entropy(counts, 2.5), 3)
    (1.75, 1.46)
    """
    p = counts / counts.sum()
    if alpha == 1:
        return float(-(p * np.log2(p)).sum())
    return float(np.log2((p**alpha).sum()) / (1 - alpha))


def add_counts(
    keys: NDArray[Key], counts: NDArray[np.int64], other_keys: NDArray[Key], other_counts: NDArray[np.int64]
) -> tuple[NDArray[Key], NDArray[np.int64]]:
    """Add two tables of counts, each with no key twice; the keys of the sum rise.

    >>> keys, counts = add_counts(*map(np.array, ([1, 3], [10, 30], [2, 3], [5, 5])))
    >>> keys.tolist(), counts.tolist()
    ([1, 2, 3], [10, 5, 35])
    """
    return _sum_of_counts([keys, other_keys], [counts, other_counts])


def _sum_of_counts(
    keys: Sequence[NDArray[Key]], counts: Sequence[NDArray[np.integer[Any]]]
) -> tuple[NDArray[Key], NDArray[np.int64]]:
    most = max(int(some.max(initial=0)) for some in keys)
    if most < _FEW * sum(map(len, keys)):  # faster than sorting
        largest = sum(int(some.max(initial=0)) for some in counts)
        table: NDArray[Any] = np.zeros(most + 1, dtype=np.uint32 if largest <= np.iinfo(np.uint32).max else np.int64)
        for some, amounts in zip(keys, counts, strict=True):
            table[some] += amounts.astype(table.dtype, copy=False)
        present = np.flatnonzero(table != 0)  # of numbers it takes three times as long
        return present.astype(np.result_type(*keys)), table[present].astype(np.int64)
    every, amounts = np.concatenate(keys), np.concatenate(counts).astype(np.int64, copy=False)
    order = np.argsort(every, kind="stable")  # which merges tables whose keys rise
    every = every[order]
    starts = np.flatnonzero(differs_from_previous(every))
    return every[starts], np.add.reduceat(amounts[order], starts) if len(starts) else amounts


class CountTable(NamedTuple):
    """The number of occurrences of keys, for those that occur."""

    keys: NDArray[np.unsignedinteger[Any]]
    """uint32[k] or uint64[k], each once: ids, or ids with a jackknife group as ``id * BUCKETS + group``."""
    counts: NDArray[np.unsignedinteger[Any]]
    """unsigned[k], above 0."""

    @classmethod
    def of(cls, keys: NDArray[Any], counts: NDArray[Any]) -> CountTable:
        """Return a table in the types that take the least memory.

        >>> [column.dtype.name for column in CountTable.of(np.array([33, 65]), np.array([5, 700]))]
        ['uint32', 'uint16']
        """
        highest = int(keys.max(initial=0))
        kind = np.uint32 if highest <= np.iinfo(np.uint32).max else np.uint64
        return cls(keys.astype(kind), counts.astype(np.min_scalar_type(int(counts.max(initial=0)))))

    @property
    def highest(self) -> int:
        return int(self.keys.max(initial=0))


class GroupedCountTable(NamedTuple):
    """A :class:`CountTable` of ids and jackknife groups that takes less memory where ids are in many groups."""

    ids: NDArray[np.unsignedinteger[Any]]
    """uint32[i] or uint64[i], rising."""
    groups: NDArray[np.uint32]
    """uint32[i]; bit ``k`` is set if the id occurs in the jackknife group ``k``."""
    counts: NDArray[np.unsignedinteger[Any]]
    """unsigned[k], above 0, id after id and group after group."""

    @classmethod
    def of(cls, table: CountTable) -> GroupedCountTable:
        """Return a table whose keys rise in its compact form.

        >>> table = GroupedCountTable.of(CountTable.of(np.array([32, 35, 64]), np.array([5, 1, 7])))
        >>> [column.tolist() for column in table], table.keys.tolist()
        ([[1, 2], [9, 1], [5, 1, 7]], [32, 35, 64])
        """
        ids: NDArray[Any] = table.keys >> BUCKET_BITS
        starts = np.flatnonzero(differs_from_previous(ids))
        bits = np.uint32(1) << (table.keys & (BUCKETS - 1)).astype(np.uint32)
        return cls(ids[starts], np.bitwise_or.reduceat(bits, starts) if len(starts) else bits, table.counts)

    @property
    def keys(self) -> NDArray[Any]:
        bits = np.unpackbits(self.groups.astype("<u4").view(np.uint8), bitorder="little")
        places = np.flatnonzero(bits.view(np.bool_))
        keys: NDArray[Any] = (self.ids << BUCKET_BITS)[places >> BUCKET_BITS]
        keys += (places & (BUCKETS - 1)).astype(keys.dtype)
        return keys

    @property
    def highest(self) -> int:
        return (int(self.ids.max(initial=0)) << BUCKET_BITS) + BUCKETS - 1


AnyCountTable: TypeAlias = CountTable | GroupedCountTable


def add_tables(one: Sequence[AnyCountTable], other: Sequence[AnyCountTable]) -> tuple[AnyCountTable, ...]:
    """Return tables with the same sum. Small tables wait, so that each count is moved only a few times."""
    tables = sorted([*one, *other], key=lambda table: -len(table.counts))
    size, largest = sum(len(table.counts) for table in tables), len(tables[0].counts)
    waiting = size - largest
    if waiting > largest and (waiting > _WAITING or max(table.highest for table in tables) < _FEW * size):
        return (join_tables(tables),)
    return tuple(tables)


def join_tables(tables: Sequence[AnyCountTable]) -> CountTable:
    """Return the sum of some tables; its keys rise.

    >>> one, other = CountTable.of(np.array([7, 3]), np.array([1, 2])), CountTable.of(np.array([7]), np.array([5]))
    >>> [column.tolist() for column in join_tables([one, other])]
    [[3, 7], [2, 6]]
    """
    if len(tables) == 1 and isinstance(tables[0], GroupedCountTable):
        return CountTable(tables[0].keys, tables[0].counts)
    return CountTable.of(*_sum_of_counts([table.keys for table in tables], [table.counts for table in tables]))


class TokenCounts(NamedTuple):
    """The number of occurrences of each id of a vocabulary in some documents."""

    vocab_size: int
    documents: int
    tables: tuple[AnyCountTable, ...]
    """They add up to the counts; there are several, so that adding a shard need not move all counts before."""

    @classmethod
    def of(cls, encoded: EncodedShard) -> TokenCounts:
        return cls(vocab_size_of(encoded.tokenizer), len(encoded.shard), (CountTable.of(*_counts(encoded)),))

    def __add__(self, other: TokenCounts) -> TokenCounts:  # type: ignore[override]
        tables = add_tables(self.tables, other.tables)
        if len(tables) == 1 and isinstance(tables[0], CountTable):
            tables = (GroupedCountTable.of(tables[0]),)
        return TokenCounts(self.vocab_size, self.documents + other.documents, tables)

    def joined(self) -> CountTable:
        return join_tables(self.tables)

    def total(self) -> NDArray[np.int64]:
        """Return int64[vocab_size], how often each id occurs in all documents."""
        ids = np.concatenate([table.keys >> BUCKET_BITS for table in self.tables]).astype(np.int64)
        counts = np.concatenate([table.counts for table in self.tables])
        # Sums of floating-point numbers are exact up to 2**53, and several times as fast as np.add.at.
        return np.bincount(ids, weights=counts, minlength=self.vocab_size).astype(np.int64)

    def per_bucket(self, weights: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return float64[BUCKETS], the sums of the weights (int64[vocab_size]) of tokens by jackknife group."""
        sums = np.zeros(BUCKETS)
        for table in self.tables:
            ids, buckets = table.keys >> BUCKET_BITS, table.keys & (BUCKETS - 1)
            sums += np.bincount(buckets.astype(np.int64), weights=table.counts * weights[ids], minlength=BUCKETS)
        return sums


def _counts(encoded: EncodedShard) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    buckets = np.repeat(encoded.shard.buckets, encoded.tokens)
    # Sorting is about three times as fast when a key takes four bytes.
    small = vocab_size_of(encoded.tokenizer) << BUCKET_BITS <= np.iinfo(np.uint32).max
    kind: Any = np.uint32 if small else np.uint64
    keys = (encoded.ids.astype(kind) * kind(BUCKETS)) + buckets.astype(kind)
    if (times := encoded.times) is not None:
        distinct, at = np.unique(keys, return_inverse=True)
        return distinct.astype(np.uint64), np.bincount(at, weights=times).astype(np.int64)
    keys = np.sort(keys)
    starts = np.flatnonzero(differs_from_previous(keys))
    return keys[starts].astype(np.uint64), np.diff(starts, append=len(keys))
