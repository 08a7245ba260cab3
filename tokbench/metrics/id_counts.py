"""Counts of ids: tables that can be added up, counts by jackknife group, and the entropy of a distribution."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.shards import BUCKETS
from tokbench.metrics.encoded_shard import EncodedShard

__all__ = ["TokenCounts", "add_counts", "renyi_entropy"]

Key = TypeVar("Key", np.int64, np.uint64)

_BUCKET_BITS: Final = (BUCKETS - 1).bit_length()


def renyi_entropy(counts: NDArray[np.int64], alpha: float) -> float:
    """Rényi entropy of order alpha in bits, Shannon's at 1.

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
    """Add two tables of counts; the keys of the result rise.

    >>> keys, counts = add_counts(*map(np.array, ([1, 3], [10, 30], [2, 3], [5, 5])))
    >>> keys.tolist(), counts.tolist()
    ([1, 2, 3], [10, 5, 35])
    """
    keys, where = np.unique(np.concatenate([keys, other_keys]), return_inverse=True)
    added = np.zeros(len(keys), dtype=np.int64)
    np.add.at(added, where, np.concatenate([counts, other_counts]))
    return keys, added


class _Run(NamedTuple):
    """How often each id occurs in each jackknife group, for the pairs that do.

    Attributes:
        keys: uint64[k], rising: ``id * BUCKETS + group``.
        counts: int64[k], positive.
    """

    keys: NDArray[np.uint64]
    counts: NDArray[np.int64]


class TokenCounts(NamedTuple):
    """How often some documents have each id of a vocabulary, by jackknife group.

    Attributes:
        vocab_size: size of the vocabulary.
        documents: documents counted.
        runs: the counts; add them up. There are several so that no shard need be merged into all that came before.
    """

    vocab_size: int
    documents: int
    runs: tuple[_Run, ...]

    @classmethod
    def of(cls, encoded: EncodedShard) -> TokenCounts:
        """Count the ids of one shard."""
        buckets = np.repeat(encoded.shard.buckets, encoded.tokens)
        # Sorting is about three times as fast when a key takes four bytes.
        small = encoded.tokenizer.vocab_size << _BUCKET_BITS <= np.iinfo(np.uint32).max
        kind: Any = np.uint32 if small else np.uint64
        keys = np.sort((encoded.ids.astype(kind) * kind(BUCKETS)) + buckets.astype(kind))
        starts = np.flatnonzero(np.diff(keys, prepend=keys[:1] + kind(1)))
        counts = np.diff(np.append(starts, len(keys)))
        run = _Run(keys[starts].astype(np.uint64), counts)
        return cls(encoded.tokenizer.vocab_size, len(encoded.shard), (run,))

    def merged(self, other: TokenCounts) -> TokenCounts:
        """Add the counts of both; runs of like size become one, so that a count is moved a few times at most."""
        runs = sorted(self.runs + other.runs, key=lambda run: -len(run.keys))
        while len(runs) > 1 and len(runs[-2].keys) < 2 * len(runs[-1].keys):
            runs[-2:] = [_Run(*add_counts(*runs[-2], *runs[-1]))]
        return TokenCounts(self.vocab_size, self.documents + other.documents, tuple(runs))

    def distinct(self) -> int:
        """Return the number of different ids that occur."""
        return len(np.unique(np.concatenate([_ids(run.keys) for run in self.runs])))

    def total(self) -> NDArray[np.int64]:
        """int64[vocab_size], how often each id occurs in all documents."""
        counts = np.zeros(self.vocab_size, dtype=np.int64)
        for keys, run in self.runs:
            np.add.at(counts, _ids(keys), run)
        return counts

    def per_bucket(self, weights: NDArray[np.int64]) -> NDArray[np.float64]:
        """float64[BUCKETS], the sums over each jackknife group of ``weights``, a number that each id has."""
        sums = np.zeros(BUCKETS)
        for keys, run in self.runs:
            buckets = (keys & np.uint64(BUCKETS - 1)).astype(np.int64)
            sums += np.bincount(buckets, weights=run * weights[_ids(keys)], minlength=BUCKETS)
        return sums


def _ids(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    return (keys >> np.uint64(_BUCKET_BITS)).astype(np.int64)
