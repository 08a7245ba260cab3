"""Texts to measure on, from what every machine with the development packages has: Python sources, each once."""

from __future__ import annotations

import hashlib
import itertools
import sysconfig
from functools import cache
from pathlib import Path

__all__ = ["chunks", "multilingual", "sources"]


@cache
def sources(size: int) -> list[str]:
    """Different source files of the standard library and of the installed packages, ``size`` bytes of them.

    Raises:
        ValueError: so much is not installed.
    """
    texts: list[str] = []
    seen: set[bytes] = set()
    left = size
    for root in (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")):
        for path in sorted(Path(root).rglob("*.py")):
            data = path.read_bytes()
            digest = hashlib.sha256(data).digest()
            if digest in seen or b"\0" in data:  # gigatoken's trainer takes NUL between two documents
                continue
            seen.add(digest)
            text = data[:left].decode(errors="ignore")
            texts.append(text)
            left -= len(text.encode())
            if left < 4:
                return texts
    raise ValueError(f"{left:,} bytes of sources are missing from {size:,}")


def multilingual(folder: Path) -> list[str]:
    """Every sentence of the parallel corpora in the test data, language after language interleaved."""
    files = [*sorted((folder / "pud").glob("*.txt")), *sorted((folder / "ntrex").glob("*.txt"))]
    columns = [path.read_text(encoding="utf-8").split("\n") for path in files]
    lines = max(map(len, columns))
    return [column[k] for k in range(lines) for column in columns if k < len(column) and column[k]]


def chunks(texts: list[str], size: int) -> list[str]:
    """The same text in documents of about ``size`` bytes.

    >>> chunks(["abc", "défg"], 2)
    ['ab', 'cd', 'é', 'fg']
    """
    data = "".join(texts).encode()
    borders = [0]
    while borders[-1] < len(data):
        border = min(len(data), borders[-1] + size)
        while border < len(data) and data[border] & 0xC0 == 0x80:  # inside a character
            border += 1
        borders.append(border)
    return [data[start:end].decode() for start, end in itertools.pairwise(borders)]
