"""Tokens of documents that are aligned with their translations."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin import BUCKETS, EncodedShard

__all__ = ["Aligned", "Documents"]


class Documents(NamedTuple):
    """The documents of a group in their order, which is that of every other group.

    Attributes:
        tokens: int64[d].
        kept: bool[d], those that come back.
        buckets: int64[d], the jackknife group.
    """

    tokens: NDArray[np.int64]
    kept: NDArray[np.bool_]
    buckets: NDArray[np.int64]

    def per_bucket(self, which: NDArray[np.bool_]) -> NDArray[np.float64]:
        """float64[BUCKETS], the tokens of some documents by jackknife group."""
        sums = np.bincount(self.buckets[which], weights=self.tokens[which], minlength=BUCKETS)
        return sums.astype(np.float64)


class Aligned(NamedTuple):
    """The documents of a group as far as its shards have been looked at; of a parallel corpus alone.

    A document that is lost in one language is left out in the other, too, so sums would not do: these
    are 17 bytes a document, far less than its text.

    Attributes:
        parts: by the number of their first document.
    """

    parts: tuple[tuple[int, Documents], ...]

    @classmethod
    def of(cls, encoded: EncodedShard) -> Aligned:
        """The documents of one shard."""
        shard = encoded.shard
        if not shard.parallel:
            return cls(())
        return cls(((shard.first, Documents(encoded.tokens, encoded.comes_back, shard.buckets)),))

    def merged(self, other: Aligned) -> Aligned:
        """The documents of both, in their order."""
        return Aligned(tuple(sorted(self.parts + other.parts, key=lambda part: part[0])))

    def documents(self) -> Documents:
        """All of them in a row."""
        columns = zip(*(documents for _, documents in self.parts), strict=True)
        return Documents(*(np.concatenate(column) for column in columns))

    def raw(self) -> dict[str, Any]:
        """Sums by jackknife group as JSON data; nothing of a corpus that is not parallel."""
        if not self.parts:
            return {}
        every = self.documents()
        sums = {"tokens": np.ones_like(every.kept), "tokens that come back": every.kept}
        return {
            "documents": len(every.tokens),
            "come back": int(every.kept.sum()),
            "sums": {name: [int(x) for x in every.per_bucket(which)] for name, which in sums.items()},
        }
