"""The sample of a group's documents, for what would take too much memory of all of them.

Documents are taken in the order of a hash of their text until they have so many bytes: the same ones for any tokenizer
and any shards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin.metrics import Shard

SAMPLE: Final = 1 << 20
"""Bytes of text of a group that are kept; of more text the documents are drawn by hash."""


def hashes_of(data: Iterable[bytes]) -> NDArray[np.uint64]:
    """Return uint64[n], a hash of each byte string.

    >>> hashes_of([b"a", b"b", b"a"]).tolist()[::2]
    [3405396810240292928, 3405396810240292928]
    """
    digests = b"".join(blake2b(item, digest_size=8).digest() for item in data)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


class DocumentSample(NamedTuple):
    """The first documents by the hash of their text, each with an array; a sum has the first of both."""

    hashes: NDArray[np.uint64]
    """Rising."""
    sizes: NDArray[np.int64]
    """In bytes."""
    keys: NDArray[np.int64]
    """The sampling unit of each document, see :attr:`Shard.unit_keys`; equal texts are in its order."""
    marks: NDArray[np.bool_]
    lengths: NDArray[np.int64]
    data: NDArray[np.unsignedinteger[Any]]
    """The arrays of all documents, end to end."""

    @classmethod
    def of(cls, shard: Shard, marks: NDArray[np.bool_], array: Callable[[int], NDArray[Any]]) -> DocumentSample:
        """Take the documents of a shard, and ask for the ``array`` of those alone, by their number."""
        hashes = shard.cached("hashes", lambda: hashes_of(text.encode() for text in shard.texts))
        taken = _first(hashes, shard.n_bytes, shard.unit_keys)
        arrays = [array(number) for number in taken.tolist()]
        lengths = np.array([len(each) for each in arrays], dtype=np.int64)
        data = np.concatenate([np.empty(0, dtype=np.uint8), *arrays])
        return cls(hashes[taken], shard.n_bytes[taken], shard.unit_keys[taken], marks[taken], lengths, data)

    def __add__(self, other: DocumentSample) -> DocumentSample:  # type: ignore[override]
        joined: list[NDArray[Any]] = [np.concatenate(pair) for pair in zip(self, other, strict=True)]
        hashes, sizes, keys, marks, lengths, data = joined
        taken, ends = _first(hashes, sizes, keys), np.cumsum(lengths)
        kept = [data[end - length : end] for end, length in zip(ends[taken], lengths[taken], strict=True)]
        kept_data = np.concatenate([data[:0], *kept])
        return DocumentSample(hashes[taken], sizes[taken], keys[taken], marks[taken], lengths[taken], kept_data)

    @property
    def document(self) -> NDArray[np.int64]:
        """The number of the document of each entry of ``data``."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)


def _first(hashes: NDArray[np.uint64], sizes: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of the documents that have fewer than ``SAMPLE`` bytes before them."""
    order = np.lexsort((keys, hashes))
    before = np.cumsum(sizes[order]) - sizes[order]
    return np.asarray(order[before < SAMPLE])
