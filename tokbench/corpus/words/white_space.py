"""Finds white space in UTF-8: the code points with the Unicode property White_Space, as ``regex`` knows them."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

_LAST: Final = 0x3000
"""The last code point that is white space: in UTF-8, white space takes one to three bytes."""

_ASCII: Final = 0x80
_LEAD_OF_TWO: Final = range(0xC2, 0xE0)
_LEAD_OF_THREE: Final = range(0xE0, 0xF0)


@cache
def _table() -> NDArray[np.bool_]:
    """Return bool[0x10000], ``True`` for white space."""
    import regex

    table = np.zeros(1 << 16, dtype=np.bool_)
    table[[ord(char) for char in regex.findall(r"\p{White_Space}", "".join(map(chr, range(_LAST + 1))))]] = True
    return table


@cache
def _ascii() -> bytes:
    """Return a table for ``bytes.translate``: 1 for white space in ASCII, 0 for all other bytes."""
    return (_table()[:256] & (np.arange(256) < _ASCII)).tobytes()


def white_bytes(data: bytes) -> NDArray[np.bool_]:
    r"""Return bool[n], ``True`` for every byte of white space in a text in UTF-8 of n bytes.

    >>> white_bytes("a b\u3000é".encode()).tolist()
    [False, True, False, True, True, True, False, False]
    """
    white = np.frombuffer(bytearray(data.translate(_ascii())), dtype=np.bool_)
    if data.isascii():
        return white
    codes = np.frombuffer(data, dtype=np.uint8)
    leads = np.flatnonzero(codes >= _LEAD_OF_TWO[0])
    first = codes[leads]
    for alike, size in ((_LEAD_OF_TWO, 2), (_LEAD_OF_THREE, 3)):
        starts = leads[(first >= alike[0]) & (first <= alike[-1])]
        points = codes[starts].astype(np.uint16) & np.uint16(0xFF >> (size + 1))
        for k in range(1, size):
            points = points << np.uint16(6) | (codes[starts + k] & np.uint8(0x3F))
        found = starts[_table()[points]]
        for k in range(size):
            white[found + k] = True
    return white
