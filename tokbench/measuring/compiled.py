"""Loops over the tokens and words of a shard, compiled. Importing this file needs numba."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tokbench.corpus.shards import BUCKETS
from tokbench.foundation.jit import compiled

_NEW, _FOUND = np.int32(-1), np.int32(-2)
_ONE: Final = np.uint64(1)
_GROUPS: Final = np.uint64(BUCKETS)


@compiled
def new_ids(ids: Any, lengths: Any) -> Any:
    """Return uint32[k], the ids (uint32[n]) whose length is -1 in int32[m], each once, in order of appearance."""
    fresh = np.empty(min(len(ids), len(lengths)), np.uint32)
    count = np.uint64(0)
    for k in range(len(ids)):
        token = np.uint64(ids[k])  # unsigned: numba looks whether a signed index is negative
        if lengths[token] == _NEW:
            fresh[count] = ids[k]
            count += _ONE
            lengths[token] = _FOUND
    for token in fresh[:count]:
        lengths[token] = _NEW
    return fresh[:count]


@compiled
def running_lengths(ids: Any, lengths: Any) -> Any:
    """Return int64[n + 1], the bytes before each token, and all bytes; ``lengths`` is int32[m], of each id."""
    running = np.empty(len(ids) + 1, np.int64)
    total = np.int64(0)
    running[0] = 0
    for k in range(len(ids)):
        total += lengths[np.uint64(ids[k])]
        running[k + 1] = total
    return running


@compiled
def cut_words(tokens: Any, word_ends: Any, token_ends: Any) -> Any:
    """Return bool[w], the words inside which a token ends; ``tokens`` are those with the first byte of each word."""
    cut = np.zeros(len(tokens), np.bool_)
    size = np.uint64(len(token_ends))
    for k in range(len(tokens)):
        token = np.uint64(tokens[k])
        if token < size:
            cut[k] = token_ends[token] < word_ends[k]
    return cut


@compiled
def count_by_group(ids: Any, starts: Any, ends: Any, groups: Any, most: Any) -> Any:
    """Return uint64[k] and int64[k]: ``id * 32 + group`` for each id of each group, and how often it is there.

    The ids of document ``k`` are ``ids[starts[k]:ends[k]]``, each below ``most``; the documents of one of ``groups``
    (uint64[d], below 32) follow one another.
    """
    keys, counts = np.empty(len(ids), np.uint64), np.empty(len(ids), np.int64)
    of_group = np.zeros(most, np.int32)
    first = last = np.uint64(0)
    for k in range(len(starts)):
        for at in range(np.uint64(starts[k]), np.uint64(ends[k])):
            token = np.uint64(ids[at])
            if of_group[token] == 0:
                keys[last] = token
                last += _ONE
            of_group[token] += np.int32(1)
        if k + 1 == len(starts) or groups[k + 1] != groups[k]:
            for at in range(first, last):
                token = keys[at]
                counts[at] = of_group[token]
                of_group[token] = 0
                keys[at] = token * _GROUPS + groups[k]
            first = last
    return keys[:last].copy(), counts[:last].copy()
