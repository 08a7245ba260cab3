"""Code points of a text, and their places in UTF-8."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

_LAST_OF_WIDTH: Final = (0x7F, 0x7FF, 0xFFFF)
"""The last code points that take one, two and three bytes in UTF-8."""


def code_points(text: str) -> NDArray[np.uint32]:
    """Return uint32[n]."""
    return np.frombuffer(text.encode("utf-32-le"), dtype="<u4")


def byte_positions(text: str) -> NDArray[np.int64]:
    """Return int64[n + 1], the byte of each character and the end."""
    widths = byte_widths(code_points(text))
    positions = np.zeros(len(widths) + 1, dtype=np.int64)
    np.cumsum(widths, out=positions[1:])
    return positions


def byte_widths(codes: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """Return uint8[n], the UTF-8 bytes of each code point: 1 to 4."""
    widths = np.ones(len(codes), dtype=np.uint8)
    for last in _LAST_OF_WIDTH:
        widths += codes > last
    return widths
