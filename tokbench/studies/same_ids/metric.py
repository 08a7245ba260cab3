"""The family ``same_ids``: hashes of the ids of each document, and the numbers that the study makes of them."""

from __future__ import annotations

import hashlib
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.measuring.encoded_shard import EncodedShard
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import Measured, Metric, Role
from tokbench.tokenizers.contract import Encoded
from tokbench.tokenizers.options import Options


class HashedShard(NamedTuple):
    """The documents of a shard as a tokenizer encodes them."""

    hashes: NDArray[np.uint64] | None
    """uint64[d], of the ids; ``None`` where a tokenizer only counts."""
    tokens: NDArray[np.int64]
    """int64[d]."""
    unit_keys: NDArray[np.int64]
    """int64[d], see :attr:`tokbench.corpus.shards.Shard.unit_keys`."""
    times: NDArray[np.int64] | None
    """int64[d], how often each occurs in a table of counts."""

    def same(self, other: HashedShard) -> NDArray[np.bool_]:
        """Return bool[d], whether each document has equal ids, or as many where one of the two only counts."""
        if self.hashes is None or other.hashes is None:
            return np.equal(self.tokens, other.tokens)
        return np.equal(self.hashes, other.hashes)


HashedGroup = dict[int, HashedShard]
"""By the number of the first document of each shard."""


def hashes(encoded: Encoded) -> NDArray[np.uint64]:
    """Return uint64[d], eight bytes of a hash of the ids of each document.

    >>> one, other, third = hashes(Encoded(np.array([1, 2, 1, 2, 3], dtype=np.uint32), np.array([0, 2, 4, 5])))
    >>> bool(one == other), bool(one == third)
    (True, False)
    """
    data = np.ascontiguousarray(encoded.ids, dtype="<u4").tobytes()
    ends = (np.asarray(encoded.offsets) * 4).tolist()
    digests = b"".join(hashlib.blake2b(data[start:end], digest_size=8).digest() for start, end in pairwise(ends))
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


class HashesOfIds:
    """The text metric."""

    def __init__(self, options: Options) -> None: ...

    def map(self, encoded: EncodedShard) -> HashedGroup:
        shard = encoded.shard
        known = hashes(encoded.arrays) if encoded.counts is None else None
        return {shard.first: HashedShard(known, encoded.tokens, shard.unit_keys, shard.times)}

    def merge(self, one: HashedGroup, other: HashedGroup) -> HashedGroup:
        return {**one, **other}

    def finish(self, _: HashedGroup) -> dict[str, Measured]:
        return {}

    def raw(self, _: HashedGroup) -> None:
        return None


SAME_IDS: Final = Metric("same_ids", "share of documents", "higher").means(
    "documents with equal ids / documents",
    "Share of documents with exactly the ids of the tokenizer that 'same_as' names. Below 1, the two do "
    "different work, and the tokenizer is not timed.",
)
SAME_COUNTS: Final = Metric("same_counts", "share of documents", "higher").means(
    "documents with as many tokens / documents",
    "For a tokenizer without ids: the share of documents with the token count of the tokenizer that 'same_as' "
    "names. Below 1, the tokenizer is not timed. Equal counts do not prove equal ids.",
)

SPEC: Final = MetricFamily(
    name="same_ids",
    summary="whether two engines of one vocabulary produce the same ids; comes with 'same_as'",
    values=(SAME_IDS, SAME_COUNTS),
    text=HashesOfIds,
    study="same_ids",
    role=Role.ID_HASHES,
    from_counts=True,
)
