"""Counts of ids: tables of counts by jackknife group, and the entropy of counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.shards import BUCKET_BITS, BUCKETS
from tokbench.measuring.encoded_shard import EncodedShard, differs_from_previous
from tokbench.tokenizers.batch import vocab_size_of

Key = TypeVar("Key", np.int64, np.uint64, np.unsignedinteger[Any])

DEPENDS_ON_AMOUNT: Final = "it depends on the amount of text, which leaving out documents changes"
"""The reason why shares and evenness of a vocabulary have no interval."""


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
    return _counted(np.concatenate([keys, other_keys]), np.concatenate([counts, other_counts]))


def _counted(keys: NDArray[Key], amounts: NDArray[np.integer[Any]]) -> tuple[NDArray[Key], NDArray[np.int64]]:
    order = np.argsort(keys, kind="stable")  # which merges tables whose keys rise
    keys = keys[order]
    starts = np.flatnonzero(differs_from_previous(keys))
    sums: NDArray[np.int64] = amounts[order].astype(np.int64, copy=False)
    if len(starts):
        sums = np.add.reduceat(sums, starts)
    return keys[starts], sums


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


def add_tables(one: Sequence[CountTable], other: Sequence[CountTable]) -> tuple[CountTable, ...]:
    """Return tables with the same sum. Small tables wait, so that each count is moved only a few times."""
    tables = (*one, *other)
    sizes = [len(table.counts) for table in tables]
    return (join_tables(tables),) if sum(sizes) > 2 * max(sizes) else tables


def join_tables(tables: Sequence[CountTable]) -> CountTable:
    """Return the sum of some tables; its keys rise.

    >>> one, other = CountTable.of(np.array([7, 3]), np.array([1, 2])), CountTable.of(np.array([7]), np.array([5]))
    >>> [column.tolist() for column in join_tables([one, other])]
    [[3, 7], [2, 6]]
    """
    keys, counts = (np.concatenate(columns) for columns in zip(*tables, strict=True))
    return CountTable.of(*_counted(keys, counts))


class TokenCounts(NamedTuple):
    """The number of occurrences of each id of a vocabulary in some documents."""

    vocab_size: int
    documents: int
    tables: tuple[CountTable, ...]
    """They add up to the counts; there are several, so that adding a shard need not move all counts before."""

    @classmethod
    def of(cls, encoded: EncodedShard) -> TokenCounts:
        return cls(vocab_size_of(encoded.tokenizer), len(encoded.shard), (CountTable.of(*_counts(encoded)),))

    def __add__(self, other: TokenCounts) -> TokenCounts:  # type: ignore[override]
        documents = self.documents + other.documents
        return TokenCounts(self.vocab_size, documents, add_tables(self.tables, other.tables))

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
    keys = encoded.ids.astype(np.uint64) * np.uint64(BUCKETS) + buckets.astype(np.uint64)
    if (times := encoded.times) is not None:
        return _counted(keys, times)
    distinct, counts = np.unique(keys, return_counts=True)
    return distinct, counts.astype(np.int64)
