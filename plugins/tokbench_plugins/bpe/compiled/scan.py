"""Scanners: the named patterns at the speed of compiled code, where numba is installed.

``regex`` cuts some 12 MB a second, and would be most of the time of training and encoding. A scanner's
output equals that of ``regex.findall`` on every text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokbench_plugins.bpe.compiled.jit import has_numba
from tokbench_plugins.bpe.patterns import PATTERNS, pattern_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Scanner", "scanner"]


def scanner(pattern: str) -> Scanner | None:
    r"""The scanner of a named pattern.

    Args:
        pattern: a key of :data:`..patterns.PATTERNS`, or such an expression itself.

    Returns:
        ``None`` for any other expression, and for all of them where numba is not installed.

    >>> scanner(r"\w+") is None
    True
    """
    name = pattern_name(pattern)
    return Scanner(name) if name in PATTERNS and has_numba() else None


class Scanner:
    """Cuts UTF-8 bytes into the chunks of one pattern.

    Args:
        name: a key of :data:`..patterns.PATTERNS`.

    >>> import numpy as np
    >>> data = np.frombuffer("Far   away, in 2024".encode(), np.uint8)
    >>> scan = scanner("gpt2")
    >>> scan and scan.ends(data).tolist()
    [3, 5, 10, 11, 14, 19]
    """

    def __init__(self, name: str) -> None:
        from tokbench_plugins.bpe.compiled.scan_kernels import SPARE, scan_documents
        from tokbench_plugins.bpe.compiled.scan_rules import transitions
        from tokbench_plugins.bpe.compiled.scan_tables import class_tables

        self.name = name
        self._scan = scan_documents
        self._spare = SPARE
        self._tables = (transitions(name), *class_tables())

    def __reduce__(self) -> tuple[type[Scanner], tuple[str]]:
        """For pickle: the name is all there is to it."""
        return Scanner, (self.name,)

    def ends(self, data: NDArray[np.uint8], offsets: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Where the chunks end.

        Args:
            data: uint8[n], valid UTF-8; other bytes would be read past their end.
            offsets: int64[d + 1], for several documents one after the other: document ``k`` is
                ``data[offsets[k]:offsets[k + 1]]``, and no chunk crosses from one to the next.

        Returns:
            int64[c], the rising positions in ``data`` behind the last byte of each chunk.
        """
        import numpy as np

        if offsets is None:
            offsets = np.array([0, data.size], np.int64)
        # The system gives this memory only where something is written.
        room = np.empty(data.size + self._spare, np.int64)
        found = self._scan(data, offsets, room, *self._tables)
        return room[:found].copy()
