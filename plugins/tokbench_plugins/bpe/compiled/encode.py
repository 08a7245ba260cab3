"""Encoding in bulk, compiled: flat arrays of ids from the UTF-8 of many documents; imports numba.

Documents are read in slabs of about 256 KB. Each chunk is looked up in a cache of fixed size (40 MB for 100,000 ids) or
merged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tokbench.tokenizers.batch import valid_unicode
from tokbench.tokenizers.contract import Encoded
from tokbench_plugins.bpe.compiled.count import aligned_zeros
from tokbench_plugins.bpe.compiled.encode_chunks import LONGEST_CACHED, PADDING, Tables, add_tokens, encode_chunks
from tokbench_plugins.bpe.compiled.encode_merge import (
    LONGEST_SCANNED,
    Merging,
    lanes,
    merge_chunks,
    merge_long_chunk,
)
from tokbench_plugins.bpe.compiled.pair_tables import HIGHEST_ID, pair_tables
from tokbench_plugins.bpe.compiled.scan import scanner
from tokbench_plugins.bpe.patterns import Splitter
from tokbench_plugins.bpe.vocabulary import Vocabulary

_SLAB: Final = 1 << 18  # bytes; the last document of a slab may be longer
_LEARNED: Final = 120_000  # rows for chunks that are not tokens; at least half as many are available
_SPANS: Final = 1 << 20
_KEYS: Final = 1 << 22
_CHUNKS: Final = 1 << 16


class CompiledEncoder:
    """Encodes batches of texts with a vocabulary and a split.

    Raises:
        ValueError: ``pattern`` is invalid, or the vocabulary has more than two million ids.

    >>> encoder = CompiledEncoder(Vocabulary.trained([(97, 97), (256, 98)]), "gpt2")
    >>> encoded = encoder.encode_batch(["aab aab", "", "b"])
    >>> encoded.ids.tolist(), encoded.offsets.tolist()
    ([257, 32, 257, 98], [0, 3, 3, 4])
    """

    shortest = 20
    """A call takes 11 us, and 2 us for each 300 characters."""

    def __init__(self, vocabulary: Vocabulary, pattern: str | None) -> None:
        self._split = Splitter(pattern)
        self._scanner = None if pattern is None else scanner(pattern)
        longest = max([LONGEST_CACHED, *(len(vocabulary.tokens[i]) for i in vocabulary.whole_chunks)])
        self._tables = _tables(vocabulary, longest)
        self._lock = Lock()  # compiled code lets other threads run, and the cache must not change twice at once

    def encode_batch(self, texts: Sequence[str]) -> Encoded:
        ids: list[NDArray[np.uint32]] = []
        offsets = np.zeros(len(texts) + 1, np.int64)
        done = written = 0
        out = np.empty(0, np.uint32)
        for slab in _slabs(texts):
            documents = len(slab)
            borders = np.array(list(accumulate(map(len, slab), initial=0)), np.int64)
            data = np.frombuffer(bytearray().join([*slab, bytes(PADDING)]), np.uint8)
            if self._scanner is not None:
                slab.clear()  # a long document is not kept twice
            if len(out) < len(data):
                out = np.empty(len(data), np.uint32)
            ends_of_ids = offsets[done + 1 : done + 1 + documents]
            ends = self._ends(data, slab, borders)
            with self._lock:
                count = encode_chunks(data, ends, borders[1:], self._tables, out, ends_of_ids)
            ends_of_ids += written
            if len(data) > 2 * _SLAB:
                ids.append(out[:count])  # the system gives memory only where something is written
                out = np.empty(0, np.uint32)
            else:
                ids.append(out[:count].copy())
            written += count
            done += documents
        return Encoded(ids[0] if len(ids) == 1 else np.concatenate(ids) if ids else out, offsets)

    def _ends(self, data: NDArray[np.uint8], slab: Sequence[bytes], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        if self._scanner is not None:
            return self._scanner.ends(data, offsets)
        if self._split.pattern is None:
            return np.unique(offsets[offsets > 0])
        chunks = (chunk.encode() for document in slab for chunk in self._split(document.decode()))
        return np.cumsum(np.fromiter(map(len, chunks), np.int64))


class ChunkwiseEncoder:
    """Encodes chunks, which need not be whole characters.

    >>> encode = ChunkwiseEncoder(Vocabulary.trained([(97, 97), (256, 98)]))
    >>> encoded = encode(np.frombuffer(bytearray(b"aabb" + bytes(PADDING)), np.uint8), np.array([3, 4]))
    >>> encoded.ids.tolist(), encoded.offsets.tolist()
    ([257, 98], [0, 1, 2])
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._tables = _tables(vocabulary, LONGEST_CACHED)

    def __call__(self, data: NDArray[np.uint8], ends: NDArray[np.int64]) -> Encoded:
        """Encode chunks that end there; behind ``data`` there are ``PADDING`` bytes more."""
        ids, offsets = np.empty(data.size, np.uint32), np.zeros(ends.size + 1, np.int64)
        n_ids = encode_chunks(data, ends, ends, self._tables, ids, offsets[1:])
        return Encoded(ids[:n_ids], offsets)


