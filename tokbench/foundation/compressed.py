"""Reads files that may be compressed with gzip or Zstandard."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, cast

from tokbench.foundation.errors import InputError, Problem

_SUFFIXES: Final = frozenset({".gz", ".zst"})
_BUFFER: Final = 1 << 16


def plain_name(path: Path) -> Path:
    """Return a path without the suffix of a compressed file."""
    return path.with_suffix("") if path.suffix in _SUFFIXES else path


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file as a stream of bytes, decompressed if its name ends in ``.gz`` or ``.zst``.

    Raises:
        InputError: at once or while reading: the file is unreadable, damaged or cut off, or needs a Zstandard library.
    """
    broken = (zlib.error, EOFError, gzip.BadGzipFile)
    try:
        if path.suffix == ".gz":
            with gzip.open(path) as file:
                yield cast("IO[bytes]", file)
        elif path.suffix == ".zst":
            with _zstandard(path) as file:
                yield file
        else:
            with path.open("rb", buffering=_BUFFER) as file:
                yield file
    except broken as error:
        msg = f"is damaged or cut off ({error}); get it again, and test it with: gzip -t {path.name}"
        raise InputError([Problem(str(path), msg)]) from error
    except OSError as error:
        raise InputError([Problem(str(path), f"cannot be read: {error.strerror or error}")]) from error


@contextmanager
def _zstandard(path: Path) -> Iterator[IO[bytes]]:
    try:
        import zstandard
    except ImportError as error:
        msg = "is packed with Zstandard, which needs: pip install 'tokbench[zst]' (or unpack it: zstd -d)"
        raise InputError([Problem(str(path), msg)]) from error
    try:
        with path.open("rb") as packed, io.BufferedReader(_Frames(packed)) as file:
            yield cast("IO[bytes]", file)
    except (zstandard.ZstdError, EOFError) as error:
        msg = f"is damaged or cut off ({error}); get it again, and test it with: zstd -t {path.name}"
        raise InputError([Problem(str(path), msg)]) from error


class _Frames(io.RawIOBase):
    """Several Zstandard frames, decompressed; fails if a file is cut off, unlike the library."""

    def __init__(self, packed: IO[bytes]) -> None:
        self._packed = packed
        self._frame: Any = None
        self._out = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        while not self._out and self._more():
            pass
        size = min(len(buffer), len(self._out))
        buffer[:size] = self._out[:size]
        self._out = self._out[size:]
        return size

    def _more(self) -> bool:
        """Decompress a little more; ``False`` at the end."""
        import zstandard

        ended = self._frame is not None and self._frame.eof
        data = (self._frame.unused_data if ended else b"") or self._packed.read(io.DEFAULT_BUFFER_SIZE)
        if not data:
            if self._frame is not None and not ended:
                raise EOFError("the last frame has no end")
            return False
        if self._frame is None or ended:
            self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._out = memoryview(self._frame.decompress(data))
        return True
