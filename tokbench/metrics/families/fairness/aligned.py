"""The tokens of each document of a group, for comparing it with its translations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin import BUCKETS, EncodedShard


class Documents(NamedTuple):
    """The documents of a group in order; document ``k`` of each group is a translation of the same text.

    Attributes:
        tokens: int64[d], the number of tokens of each document.
        kept: bool[d], ``True`` for documents that come back.
        buckets: int64[d], the jackknife group of each document.
    """

    tokens: NDArray[np.int64]
    kept: NDArray[np.bool_]
    buckets: NDArray[np.int64]

    def per_bucket(self, which: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return float64[BUCKETS], the tokens of the chosen documents by jackknife group."""
        sums = np.bincount(self.buckets[which], weights=self.tokens[which], minlength=BUCKETS)
        return sums.astype(np.float64)


class Aligned(NamedTuple):
    """The documents of some shards of a group; none if the corpus is not parallel.

    A document that is lost in one language is left out in the other, too, so sums are not enough. A document takes 17
    bytes here, far less than its text.

    Attributes:
        parts: the documents of each shard, with the number of the first.
    """

    parts: tuple[tuple[int, Documents], ...]

    @classmethod
    def of(cls, encoded: EncodedShard) -> Aligned:
        """Return the documents of one shard."""
        shard = encoded.shard
        if not shard.parallel:
            return cls(())
        return cls(((shard.first, Documents(encoded.tokens, encoded.comes_back, shard.buckets)),))

    def __add__(self, other: Aligned) -> Aligned:  # type: ignore[override]
        return Aligned(tuple(sorted(self.parts + other.parts, key=lambda part: part[0])))

    def documents(self) -> Documents:
        """Return all documents in order."""
        columns = zip(*(documents for _, documents in self.parts), strict=True)
        return Documents(*(np.concatenate(column) for column in columns))

    def raw(self) -> dict[str, object]:
        """Return sums by jackknife group as JSON data; nothing if the corpus is not parallel."""
        if not self.parts:
            return {}
        every = self.documents()
        sums = {"tokens": np.ones_like(every.kept), "tokens that come back": every.kept}
        return {
            "documents": len(every.tokens),
            "come back": int(every.kept.sum()),
            "sums": {name: [int(x) for x in every.per_bucket(which)] for name, which in sums.items()},
        }
