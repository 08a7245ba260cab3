"""Ids of all chunks of many documents, compiled: from a cache, or merged; imports numba.

The cache is one table of open addressing, of four words a row:

- words 0 and 1, the *key*. Up to 15 bytes: the bytes, and their number in the top byte. Longer: a hash, and where
  ``keys`` has a copy of the bytes, with their number and the top bit set.
- words 2 and 3, the *ids*. The top bit of word 2 marks rows learned from text; the next seven are the number of ids.
  Up to four ids are in the row itself, more in ``spans``.

A new table holds the vocabulary. When the table is full, only the rows learned from text are cleared.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from tokbench.foundation.jit import compiled, inlined
from tokbench_plugins.bpe.compiled.encode_merge import LONGEST_SCANNED, lanes, merge_chunks, merge_long_chunk
from tokbench_plugins.bpe.compiled.hashing import GOLDEN, same_bytes, word_at
from tokbench_plugins.bpe.compiled.intrinsics import prefetch

LONGEST_CACHED: Final = 120  # bytes; longer chunks rarely repeat
PADDING: Final = 16  # bytes that must follow the last chunk: keys are read in whole words

_U0, _U1, _U2, _U3, _U4, _U8 = (np.uint64(n) for n in (0, 1, 2, 3, 4, 8))
_U15, _U28, _U32, _U40, _U56 = (np.uint64(n) for n in (15, 28, 32, 40, 56))
_ALL: Final = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_LEARNED: Final = np.uint64(1 << 63)
LONG: Final = np.uint64(1 << 63)
"""In the second word of the key of a long chunk."""

_COUNT: Final = np.uint64(0x7F)
_ID: Final = np.uint64((1 << 28) - 1)
_WHERE: Final = np.uint64((1 << 40) - 1)
_FACTOR: Final = np.uint64(0xC2B2_AE3D_27D4_EB4F)
_LOW: Final = np.uint64(0xFFFF_FFFF)
_PROBES: Final = 64  # a search this long is given up, so that no text can make the table slow
_INLINE: Final = np.uint64(4)  # ids that fit into a row
_LEARNED_ROWS, _MOST_ROWS, _SPANS_USED, _KEYS_USED, _FIRST_KEY, _FULL, _PROMISED = range(7)


class Tables(NamedTuple):
    """The tables of the kernels; only the cache changes."""

    merging: Any

    rows: Any
    """uint64[4 * rows], the cache; the number of rows is a power of two."""

    keys: Any
    """uint8[n], the bytes of the tokens, then of long learned chunks."""

    spans: Any
    """uint32[n], the ids of chunks of more than four."""

    longest: Any
    """uint64, longest cached chunk in bytes."""

    state: Any
    """uint64[7]: rows learned, their limit, used of ``spans``, used of ``keys``, used of ``keys`` by the tokens,
    whether a chunk found no room, what the claimed rows may still take of ``spans``."""


@compiled
def mix(a: Any, b: Any) -> Any:
    """Return the hash of two words."""
    mixed = (a ^ (b * _FACTOR)) * GOLDEN
    mixed = (mixed ^ (mixed >> _U32)) * _FACTOR
    return mixed ^ (mixed >> _U28)


@compiled
def key_of(data: Any, start: Any, length: Any) -> Any:
    """Return the key of a chunk (for a long one without the place) and its hash."""
    if length <= _U15:
        low = min(length, _U8)  # no branches here: they would be mispredicted for every other word
        first = word_at(data, start) & (_ALL >> (_U8 * (_U8 - low)))
        second = word_at(data, start + _U8) & ((_U1 << (_U8 * (length - low))) - _U1)
        second |= length << _U56
        return first, second, mix(first, second)
    mixed = length
    at = start
    end = start + length - _U8
    while at < end:
        mixed = mix(mixed, word_at(data, at))
        at += _U8
    mixed = mix(mixed, word_at(data, end))
    return mixed, LONG | (length << _U40), mixed


@compiled
def begin_of(rows: Any, mixed: Any) -> Any:
    """Return the row at which the search for a hash begins."""
    return (mixed * _U4) & np.uint64(len(rows) - 1)


@compiled
def find(rows: Any, keys: Any, data: Any, start: Any, length: Any, first: Any, second: Any, begin: Any) -> Any:
    """Return the row of a key, or the free row where it belongs, and True if the key is there."""
    mask = np.uint64(len(rows) - 1)
    row = begin
    for _ in range(_PROBES):
        there = rows[row + _U1]
        if there == _U0:
            return row, False
        if rows[row] == first:
            if there == second:
                return row, True
            if there & LONG and there & ~_WHERE == second and same_bytes(keys, there & _WHERE, data, start, length):
                return row, True
        row = (row + _U4) & mask
    return row, False


@inlined
def read(rows: Any, spans: Any, row: Any, out: Any, n: Any) -> Any:
    """Copy the ids of a row to ``out[n:]``, and return where they end."""
    word, other = rows[row + _U2], rows[row + _U3]
    count = (word >> _U56) & _COUNT
    out[n] = np.uint32(word & _ID)
    out[n + _U1] = np.uint32((word >> _U28) & _ID)
    out[n + _U2] = np.uint32(other & _LOW)
    out[n + _U3] = np.uint32(other >> _U32)
    if count > _INLINE:
        for i in range(np.int64(count)):
            out[n + np.uint64(i)] = spans[other + np.uint64(i)]
    return n + count


@compiled
def write(rows: Any, spans: Any, state: Any, row: Any, ids: Any, at: Any, count: Any, mark: Any) -> None:
    """Write ``ids[at : at + count]`` to a row that has its key; the caller checks that there is room."""
    word = mark | (count << _U56)
    other = _U0
    if count > _INLINE:
        other = state[_SPANS_USED]
        for i in range(np.int64(count)):
            spans[other + np.uint64(i)] = ids[at + np.uint64(i)]
        state[_SPANS_USED] += count
    else:
        word |= np.uint64(ids[at])
        word |= np.uint64(ids[at + _U1]) << _U28 if count > _U1 else _U0
        other = np.uint64(ids[at + _U2]) if count > _U2 else _U0
        other |= np.uint64(ids[at + _U3]) << _U32 if count > _U3 else _U0
    rows[row + _U2], rows[row + _U3] = word, other


@compiled
def _forget_if_full(rows: Any, state: Any) -> None:
    if state[_FULL]:
        for k in range(0, len(rows), 4):
            if rows[k + 2] & _LEARNED:
                rows[k : k + 4] = _U0
        state[_LEARNED_ROWS], state[_SPANS_USED], state[_KEYS_USED], state[_FULL] = _U0, _U0, state[_FIRST_KEY], _U0


@compiled
def add_tokens(tables: Any, starts: Any, lengths: Any, ids: Any) -> bool:
    """Put tokens into a new cache; of equal ones the first counts. Return False if there are too few rows."""
    rows, keys = tables.rows, tables.keys
    for token in range(len(starts)):
        first, second, mixed = key_of(keys, starts[token], lengths[token])
        row, known = find(rows, keys, keys, starts[token], lengths[token], first, second, begin_of(rows, mixed))
        if not known:
            if rows[row + _U1] != _U0:
                return False
            rows[row], rows[row + _U1] = first, second | (starts[token] if second & LONG else _U0)
            write(rows, tables.spans, tables.state, row, ids, np.uint64(token), _U1, _U0)
    return True


@compiled
def claim(cache: Any, row: Any, first: Any, second: Any, data: Any, start: Any, length: Any) -> bool:
    """Write a key at the free row that :func:`find` returned; return False if there was no room."""
    rows, keys, spans, state = cache
    at = state[_KEYS_USED]
    if rows[row + _U1] != _U0:
        return False  # the search was given up
    if (
        state[_LEARNED_ROWS] >= state[_MOST_ROWS]
        or state[_SPANS_USED] + state[_PROMISED] + length > np.uint64(len(spans))
        or at + length + np.uint64(PADDING) > np.uint64(len(keys))
    ):
        state[_FULL] = _U1
        return False
    if second & LONG:
        for i in range(np.int64(length)):
            keys[at + np.uint64(i)] = data[start + np.uint64(i)]
        second |= at
        state[_KEYS_USED] += length
    state[_LEARNED_ROWS] += _U1
    state[_PROMISED] += length
    rows[row], rows[row + _U1], rows[row + _U2], rows[row + _U3] = first, second, _LEARNED, _U0
    return True


_LONGEST: Final = np.uint64(LONGEST_CACHED)
_STEP: Final = 64  # chunks whose keys are computed before their rows are read: the rows stay in the nearest cache
_BLOCK: Final = 1024  # chunks that are merged together: merging is fast where many chunks wait
_NO_KEY: Final = _ALL  # instead of the second word of a key: the chunk is not looked up
_NO_ROW: Final = np.uint64(1 << 62)  # instead of a row: the ids are taken from the merges
_TOO_LONG: Final = np.uint64(1 << 63)  # instead of a row: the chunk is merged by itself


@compiled
def _look_ahead(data: Any, ends: Any, start: Any, longest: Any, rows: Any, step: Any) -> Any:
    starts, lengths, firsts, seconds, begins = step
    for k in range(len(ends)):
        length = np.uint64(ends[k]) - start
        starts[k], lengths[k] = start, length
        if length <= longest:
            firsts[k], seconds[k], mixed = key_of(data, start, length)
            begins[k] = begin_of(rows, mixed)
            prefetch(rows, begins[k])
        else:
            firsts[k], seconds[k], begins[k] = _U0, _NO_KEY, _U0
        start += length
    return start


@compiled
def _find_all(data: Any, longest: Any, cache: Any, step: Any, places: Any, new_chunks: Any, new: Any) -> Any:
    rows, keys, _, _ = cache
    starts, lengths, firsts, seconds, begins = step
    new_starts, new_lengths, new_places = new_chunks
    for k in range(len(places)):
        place, known = begins[k], False
        # Most chunks are found at once, and need no call: calls took half the time of encoding sources.
        if rows[place] == firsts[k] and rows[place + _U1] == seconds[k]:
            places[k] = place
            continue
        if lengths[k] <= longest:
            place, known = find(rows, keys, data, starts[k], lengths[k], firsts[k], seconds[k], begins[k])
            if known:
                places[k] = place
                continue
        if lengths[k] > LONGEST_SCANNED:
            places[k] = _TOO_LONG
            continue
        if lengths[k] > _LONGEST or not claim(cache, place, firsts[k], seconds[k], data, starts[k], lengths[k]):
            place = _NO_ROW | np.uint64(new)
        places[k] = place
        new_starts[new], new_lengths[new], new_places[new] = starts[k], lengths[k], place
        new += 1
    return new


@compiled
def _learn(cache: Any, new_chunks: Any, new: Any, merged: Any, counts: Any) -> None:
    rows, _, spans, state = cache
    _, lengths, places = new_chunks
    at = _U0
    for k in range(new):
        if places[k] < _NO_ROW:
            write(rows, spans, state, places[k], merged, at, counts[k], _LEARNED)
        places[k] = at
        at += lengths[k]
    state[_PROMISED] = _U0


@inlined
def _write_offsets(borders: Any, offsets: Any, document: Any, end: Any, n: Any) -> Any:
    while document < len(borders) and np.uint64(borders[document]) == end:
        offsets[document] = np.int64(n)
        document += 1
    return document


@compiled
def encode_chunks(data: Any, ends: Any, borders: Any, tables: Any, out: Any, offsets: Any) -> Any:
    """Encode documents that follow each other, and return the number of ids.

    Args:
        data: uint8[n + PADDING], the documents as UTF-8.
        ends: int64[chunks], where each chunk ends; the ends of documents are among them.
        borders: int64[d], where each document ends.
        tables: the vocabulary and the cache.
        out: uint32[n + 4], receives the ids.
        offsets: int64[d], receives where the ids of each document end.
    """
    # Arrays are taken out of the tuple once, because each time counts a reference.
    cache = rows, _, spans, state = tables.rows, tables.keys, tables.spans, tables.state
    longest, room = tables.longest, lanes()
    starts, lengths = np.empty(_STEP, np.uint64), np.empty(_STEP, np.uint64)
    firsts, seconds, begins = np.empty(_STEP, np.uint64), np.empty(_STEP, np.uint64), np.empty(_STEP, np.uint64)
    step = starts, lengths, firsts, seconds, begins
    places, counts = np.empty(_BLOCK, np.uint64), np.empty(_BLOCK, np.uint64)
    new_chunks = np.empty(_BLOCK, np.uint64), np.empty(_BLOCK, np.uint64), np.empty(_BLOCK, np.uint64)
    merged = np.empty(np.uint64(_BLOCK) * LONGEST_SCANNED + _INLINE, np.uint32)
    n = start = end = _U0
    document = _write_offsets(borders, offsets, 0, _U0, n)
    for first in range(0, len(ends), _BLOCK):
        last = min(first + _BLOCK, len(ends))
        _forget_if_full(rows, state)
        new: Any = 0
        for at in range(first, last, _STEP):
            stop = min(at + _STEP, last)
            end = _look_ahead(data, ends[at:stop], end, longest, rows, step)
            new = _find_all(data, longest, cache, step, places[at - first : stop - first], new_chunks, new)
        if new:
            merge_chunks(data, (new_chunks[0], new_chunks[1], new), tables.merging, room, merged, counts)
            _learn(cache, new_chunks, new, merged, counts)
        for k in range(last - first):
            place, begin = places[k], start
            start = np.uint64(ends[first + k])
            if place < _NO_ROW:
                n = read(rows, spans, place, out, n)
            elif place < _TOO_LONG:
                number = place ^ _NO_ROW
                for i in range(counts[number]):
                    out[n + i] = merged[new_chunks[2][number] + i]
                n += counts[number]
            else:
                length = np.int64(start - begin)
                n += np.uint64(merge_long_chunk(data, np.int64(begin), length, tables.merging, out[n:]))
            document = _write_offsets(borders, offsets, document, start, n)
    return np.int64(n)
