"""Ids to bytes, compiled. Importing this file needs numba."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tokbench_plugins.bpe.compiled.jit import compiled

_SHORT = 8  # bytes, written in one go


@compiled
def join_tokens(
    ids: NDArray[np.uint32], tokens: NDArray[np.uint8], starts: NDArray[np.int64], out: NDArray[np.uint8]
) -> int:
    """Write the bytes of all ids one after the other.

    Args:
        ids: uint32[n].
        tokens: uint8[m + 8], the bytes of all tokens.
        starts: int64[ids there are + 1], where each token starts and the last one ends.
        out: uint8[as many bytes as the ids have, + 8].

    Returns:
        How many bytes the ids have.
    """
    written = 0
    for token in ids:
        start = starts[token]
        size = starts[token + 1] - start
        for i in range(_SHORT):  # more than the token has, maybe; the next one is written over it
            out[written + i] = tokens[start + i]
        for i in range(_SHORT, size):
            out[written + i] = tokens[start + i]
        written += size
    return written
