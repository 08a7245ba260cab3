"""The sample of a group's documents, for what would take too much memory of all of them.

Documents are taken in the order of a hash of their text until they have so many bytes: the same ones for any tokenizer
and any shards.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.shards import Shard


def hashes_of(data: Iterable[bytes]) -> NDArray[np.uint64]:
    """Return uint64[n], a hash of each byte string.

    >>> hashes_of([b"a", b"b", b"a"]).tolist()[::2]
    [3405396810240292928, 3405396810240292928]
    """
    digests = b"".join(blake2b(item, digest_size=8).digest() for item in data)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def document_hashes(shard: Shard) -> NDArray[np.uint64]:
    """Return uint64[d], a hash of the text of each document, computed once for all tokenizers and families."""
    return shard.cached("hashes", lambda: hashes_of(text.encode() for text in shard.texts))


def first_by_hash(
    hashes: NDArray[np.uint64], sizes: NDArray[np.int64], sample: int, ties: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Return the places of the documents that have fewer than ``sample`` bytes before them in the order of hashes.

    ``hashes`` and ``sizes`` (in bytes) belong to the documents; ``ties`` is the order of equal ones.

    >>> first_by_hash(np.array([30, 10, 20], dtype=np.uint64), np.array([5, 5, 5]), 6).tolist()
    [1, 2]
    """
    order = np.argsort(hashes, kind="stable") if ties is None else np.lexsort((ties, hashes))
    before = np.cumsum(sizes[order]) - sizes[order]
    return np.asarray(order[before < sample])
