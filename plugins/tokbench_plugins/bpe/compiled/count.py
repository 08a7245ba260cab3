"""Counting of the different chunks of a stream of documents, compiled by numba.

Different chunks keep the order of first occurrence, because it breaks ties in training. The hash table is the one of
:mod:`.encode_chunks`: words 2 and 3 of a row are the number of the chunk and its count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.foundation.jit import compiled
from tokbench.tokenizers.batch import valid_unicode
from tokbench_plugins.bpe.compiled.encode_chunks import LONG, PADDING, begin_of, find, key_of, mix
from tokbench_plugins.bpe.compiled.scan import scanner
from tokbench_plugins.bpe.fast.parallel import batches, count_in_processes

_U0, _U1, _U2, _U3, _U4 = (np.uint64(n) for n in (0, 1, 2, 3, 4))


class ChunkStore(NamedTuple):
    """The different chunks so far."""

    rows: Any
    """uint64[4 * rows]."""

    keys: Any
    """uint8[n], the bytes of all chunks."""

    offsets: Any
    """int64[k + 1]; chunk ``k`` is ``keys[offsets[k]:offsets[k + 1]]``."""

    firsts: Any
    """int64[k], where each chunk occurred first, in the data that brought it."""


@compiled
def _count_while_room(data: Any, bounds: Any, store: Any, begin: Any, known: Any) -> tuple[Any, Any]:
    """Count chunks from ``begin`` on while there is room; return the next chunk and the number of different ones."""
    rows, keys, offsets, firsts = store
    for chunk in range(begin, bounds.size - 1):
        start = np.uint64(bounds[chunk])
        length = np.uint64(bounds[chunk + 1]) - start
        first, second, mixed = key_of(data, start, length)
        row, there = find(rows, keys, data, start, length, first, second, begin_of(rows, mixed))
        if not there:
            at = np.uint64(offsets[known])
            full = 32 * known >= 5 * rows.size or known + 1 >= offsets.size
            if rows[row + _U1] or full or at + length + np.uint64(PADDING) > np.uint64(keys.size):
                return chunk, known
            for i in range(np.int64(length)):
                keys[at + np.uint64(i)] = data[start + np.uint64(i)]
            offsets[known + 1] = np.int64(at + length)
            firsts[known] = np.int64(start)
            rows[row], rows[row + _U1] = first, second | (at if second & LONG else _U0)
            rows[row + _U2] = np.uint64(known)
            known += 1
        rows[row + _U3] += _U1
    return bounds.size - 1, known


@compiled
def _move_rows(rows: Any, larger: Any) -> None:
    mask = np.uint64(larger.size - 1)
    for old in range(0, rows.size, 4):
        first, second = rows[old], rows[old + 1]
        if second:
            row = begin_of(larger, first if second & LONG else mix(first, second))
            while larger[row + _U1]:
                row = (row + _U4) & mask
            larger[row : row + _U4] = rows[old : old + 4]


class Counts(NamedTuple):
    """Different chunks in order of first occurrence."""

    data: NDArray[Any]
    """uint8[n], the UTF-8 of all chunks, one after the other; or uint32[n], their ids."""

    offsets: NDArray[np.int64]
    """int64[c + 1]; chunk ``k`` is ``data[offsets[k]:offsets[k + 1]]``."""

    counts: NDArray[np.int64]

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> Counts:
        """Put counts into arrays."""
        data, offsets = encode_documents(list(counts))
        return cls(data, offsets, np.fromiter(counts.values(), np.int64, len(counts)))

    def chunks(self) -> Iterator[tuple[bytes, int]]:
        """Yield the UTF-8 of each chunk with its count."""
        data = self.data[: self.offsets[-1]].tobytes()
        for (start, end), count in zip(pairwise(self.offsets.tolist()), self.counts.tolist(), strict=True):
            yield data[start:end], count


class ChunkCounter:
    """Counts different chunks."""

    def __init__(self) -> None:
        self._known = 0
        offsets, firsts = np.zeros((2, (1 << 12) + 1), np.int64)
        self._store = ChunkStore(aligned_zeros(4 << 13), np.empty(1 << 16, np.uint8), offsets, firsts)

    @property
    def firsts(self) -> NDArray[np.int64]:
        """int64[k], where each chunk occurred first, in the data that brought it."""
        firsts: NDArray[np.int64] = self._store.firsts[: self._known]
        return firsts

    @property
    def n_bytes(self) -> int:
        """The memory of the table."""
        return sum(array.nbytes for array in self._store)

    def add(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        """Count the chunks of ``data``, behind which there are ``PADDING`` bytes more; none may be empty."""
        chunk = 0
        while True:
            chunk, self._known = _count_while_room(data, offsets, self._store, chunk, self._known)
            if chunk == offsets.size - 1:
                return
            self._make_room(int(offsets[chunk + 1] - offsets[chunk]))

    def counts(self) -> Counts:
        rows, keys, offsets, _ = self._store
        used = rows.reshape(-1, 4)[rows[1::4] != 0]
        counts = np.empty(self._known, np.int64)
        counts[used[:, 2].astype(np.int64)] = used[:, 3]
        return Counts(keys[: offsets[self._known]], offsets[: self._known + 1], counts)

    def _make_room(self, size: int) -> None:
        rows, keys, offsets, firsts = self._store
        used = int(offsets[self._known])
        if self._known + 1 >= offsets.size:
            offsets, firsts = grown(offsets, self._known + 1), grown(firsts, self._known)
        elif used + size + PADDING > keys.size:
            keys = grown(keys, used, used + size + PADDING)
        else:
            larger = aligned_zeros(2 * rows.size)
            _move_rows(rows, larger)
            rows = larger
        self._store = ChunkStore(rows, keys, offsets, firsts)


def aligned_zeros(size: int) -> NDArray[np.uint64]:
    """Return uint64[size] that begins with a cache line."""
    words = np.zeros(size + 8, np.uint64)
    start = -words.ctypes.data % 64 // 8
    return words[start : start + size]


def grown(array: NDArray[Any], used: int, least: int = 0) -> NDArray[Any]:
    """Copy the used part of an array into one of twice the size, or the least."""
    copy = np.empty((max(least, 2 * array.shape[0]), *array.shape[1:]), array.dtype)
    copy[:used] = array[:used]
    return copy


class Utf8Documents(NamedTuple):
    """Documents as UTF-8; document ``k`` is ``data[offsets[k]:offsets[k + 1]]``."""

    data: NDArray[np.uint8]

    offsets: NDArray[np.int64]


def encode_documents(documents: Sequence[str]) -> Utf8Documents:
    """Return the UTF-8 of all documents in one array, with room behind; lone surrogates become U+FFFD."""
    try:
        encoded = [document.encode() for document in documents]
    except UnicodeEncodeError:
        encoded = [valid_unicode(document).encode() for document in documents]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
    data = bytearray().join(
        [*encoded, bytes(PADDING)]
    )  # writable: numba would compile once more for arrays that are not
    return Utf8Documents(np.frombuffer(data, np.uint8), offsets)


def count_documents(documents: Iterable[str], pattern: str | None, processes: int = 1) -> Counts:
    """Count the chunks, in order of first occurrence; ``pattern=None`` makes each document one chunk.

    Splits that have no scanner run in ``processes``.

    >>> counts = count_documents(["no no", "no!"], "gpt2")
    >>> counts.data.tobytes(), counts.offsets.tolist(), counts.counts.tolist()
    (b'no no!', [0, 2, 5, 6], [2, 1, 1])
    """
    if pattern is not None and scanner(pattern) is None:
        return Counts.of(count_in_processes(documents, pattern, processes))
    counter = ChunkCounter()
    for batch in batches(documents):
        data, offsets = encode_documents(batch)
        if pattern is not None and (scan := scanner(pattern)):
            counter.add(data, np.concatenate([offsets[:1], scan.ends(data, offsets)]))
        else:
            counter.add(data, np.unique(offsets))  # an empty document is not a chunk
    return counter.counts()
