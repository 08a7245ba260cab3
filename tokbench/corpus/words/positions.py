"""Code points of a text, and their places in UTF-8."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

# The last code points that take one, two and three bytes in UTF-8.
_LAST_OF_WIDTH: Final = np.array([0x7F, 0x7FF, 0xFFFF])


def code_points(text: str) -> NDArray[np.uint32]:
    """Return uint32[n]."""
    return np.frombuffer(text.encode("utf-32-le"), dtype="<u4")


def byte_positions(text: str) -> NDArray[np.int64]:
    """Return int64[n + 1], the byte of each character and the end."""
    return np.concatenate([[0], np.cumsum(byte_widths(code_points(text)))])


def byte_widths(codes: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return the UTF-8 bytes of each code point: 1 to 4."""
    return 1 + np.searchsorted(_LAST_OF_WIDTH, codes)
