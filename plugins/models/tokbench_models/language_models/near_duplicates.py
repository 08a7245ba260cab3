"""Near-duplicates: documents most of which occurs in earlier documents.

See Lee and others 2022, "Deduplicating training data makes language models better".
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

import numpy as np
from numpy.typing import NDArray

WINDOW: Final = 32
"""Bytes, a phrase of five or six English words."""

SAMPLED: Final = 8

_STRETCH: Final = 1 << 20

_BASE: Final = 0x9E3779B97F4A7C15
"""Odd, so it has an inverse modulo 2**64."""


def near_duplicates(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Return bool[d], which documents are near-duplicates of earlier ones.

    At least half of its windows of 32 bytes of UTF-8 occur in earlier documents, counting windows whose 64-bit hash is
    divisible by 8; or it is short, has none, and equals an earlier short document.

    >>> verse = "The rain fell on the roof all night, and nobody slept until the morning came. "
    >>> near_duplicates([verse * 2, "something else", verse + "New!", "something else", "Not the rain."]).tolist()
    [False, False, True, True, False]
    """
    parts = [_windows(texts[start:end], start) for start, end in _stretches(texts)]
    hashes = np.concatenate([np.empty(0, dtype=np.uint64), *(part[0] for part in parts)])
    documents = np.concatenate([np.empty(0, dtype=np.int64), *(part[1] for part in parts)])
    some = np.bincount(documents, minlength=len(texts))
    short = np.flatnonzero(some == 0)
    digests = (hashlib.blake2b(texts[k].encode(), digest_size=8).digest() for k in short.tolist())
    hashes = np.concatenate([hashes, np.frombuffer(b"".join(digests), dtype=np.uint64)])
    documents = np.concatenate([documents, short])
    # In order of documents within equal hashes, so that the first of them is the first document that has the window.
    order = np.lexsort((documents, hashes))
    ordered, owners = hashes[order], documents[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=ordered[:1] + np.uint64(1)) != 0)
    lengths = np.diff(np.append(starts, len(ordered)))
    seen = np.repeat(owners[starts], lengths) < owners
    repeated = np.bincount(owners[seen], minlength=len(texts))
    return repeated * 2 >= np.maximum(some, 1)


def _stretches(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    start = chars = 0
    for number, text in enumerate(texts, 1):
        chars += len(text)
        if chars >= _STRETCH or number == len(texts):
            yield start, number
            start, chars = number, 0


def _windows(texts: Sequence[str], first: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    encoded = [text.encode() for text in texts]
    ends = np.fromiter(accumulate(map(len, encoded)), dtype=np.int64, count=len(encoded))
    data = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    n_windows = len(data) - WINDOW + 1
    if n_windows < 1:
        return np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
    # A polynomial of the bytes, modulo 2**64: the sum over a window, divided by the power of its first place.
    powers = np.cumprod(np.full(len(data), _BASE, dtype=np.uint64))
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(powers * data, dtype=np.uint64)])
    inverses = np.cumprod(np.full(n_windows, pow(_BASE, -1, 1 << 64), dtype=np.uint64))
    hashes = _mixed((sums[WINDOW:] - sums[:-WINDOW]) * inverses)
    places = np.flatnonzero(hashes % np.uint64(SAMPLED) == 0)
    documents = np.searchsorted(ends, places, side="right")
    inside = places + WINDOW <= ends[documents]
    return hashes[places[inside]], documents[inside] + first


def _mixed(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread each hash over 64 bits with splitmix64 (Steele, Lea and Flood 2014)."""
    hashes ^= hashes >> np.uint64(30)
    hashes *= np.uint64(0xBF58476D1CE4E5B9)
    hashes ^= hashes >> np.uint64(27)
    hashes *= np.uint64(0x94D049BB133111EB)
    hashes ^= hashes >> np.uint64(31)
    return hashes
