"""Converts positions of characters to positions of bytes in UTF-8."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

# The last code points that take one, two and three bytes in UTF-8.
_LAST_OF_WIDTH: Final = np.array([0x7F, 0x7FF, 0xFFFF])


def byte_positions(text: str) -> NDArray[np.int64] | None:
    """Return int64[n + 1], the byte of each character and the end; ``None`` for ASCII."""
    if text.isascii():
        return None
    return np.concatenate([[0], np.cumsum(byte_widths(np.frombuffer(text.encode("utf-32-le"), dtype="<u4")))])


def byte_widths(codes: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return the UTF-8 bytes of each code point: 1 to 4."""
    return 1 + np.searchsorted(_LAST_OF_WIDTH, codes)
