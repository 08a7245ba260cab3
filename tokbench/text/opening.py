"""Opens files and standard input as bytes, unpacked if they are packed with gzip or Zstandard."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, Final

from tokbench.foundation.errors import InputError, Problem
from tokbench.foundation.files import open_regular

STDIN: Final = Path("-")
"""Standard input, which can be read once."""
STDIN_NAME: Final = "standard input"

BUFFER: Final = 1 << 16
"""Bytes that can be looked at before they are read."""

_PACKED: Final = {
    b"\x1f\x8b": ".gz",
    b"\x28\xb5\x2f\xfd": ".zst",
    **{bytes([0x50 + number, 0x2A, 0x4D, 0x18]): ".zst" for number in range(16)},  # a frame that is skipped
}
_LARGEST_WINDOW: Final = 1 << 31
"""The largest that the format's own program writes; the library's limit is 128 MB by default."""


def plain_name(path: Path) -> Path:
    """Return a path without the suffix of a packed file."""
    return path.with_suffix("") if path.suffix in _PACKED.values() else path


class ByteStream(io.BufferedReader):
    """The bytes of a file, unpacked; ``peek(BUFFER)`` shows the first."""

    def __init__(self, raw: Any, packed: IO[bytes] | None = None) -> None:
        super().__init__(raw, BUFFER)
        self._packed = packed

    @property
    def is_packed(self) -> bool:
        return self._packed is not None

    @property
    def place(self) -> int:
        """Where reading is in the file itself, which may be packed: the bytes to compare with its size."""
        return self._packed.tell() if self._packed else self.tell()


class _StandardInput(io.RawIOBase):
    """Standard input as if it were a file; closing it leaves the real one open."""

    _place = 0

    def tell(self) -> int:
        return self._place

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        data = sys.stdin.buffer.read(len(buffer))
        buffer[: len(data)] = data
        self._place += len(data)
        return len(data)


@contextmanager
def opened(path: Path) -> Iterator[ByteStream]:
    """Open a file as a stream of bytes, unpacked if its first bytes say that it is packed, whatever its name.

    Raises:
        InputError: at once or while reading: the file is unreadable, damaged or cut off, or needs a Zstandard library.
    """
    name, test = STDIN_NAME if path == STDIN else str(path), "gzip"
    damages: tuple[type[Exception], ...] = (zlib.error, EOFError, gzip.BadGzipFile)
    try:
        with ExitStack() as stack:
            raw = _StandardInput() if path == STDIN else open_regular(path)
            file = stack.enter_context(ByteStream(raw))
            head = file.peek(4)
            packed = next((suffix for magic, suffix in _PACKED.items() if head.startswith(magic)), "")
            if packed == ".gz":
                file = ByteStream(stack.enter_context(gzip.GzipFile(fileobj=file)), file)
            elif packed == ".zst":
                test, damages = "zstd", (EOFError, _zstandard(name).ZstdError)
                file = ByteStream(stack.enter_context(_Frames(file)), file)
            yield file
    except damages as error:
        msg = f"is damaged or cut off ({error}); get it again, and test it with: {test} -t {path.name}"
        if "memory" in str(error):  # good, but its window is larger than the limit, or than what is free
            msg = "needs more than 2 GB of memory to be unpacked, or more than is free; pack it with: zstd --long=27"
        raise InputError([Problem(name, msg)]) from error
    except OSError as error:
        raise InputError([Problem(name, f"cannot be read: {error.strerror or error}")]) from error


def _zstandard(name: str) -> Any:
    try:
        import zstandard
    except ImportError as error:
        msg = "is packed with Zstandard, which needs: pip install 'tokbench[zst]' (or unpack it: zstd -d)"
        raise InputError([Problem(name, msg)]) from error
    return zstandard


class _Frames(io.RawIOBase):
    """Several Zstandard frames, decompressed; fails if a file is cut off, unlike the library."""

    def __init__(self, packed: IO[bytes]) -> None:
        self._packed = packed
        self._frame: Any = None
        self._out = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        filled = 0
        while filled < len(buffer) and (self._out or self._more()):
            size = min(len(buffer) - filled, len(self._out))
            buffer[filled : filled + size] = self._out[:size]
            self._out, filled = self._out[size:], filled + size
        return filled

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
            self._frame = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW).decompressobj()
        self._out = memoryview(self._frame.decompress(data))
        return True
