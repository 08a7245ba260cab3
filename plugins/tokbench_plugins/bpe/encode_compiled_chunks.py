"""All chunks of many documents, compiled: looked up in the cache, merged where they are not there.

Importing this file needs numba. A new cache holds the vocabulary itself, so that a chunk which is a token
is found before it was ever seen.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tokbench_plugins.bpe.encode_compiled_cache import LONG, LONGEST_CACHED, find, key_of, learn, read, write
from tokbench_plugins.bpe.encode_compiled_merge import LONGEST_SCANNED, merge_chunk
from tokbench_plugins.bpe.jit import compiled

__all__ = ["add_tokens", "encode_chunks"]

_U0, _U1 = np.uint64(0), np.uint64(1)
_LONGEST: Final = np.uint64(LONGEST_CACHED)


@compiled
def add_tokens(tables: Any, ends: Any, whole: Any) -> int:
    """Put the tokens into a new cache.

    A token whose bytes are encoded as something else, which happens with merges made by hand, is left out.

    Args:
        tables: all of them filled but the rows; ``keys`` begins with the bytes of the tokens.
        ends: int64[tokens], where in ``keys`` the bytes of each id end.
        whole: bool[tokens], which ids no merge builds.

    Returns:
        1, or 0 where a whole chunk found no place: the rows are too few.
    """
    byte_ids, byte_pairs, pairs, marks, made = tables.merging
    rows, keys, spans, state = tables.rows, tables.keys, tables.spans, tables.state
    ranks = np.empty(LONGEST_SCANNED, np.uint32)
    scratch = np.empty(np.max(np.diff(ends)) + ends[0] + 1, np.uint32)
    start = _U0
    for token in range(len(ends)):
        length = np.uint64(ends[token]) - start
        if length and (whole[token] or length <= _LONGEST):
            first, second, begin = key_of(keys, start, length)
            row, known = find(rows, keys, keys, start, length, first, second, begin)
            free = not known and rows[row + _U1] == _U0
            if whole[token]:
                if not free:
                    return 0
                scratch[0], count = token, _U1
            else:
                count = merge_chunk(keys, start, length, byte_ids, byte_pairs, pairs, marks, made, ranks, scratch, _U0)
            if free and count == _U1:
                if second & LONG:
                    second |= start
                write(rows, spans, state, row, first, second, scratch, _U0, count, _U0)
        start += length
    return 1


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
    byte_ids, byte_pairs, pairs, marks, made = tables.merging
    ranks = np.empty(LONGEST_SCANNED, np.uint32)
    rows, keys, spans, state = tables.rows, tables.keys, tables.spans, tables.state
    n = start = _U0
    document = 0
    while document < len(borders) and borders[document] == 0:
        offsets[document] = 0
        document += 1
    for chunk in range(len(ends)):
        end = np.uint64(ends[chunk])
        length = end - start
        known, row, first, second = False, _U0, _U0, _U0
        if length <= longest:
            first, second, begin = key_of(data, start, length)
            row, known = find(rows, keys, data, start, length, first, second, begin)
        if known:
            n = read(rows, spans, row, out, n)
        else:
            count = merge_chunk(data, start, length, byte_ids, byte_pairs, pairs, marks, made, ranks, out, n)
            if length <= _LONGEST and rows[row + _U1] == _U0:
                learn(rows, keys, spans, state, row, first, second, data, start, length, out, n, count)
            n += count
        start = end
        while document < len(borders) and np.uint64(borders[document]) == end:
            offsets[document] = np.int64(n)
            document += 1
    return np.int64(n)
