"""All chunks of many documents, compiled: looked up in the cache, merged where they are not there.

Importing this file needs numba. Chunks are taken in blocks, and a block in steps, each over all of it:

1. the keys, and word to the processor which rows will be read: the table is larger than its caches;
2. which chunks are not there, and their merges;
3. the ids, from the cache or from the merges, which are learned.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tokbench_plugins.bpe.compiled.encode_cache import (
    LONGEST_CACHED,
    begin_of,
    find,
    forget_if_full,
    key_of,
    learn,
    read,
)
from tokbench_plugins.bpe.compiled.encode_heap import merge_long_chunk
from tokbench_plugins.bpe.compiled.encode_merge import LONGEST_SCANNED, lanes, merge_chunks
from tokbench_plugins.bpe.compiled.encode_vector import prefetch
from tokbench_plugins.bpe.compiled.jit import compiled, inlined

__all__ = ["encode_chunks"]

_U0, _U1 = np.uint64(0), np.uint64(1)
_LONGEST: Final = np.uint64(LONGEST_CACHED)
_BLOCK: Final = 64  # chunks; more do not stay in the processor's nearest cache
_KNOWN, _MERGED, _LONG = 0, 1, 2


@compiled
def _look_ahead(
    data: Any,
    ends: Any,
    start: Any,
    longest: Any,
    rows: Any,
    starts: Any,
    lengths: Any,
    firsts: Any,
    seconds: Any,
    begins: Any,
) -> Any:
    """The keys of a block; returns where its last chunk ends."""
    for k in range(len(ends)):
        length = np.uint64(ends[k]) - start
        starts[k], lengths[k] = start, length
        if length <= longest:
            firsts[k], seconds[k], mixed = key_of(data, start, length)
            begins[k] = begin_of(rows, mixed)
            prefetch(rows, begins[k])
        start += length
    return start


@compiled
def _find_all(
    data: Any,
    longest: Any,
    rows: Any,
    keys: Any,
    chunks: Any,
    starts: Any,
    lengths: Any,
    firsts: Any,
    seconds: Any,
    begins: Any,
    kinds: Any,
    places: Any,
    new_starts: Any,
    new_lengths: Any,
) -> Any:
    """What is to be done with each chunk of a block, and a list of those to merge; returns how many."""
    new = 0
    for k in range(chunks):
        known = False
        if lengths[k] <= longest:
            places[k], known = find(rows, keys, data, starts[k], lengths[k], firsts[k], seconds[k], begins[k])
        if known:
            kinds[k] = _KNOWN
        elif lengths[k] > LONGEST_SCANNED:
            kinds[k] = _LONG
        else:
            kinds[k] = _MERGED
            new_starts[new], new_lengths[new] = starts[k], lengths[k]
            new += 1
    return new


@inlined
def _write_offsets(borders: Any, offsets: Any, document: Any, end: Any, n: Any) -> Any:
    """Heartbeat for the documents that end here where their ids do; returns the next document."""
    while document < len(borders) and np.uint64(borders[document]) == end:
        offsets[document] = np.int64(n)
        document += 1
    return document


@compiled
def encode_chunks(data: Any, ends: Any, borders: Any, tables: Any, longest: Any, out: Any, offsets: Any) -> Any:
    """The ids of documents that lie one behind the other.

    Args:
        data: uint8[n + PADDING], the documents as UTF-8.
        ends: int64[chunks], where each chunk ends, rising; the borders of documents are among them.
        borders: int64[d], where each document ends.
        tables: the vocabulary and the cache.
        longest: uint64, chunks of more bytes are not looked up.
        out: uint32[n + 4], gets the ids.
        offsets: int64[d], gets for each document where its ids end.

    Returns:
        How many ids were written.
    """
    # Taken out of the tuple once: to take an array out is to count a reference.
    byte_ids, byte_pairs, pairs, displacements, made = tables.merging
    rows, keys, spans, state = tables.rows, tables.keys, tables.spans, tables.state
    room = lanes()
    starts, lengths = np.empty(_BLOCK, np.uint64), np.empty(_BLOCK, np.uint64)
    firsts, seconds, begins = np.empty(_BLOCK, np.uint64), np.empty(_BLOCK, np.uint64), np.empty(_BLOCK, np.uint64)
    kinds, places = np.empty(_BLOCK, np.uint8), np.empty(_BLOCK, np.uint64)
    new_starts, new_lengths, counts = (
        np.empty(_BLOCK, np.uint64),
        np.empty(_BLOCK, np.uint64),
        np.empty(_BLOCK, np.uint64),
    )
    merged = np.empty(np.uint64(_BLOCK) * LONGEST_SCANNED, np.uint32)
    n = start = _U0
    document = _write_offsets(borders, offsets, 0, _U0, n)
    for block in range(0, len(ends), _BLOCK):
        chunks = min(_BLOCK, len(ends) - block)
        forget_if_full(rows, state)
        start = _look_ahead(
            data, ends[block : block + chunks], start, longest, rows, starts, lengths, firsts, seconds, begins
        )
        place = _U0
        new = _find_all(
            data,
            longest,
            rows,
            keys,
            chunks,
            starts,
            lengths,
            firsts,
            seconds,
            begins,
            kinds,
            places,
            new_starts,
            new_lengths,
        )
        if new:
            merge_chunks(
                data,
                new_starts,
                new_lengths,
                new,
                byte_ids,
                byte_pairs,
                pairs,
                displacements,
                made,
                room,
                merged,
                counts,
            )
        new = 0
        for k in range(chunks):
            if kinds[k] == _KNOWN:
                n = read(rows, spans, places[k], out, n)
            elif kinds[k] == _MERGED:
                count = counts[new]
                for i in range(count):
                    out[n + i] = merged[place + i]
                place += lengths[k]
                new += 1
                if lengths[k] <= _LONGEST:
                    row, known = find(rows, keys, data, starts[k], lengths[k], firsts[k], seconds[k], begins[k])
                    if not known:
                        learn(
                            rows,
                            keys,
                            spans,
                            state,
                            row,
                            firsts[k],
                            seconds[k],
                            data,
                            starts[k],
                            lengths[k],
                            out,
                            n,
                            count,
                        )
                n += count
            else:
                n += np.uint64(
                    merge_long_chunk(
                        data,
                        np.int64(starts[k]),
                        np.int64(lengths[k]),
                        byte_ids,
                        byte_pairs,
                        pairs,
                        displacements,
                        made,
                        out[n:],
                    )
                )
            document = _write_offsets(borders, offsets, document, starts[k] + lengths[k], n)
    return np.int64(n)
