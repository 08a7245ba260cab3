"""Many documents' ids as the two flat arrays of :class:`tokbench.Encoded`, for the backends that need it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from tokbench import Encoded

__all__ = ["from_buffers", "from_lists", "offsets_of"]


def offsets_of(lengths: Iterable[int], documents: int) -> NDArray[np.int64]:
    """int64[documents + 1], where each document begins and the last one ends.

    >>> offsets_of([2, 0, 3], 3).tolist()
    [0, 2, 2, 5]
    """
    offsets = np.zeros(documents + 1, dtype=np.int64)
    np.cumsum(np.fromiter(lengths, dtype=np.int64, count=documents), out=offsets[1:])
    return offsets


def from_buffers(buffers: Sequence[bytes]) -> Encoded:
    r"""One array out of an engine's own buffers, which never become lists.

    Args:
        buffers: for each document its ids, 4 bytes each, little-endian.

    >>> ids, offsets = from_buffers([b"\x07\0\0\0\x08\0\0\0", b"", b"\x09\0\0\0"])
    >>> ids.tolist(), offsets.tolist()
    ([7, 8, 9], [0, 2, 2, 3])
    """
    ids = np.frombuffer(b"".join(buffers), dtype="<u4")
    return Encoded(ids, offsets_of(map(len, buffers), len(buffers)) // 4)


def from_lists(documents: Sequence[Sequence[int]]) -> Encoded:
    """The same out of lists.

    >>> ids, offsets = from_lists([[7, 8], [], [9]])
    >>> ids.tolist(), offsets.tolist()
    ([7, 8, 9], [0, 2, 2, 3])
    """
    offsets = offsets_of(map(len, documents), len(documents))
    ids = np.fromiter(chain.from_iterable(documents), dtype=np.uint32, count=int(offsets[-1]))
    return Encoded(ids, offsets)
