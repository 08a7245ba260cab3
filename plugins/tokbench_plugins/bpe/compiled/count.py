"""Counting of the different chunks of a stream of documents, compiled by numba.

Different chunks keep the order of first occurrence, because it breaks ties in training.

The hash table has open addressing. The *key* of up to 15 bytes is the bytes and their number in two 64-bit integers; of
longer chunks, a hash, and the bytes are compared. Its second half is 0 in an empty slot only.

A block of chunks is counted in three loops: compute the keys; count the chunks found in their first slot (nine of ten)
without a branch; count the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from threading import local
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.foundation.jit import compiled, inlined
from tokbench.tokenizers.batch import valid_unicode
from tokbench_plugins.bpe.compiled.hashing import GOLDEN, hash_of, same_bytes, word_at
from tokbench_plugins.bpe.compiled.scan import scanner
from tokbench_plugins.bpe.fast.parallel import batches, in_order
from tokbench_plugins.bpe.fast.train import count_chunks

_BLOCK: Final = 1024  # chunks counted at a time; there must be room for all of them

_ONE = np.uint64(1)
_BYTE = np.uint64(8)
_HALF = np.uint64(32)
_TOP_BYTE = np.uint64(56)
_WORD: Final = 8  # bytes
_LONG: Final = 2 * _WORD  # bytes from which on a chunk does not fit into a key
_LONG_KEY = np.uint64(_LONG << 56)
_FIRST, _SECOND, _NUMBER, _COUNT = (np.uint64(column) for column in range(4))  # the columns of the table

# By the number of bytes: which bits of the first word are the chunk's, by how much less a byte the word that
# ends with the chunk is shifted to get the bytes behind the first word, and which bits of that are used.
_FIRST_BITS = np.array([(1 << 8 * min(size, _WORD)) - 1 for size in range(_LONG)], np.uint64)
_SHIFTS = np.array([8 * (_LONG - 1 - size) if size >= _WORD else 0 for size in range(_LONG)], np.uint64)
_SECOND_BITS = np.array([2**64 - 1 if size >= _WORD else 0 for size in range(_LONG)], np.uint64)


@inlined
def _key(data: Any, start: Any, end: Any) -> tuple[Any, Any]:
    size = end - start
    if size >= _LONG:
        key = np.uint64(size)
        for i in range(start, end - 8, 8):
            key = (key ^ word_at(data, i)) * GOLDEN
            key ^= key >> _HALF
        key = (key ^ word_at(data, end - 8)) * GOLDEN  # may overlap the one before
        return key ^ key >> _HALF, _LONG_KEY
    second = np.uint64(size) << _TOP_BYTE
    if start + 8 <= data.size:
        behind = word_at(data, max(start, end - 8)) >> _SHIFTS[size] >> _BYTE
        return word_at(data, start) & _FIRST_BITS[size], second | behind & _SECOND_BITS[size]
    first = np.uint64(0)
    for i in range(size):
        first |= np.uint64(data[start + i]) << np.uint64(8 * i)
    return first, second


@inlined
def _slot(first: Any, second: Any, table: Any) -> Any:
    mixed = hash_of(first ^ second >> _TOP_BYTE ^ second << _BYTE)
    return (mixed ^ mixed >> _HALF) & np.uint64(table.shape[0] - 1)


@inlined
def _same(data: Any, start: Any, end: Any, arena: Any, offsets: Any, number: Any) -> Any:
    size = end - start
    base = offsets[number]
    return offsets[number + 1] - base == size and same_bytes(
        data, np.uint64(start), arena, np.uint64(base), np.uint64(size)
    )


class Chunks(NamedTuple):
    """Chunks to count."""

    data: Any
    """uint8[n], joined; no chunk is empty."""

    bounds: Any
    """int64[c + 1], the start of each, and the end of the last."""

    weights: Any
    """int64[c], counts; empty for once."""


class Store(NamedTuple):
    """The different chunks so far."""

    arena: Any
    """uint8[a]."""

    offsets: Any
    """int64[k + 1]; different chunk ``k`` is ``arena[offsets[k]:offsets[k + 1]]``."""

    table: Any
    """uint64[t, 4], key, number and count of the chunk in each slot, or zeros."""


@compiled
def _move_table(table: Any, larger: Any) -> None:
    mask = np.uint64(larger.shape[0] - 1)
    for old in range(table.shape[0]):
        if table[old, _SECOND]:
            slot = _slot(table[old, _FIRST], table[old, _SECOND], larger)
            while larger[slot, _SECOND]:
                slot = (slot + _ONE) & mask
            larger[slot] = table[old]


@compiled
def _read_counts(table: Any, counts: Any) -> None:
    for slot in range(table.shape[0]):
        if table[slot, _SECOND]:
            counts[table[slot, _NUMBER]] = table[slot, _COUNT]


@compiled
def _has_room(chunks: Any, size: Any, arena: Any, offsets: Any, known: Any, table: Any) -> Any:
    return (
        4 * (known + chunks) <= 3 * table.shape[0]
        and known + chunks < offsets.size
        and offsets[known] + size <= arena.size
    )


@inlined
def _count_found(keys: Any, weights: Any, begin: Any, size: Any, table: Any, rest: Any) -> Any:
    firsts, seconds = keys
    left: Any = 0
    for i in range(size):
        slot = _slot(firsts[i], seconds[i], table)
        differ = (table[slot, _FIRST] ^ firsts[i]) | (table[slot, _SECOND] ^ seconds[i])
        hit = np.uint64(differ == 0) & np.uint64(seconds[i] < _LONG_KEY)
        table[slot, _COUNT] += hit * (np.uint64(weights[begin + i]) if weights.size else _ONE)
        rest[left] = i
        left += 1 - np.int64(hit)
    return left


@inlined
def _count(first: Any, second: Any, chunks: Any, chunk: Any, store: Any, known: Any) -> Any:
    data, bounds, weights = chunks
    arena, offsets, table = store
    start, end = bounds[chunk], bounds[chunk + 1]
    weight = np.uint64(weights[chunk]) if weights.size else _ONE
    slot = _slot(first, second, table)
    while table[slot, _SECOND]:
        if (
            table[slot, _FIRST] == first
            and table[slot, _SECOND] == second
            and (second < _LONG_KEY or _same(data, start, end, arena, offsets, table[slot, _NUMBER]))
        ):
            table[slot, _COUNT] += weight
            return known
        slot = (slot + _ONE) & np.uint64(table.shape[0] - 1)
    table[slot, _FIRST], table[slot, _SECOND] = first, second
    table[slot, _NUMBER], table[slot, _COUNT] = known, weight
    base = offsets[known]
    for i in range(end - start):
        arena[base + i] = data[start + i]
    offsets[known + 1] = base + end - start
    return known + 1


@compiled
def _add_chunks(chunks: Any, begin: Any, store: Any, known: Any) -> tuple[Any, Any]:
    """Count chunks from ``begin`` on until room may run out; return the next chunk and the number of different ones."""
    data, bounds, weights = chunks
    arena, offsets, table = store
    firsts, seconds = np.empty(_BLOCK, np.uint64), np.empty(_BLOCK, np.uint64)
    rest = np.empty(_BLOCK, np.int64)
    n_chunks = bounds.size - 1
    while begin < n_chunks:
        size = min(_BLOCK, n_chunks - begin)
        if not _has_room(size, bounds[begin + size] - bounds[begin], arena, offsets, known, table):
            break
        for i in range(size):
            firsts[i], seconds[i] = _key(data, bounds[begin + i], bounds[begin + i + 1])
        for at in range(_count_found((firsts, seconds), weights, begin, size, table, rest)):
            i = rest[at]
            known = _count(firsts[i], seconds[i], chunks, begin + i, store, known)
        begin += size
    return begin, known


_NO_WEIGHTS: Final = np.empty(0, np.int64)


class Counts(NamedTuple):
    """Different chunks in order of first occurrence."""

    data: NDArray[Any]
    """uint8[n], the UTF-8 of all chunks, one after the other; or uint32[n], their ids."""

    offsets: NDArray[np.int64]
    """int64[c + 1]; chunk ``k`` is ``data[offsets[k]:offsets[k + 1]]``."""

    counts: NDArray[np.int64]

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> Counts:
        """Put counts into arrays.

        >>> Counts.of({"no": 2, "é": 1}).offsets.tolist()
        [0, 2, 4]
        """
        data, offsets = encode_documents(list(counts))
        return cls(data, offsets, np.fromiter(counts.values(), np.int64, len(counts)))


class ChunkCounter:
    """Counts different chunks.

    >>> counter = ChunkCounter()
    >>> counter.add(*encode_documents(["no", "yes", "no"]))
    >>> counter.add(*Counts.of({"yes": 5, "maybe": 1}))
    >>> counts = counter.counts()
    >>> counts.data.tobytes(), counts.counts.tolist()
    (b'noyesmaybe', [2, 6, 1])
    """

    def __init__(self) -> None:
        self.known = 0
        self._data = np.empty(1 << 16, np.uint8)
        self._offsets = np.zeros((1 << 12) + 1, np.int64)
        self._table = aligned_zeros(4 << 13).reshape(-1, 4)  # a slot lies within one cache line

    def add(
        self, data: NDArray[np.uint8], offsets: NDArray[np.int64], weights: NDArray[np.int64] = _NO_WEIGHTS
    ) -> None:
        given = Chunks(data, offsets, weights)
        first, chunks = 0, offsets.size - 1
        while first < chunks:
            last = min(first + _BLOCK, chunks)
            self.make_room(last - first, int(offsets[last] - offsets[first]))
            store = Store(self._data, self._offsets, self._table)
            first, self.known = _add_chunks(given, first, store, self.known)

    def counts(self) -> Counts:
        counts = np.empty(self.known, np.int64)
        _read_counts(self._table, counts)
        return Counts(self._data[: self._offsets[self.known]], self._offsets[: self.known + 1], counts)

    def make_room(self, chunks: int, size: int) -> None:
        used = int(self._offsets[self.known])
        if used + size > self._data.size:
            self._data = grown(self._data, used, used + size)
        if self.known + chunks >= self._offsets.size:
            self._offsets = grown(self._offsets, self.known + 1)
        if 4 * (self.known + chunks) > 3 * len(self._table):
            table = aligned_zeros(2 * self._table.size).reshape(-1, 4)
            _move_table(self._table, table)
            self._table = table


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
    """Return the UTF-8 of all documents in one array; lone surrogates become U+FFFD.

    >>> data, offsets = encode_documents(["né", "", "o"])
    >>> data.tolist(), offsets.tolist()
    ([110, 195, 169, 111], [0, 3, 3, 4])
    """
    try:
        encoded = [document.encode() for document in documents]
    except UnicodeEncodeError:
        encoded = [valid_unicode(document).encode() for document in documents]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
    data = bytearray().join(encoded)  # writable: numba would compile once more for arrays that are not
    return Utf8Documents(np.frombuffer(data, np.uint8), offsets)


def count_documents(documents: Iterable[str], pattern: str | None, processes: int = 1) -> Counts:
    """Count the chunks, in order of first occurrence; ``pattern=None`` makes each document one chunk.

    Named patterns run in threads, because their scanners release the GIL; ``regex`` runs in processes.

    >>> counts = count_documents(["no no", "no!"], "gpt2")
    >>> counts.data.tobytes(), counts.offsets.tolist(), counts.counts.tolist()
    (b'no no!', [0, 2, 5, 6], [2, 1, 1])
    """
    if pattern is None or scanner(pattern) is not None:
        return _count_in_threads(documents, pattern, processes)
    counter = ChunkCounter()
    for counts in in_order(partial(_count_batch, pattern), batches(documents), processes):
        counter.add(*counts)
    return counter.counts()


class _Own(local):
    def __init__(self) -> None:
        self.counter = ChunkCounter()


def _count_in_threads(documents: Iterable[str], pattern: str | None, threads: int) -> Counts:
    own = _Own()

    def work(batch: Sequence[str]) -> tuple[ChunkCounter, int, int]:
        counter = own.counter
        before = counter.known
        _scan_batch(counter, pattern, batch)
        return counter, before, counter.known

    news = list(in_order(work, batches(documents), threads, threads=True))
    counted = {counter: counter.counts() for counter, _, _ in news}
    if len(counted) == 1:
        return counted.popitem()[1]
    together = ChunkCounter()
    for counter, before, after in news:
        data, offsets, counts = counted[counter]
        together.add(data, offsets[before : after + 1], counts[before:after])
    return together.counts()


def _scan_batch(counter: ChunkCounter, pattern: str | None, batch: Sequence[str]) -> None:
    data, offsets = encode_documents(batch)
    if pattern is not None and (scan := scanner(pattern)):
        offsets = np.concatenate([offsets[:1], scan.ends(data, offsets)])
    elif not all(batch):  # an empty document is not a chunk
        offsets = np.unique(offsets)
    counter.add(data, offsets)


def _count_batch(pattern: str | None, batch: Sequence[str]) -> Counts:
    return Counts.of(count_chunks(batch, pattern))
