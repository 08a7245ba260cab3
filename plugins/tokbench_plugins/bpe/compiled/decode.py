"""Ids to bytes, compiled; imports numba."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench.foundation.jit import compiled
from tokbench_plugins.bpe.compiled.hashing import word_at

_ONE, _EIGHT = np.uint64(1), np.uint64(8)


@compiled
def join_tokens(ids: Any, offsets: Any, tokens: Any, starts: Any) -> Any:
    """Return uint8[bytes of the ids + 8] and int64[d + 1], the start of each document's bytes, and the end of the last.

    Args:
        ids: uint32[n].
        offsets: int64[d + 1].
        tokens: uint8[m + 8], the bytes of all tokens.
        starts: uint64[number of ids + 1].
    """
    size = _EIGHT
    for k in range(len(ids)):
        token = np.uint64(ids[k])
        size += starts[token + _ONE] - starts[token]
    out = np.empty(size, np.uint8)
    ends = np.zeros(len(offsets), np.int64)
    written = np.uint64(0)
    for document in range(len(offsets) - 1):
        for k in range(offsets[document], offsets[document + 1]):
            token = np.uint64(ids[k])
            at, end, to = starts[token], starts[token + _ONE], written
            written += end - at
            while True:  # eight bytes in one go: more than the token has, maybe, and the next one is written over them
                word = word_at(tokens, at)
                for i in range(8):
                    out[to + np.uint64(i)] = np.uint8(word >> np.uint64(8 * i))
                at, to = at + _EIGHT, to + _EIGHT
                if at >= end:
                    break
        ends[document + 1] = written
    return out, ends
