"""What the hash tables of compiled code share; imports numba."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tokbench.foundation.jit import inlined

GOLDEN: Final = np.uint64(0x9E37_79B9_7F4A_7C15)
"""The golden ratio as a factor."""

_HALF: Final = np.uint64(32)
_WORD: Final = np.uint64(8)  # bytes


@inlined
def hash_of(key: Any) -> Any:
    """Return the hash of a number; its upper bits are mixed best."""
    mixed = np.uint64(key) * GOLDEN
    return (mixed ^ mixed >> _HALF) * GOLDEN


@inlined
def word_at(data: Any, at: Any) -> Any:
    """Return eight bytes as one number, the first one lowest."""
    at = np.uint64(at)
    word = np.uint64(data[at])
    for i in range(1, 8):
        word |= np.uint64(data[at + np.uint64(i)]) << np.uint64(8 * i)
    return word


@inlined
def same_bytes(a: Any, at_a: Any, b: Any, at_b: Any, length: Any) -> Any:
    """Return True if ``length`` bytes of two arrays are equal; at least eight."""
    last = length - _WORD
    at = np.uint64(0)
    while at < last:
        if word_at(a, at_a + at) != word_at(b, at_b + at):
            return False
        at += _WORD
    return word_at(a, at_a + last) == word_at(b, at_b + last)
