"""The family ``curve``: how often each id occurs, from which the study knows the tokens at every vocabulary size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.metrics.families.vocabulary import add_counts
from tokbench.plugin import BUCKETS, EncodedShard, Measured, MetricFamily, NotApplicable, Options

__all__ = ["SPEC", "TokenCounts"]

_BUCKET_BITS: Final = (BUCKETS - 1).bit_length()


class Run(NamedTuple):
    """How often each id occurs in each jackknife group, for the pairs that do.

    Attributes:
        keys: uint64[k], rising: ``id * BUCKETS + group``.
        counts: int64[k], positive.
    """

    keys: NDArray[np.uint64]
    counts: NDArray[np.int64]

    def with_(self, other: Run) -> Run:
        """The counts of both."""
        return Run(*add_counts(self.keys, self.counts, other.keys, other.counts))


class TokenCounts(NamedTuple):
    """What some documents make of the ids of a vocabulary.

    Attributes:
        vocab_size: size of the vocabulary.
        documents: documents counted.
        runs: the counts; add them up. There are several so that no shard need be merged into all that came before.
    """

    vocab_size: int
    documents: int
    runs: tuple[Run, ...]

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


class CountTokens:
    """Counts ids, by jackknife group."""

    def __init__(self, _: Options) -> None:
        pass

    def map(self, encoded: EncodedShard) -> TokenCounts:
        """The counts of one shard."""
        buckets = np.repeat(encoded.shard.buckets, encoded.tokens)
        # Sorting is about three times as fast when a key takes four bytes.
        small = encoded.tokenizer.vocab_size << _BUCKET_BITS <= np.iinfo(np.uint32).max
        kind: Any = np.uint32 if small else np.uint64
        keys = np.sort((encoded.ids.astype(kind) * kind(BUCKETS)) + buckets.astype(kind))
        starts = np.flatnonzero(np.diff(keys, prepend=keys[:1] + kind(1)))
        counts = np.diff(np.append(starts, len(keys)))
        return TokenCounts(
            encoded.tokenizer.vocab_size, len(encoded.shard), (Run(keys[starts].astype(np.uint64), counts),)
        )

    def merge(self, one: TokenCounts, other: TokenCounts) -> TokenCounts:
        """The counts of both; runs of like size become one, so that a count is moved a few times at most."""
        runs = sorted(one.runs + other.runs, key=lambda run: -len(run.keys))
        while len(runs) > 1 and len(runs[-2].keys) < 2 * len(runs[-1].keys):
            runs[-2:] = [runs[-2].with_(runs[-1])]
        return TokenCounts(one.vocab_size, one.documents + other.documents, tuple(runs))

    def finish(self, state: TokenCounts) -> Mapping[str, Measured | NotApplicable]:
        """No values of its own: the study makes them, which knows the merges."""
        del state
        return {}

    def raw(self, state: TokenCounts) -> Any:
        """How many documents and different ids there are."""
        ids = [_ids(run.keys) for run in state.runs]
        return {"documents": state.documents, "distinct": len(np.unique(np.concatenate(ids)))}


SPEC: Final = MetricFamily(
    name="curve",
    companion="curve",
    summary="how often each id occurs: what 'study: vocabulary' rests on",
    text=CountTokens,
    values=(),
)
