"""Loops over the bytes and words of a text, compiled. Importing this file needs numba."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench.jit import compiled


@compiled
def plain_edges(codes: Any, bits: Any, in_word: Any, sides: Any, shift: Any) -> Any:
    """Return where words begin and end if all of a text were ASCII; see ``_plain_words`` of :mod:`.uax29`.

    Args:
        codes: uint8[n], the text.
        bits: uint16[256], what the rules ask about each byte.
        in_word: the bit of the bytes that words consist of.
        sides: the bits of the bytes between which a sign may stand.
        shift: how far to the right the bits of a sign are moved, to be those of the bytes beside it.

    Returns:
        int64[2 * w], the start and the end of each word.
    """
    size = len(codes)
    edges = np.empty(size + 1, np.int64)
    found = np.uint64(0)
    inside, before, here = np.uint16(0), np.uint16(0), np.uint16(0)
    for k in range(size + 1):
        after = bits[codes[k]] if k < size else np.uint16(0)
        # It is about the byte before this one. Always written, and counted only at an edge: no branch to mispredict.
        word = np.uint16(((here & in_word) | (before & (here >> shift) & after & sides)) != 0)
        edges[found] = k - 1
        found += np.uint64(word ^ inside)
        inside, before, here = word, here, after
    edges[found] = size
    found += np.uint64(inside)
    return edges[:found].copy()


@compiled
def places_after(rising: Any, values: Any) -> Any:
    """Return for each value how many numbers of a rising array are not above it: ``searchsorted`` from the right.

    It goes through both arrays side by side. It begins again from the start where a value is below the one before.

    Args:
        rising: int64[m].
        values: int64[n], which should rise, too.

    Returns:
        int64[n].
    """
    found = np.empty(len(values), np.int64)
    at = 0
    for k in range(len(values)):
        value = values[k]
        if k and value < values[k - 1]:
            at = 0
        while at < len(rising) and rising[at] <= value:
            at += 1
        found[k] = at
    return found