def count_tokens(vocabulary: Vocabulary, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return int64[c], the number of tokens of each chunk; behind ``data`` there are ``PADDING`` bytes more.

    >>> data = np.frombuffer(bytearray(b"aabb" + bytes(PADDING)), np.uint8)
    >>> count_tokens(Vocabulary.trained([(97, 97), (256, 98)]), data, np.array([0, 3, 4])).tolist()
    [1, 1]
    """
    merging, room = _merging(vocabulary), lanes()
    starts, lengths = offsets[:-1].astype(np.uint64), np.diff(offsets).astype(np.uint64)
    counts = np.zeros(lengths.size, np.uint64)
    short = np.flatnonzero(lengths <= LONGEST_SCANNED)
    for begin in range(0, short.size, _CHUNKS):
        some = short[begin : begin + _CHUNKS]
        found = np.empty(some.size, np.uint64)
        ids = np.empty(int(lengths[some].sum()), np.uint32)
        merge_chunks(data, (starts[some], lengths[some], some.size), merging, room, ids, found)
        counts[some] = found
    for chunk in np.flatnonzero(lengths > LONGEST_SCANNED).tolist():
        length = int(lengths[chunk])
        counts[chunk] = merge_long_chunk(data, int(starts[chunk]), length, merging, np.empty(length, np.uint32))
    return counts.astype(np.int64)


def _slabs(texts: Sequence[str]) -> Iterator[list[bytes]]:
    slab: list[bytes] = []
    size = 0
    for text in texts:
        try:
            data = text.encode()
        except UnicodeEncodeError:
            data = valid_unicode(text).encode()
        slab.append(data)
        size += len(data)
        if size >= _SLAB:
            yield slab
            slab, size = [], 0
    if slab:
        yield slab


def _tables(vocabulary: Vocabulary, longest: int) -> Tables:
    if len(vocabulary.tokens) > HIGHEST_ID:
        raise ValueError(f"id {len(vocabulary.tokens) - 1} is above {HIGHEST_ID - 1}, the highest of compiled encoding")
    merging = _merging(vocabulary)
    lengths = np.array(list(map(len, vocabulary.tokens)), np.uint64)
    ends = np.cumsum(lengths)
    keys = np.zeros(int(ends[-1]) + _KEYS, np.uint8)
    keys[: ends[-1]] = np.frombuffer(b"".join(vocabulary.tokens), np.uint8)
    known, ids = _known_tokens(vocabulary, merging, keys, ends - lengths, lengths)
    rows = 1 << (2 * len(ends) + _LEARNED - 1).bit_length()
    while True:
        state = np.array([0, rows // 8 * 5 - len(ends), 0, ends[-1], ends[-1], 0, 0], np.uint64)
        spans = np.empty(_SPANS, np.uint32)
        tables = Tables(merging, aligned_zeros(4 * rows), keys, spans, np.uint64(longest), state)
        if add_tokens(tables, (ends - lengths)[known], lengths[known], ids):
            return tables
        rows *= 2


def _merging(vocabulary: Vocabulary) -> Merging:
    merges = np.fromiter(chain.from_iterable(vocabulary.merges), np.int64, 3 * len(vocabulary.merges)).reshape(-1, 3)
    made = merges[:, 2]
    ranks_are_ids = bool((np.diff(made) > 0).all())
    ranks = made if ranks_are_ids else np.arange(len(merges))
    ranked = np.column_stack([merges[:, :2], ranks])
    made_by = np.zeros(int(ranks.max(initial=0)) + 1, np.uint32)
    made_by[ranks] = made
    return Merging(np.array(vocabulary.byte_ids, np.uint32), *pair_tables(ranked), made_by, ranks_are_ids)


def _known_tokens(
    vocabulary: Vocabulary,
    merging: Any,
    keys: NDArray[np.uint8],
    starts: NDArray[np.uint64],
    lengths: NDArray[np.uint64],
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    whole = np.array(sorted(vocabulary.whole_chunks, reverse=True), np.int64)  # of equal ones the last counts
    merged = np.flatnonzero((lengths > 0) & (lengths <= LONGEST_CACHED))
    room, counts = np.empty(int(lengths[merged].sum()), np.uint32), np.empty(len(merged), np.uint64)
    merge_chunks(keys, (starts[merged], lengths[merged], len(merged)), merging, lanes(), room, counts)
    first = room[(np.cumsum(lengths[merged]) - lengths[merged]).astype(np.int64)]
    one = counts == 1
    spare = np.zeros(3, np.uint32)  # ids are read four at a time
    return np.concatenate([whole, merged[one]]), np.concatenate([whole.astype(np.uint32), first[one], spare])
