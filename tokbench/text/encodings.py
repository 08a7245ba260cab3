"""Encodings of text other than UTF-8: their names, which one a file may have, and reading it as UTF-8."""

from __future__ import annotations

import codecs
import io
import re
from encodings.aliases import aliases
from typing import Annotated, Any, Final

from pydantic import AfterValidator

from tokbench.foundation.errors import InputError, Problem, did_you_mean

_PIECE: Final = 1 << 16
_BEYOND_ASCII: Final = re.compile(rb"[\x80-\xff]")
_WINDOWS_ALONE: Final = re.compile(rb"[\x80-\x9f]")


def known_encoding(name: str) -> str:
    """Return Python's name of an encoding of text; empty for an empty one.

    Raises:
        ValueError: Python has no such encoding, or it is none of text, such as ``rot13``.

    >>> known_encoding("Latin-1"), known_encoding("UTF16")
    ('iso8859-1', 'utf-16')
    """
    if not name:
        return ""
    try:
        found = codecs.lookup(name)
    except LookupError as error:
        raise ValueError(f"Python has no encoding {name!r}; {did_you_mean(name, _NAMES)}") from error
    if not found._is_text_encoding:  # noqa: SLF001 - Python tells it nowhere else
        raise ValueError(f"{name!r} is not an encoding of text; write one such as cp1252")
    return found.name


_NAMES: Final = ("ascii", "cp1252", "latin-1", "utf-8", "utf-16", "utf-32", *sorted(set(aliases.values())))

Encoding = Annotated[str, AfterValidator(known_encoding)]


def likely_encoding(data: bytes | bytearray) -> str:
    r"""Return the encoding of one byte a character that text may have; empty if it is UTF-8 with a few wrong bytes.

    >>> likely_encoding(b"n\xe9e"), likely_encoding(b"\x93n\xe9e\x94"), likely_encoding("née".encode() + b"\xff")
    ('latin-1', 'cp1252', '')
    """
    beyond = len(_BEYOND_ASCII.findall(data))
    wrong = sum("\udc80" <= char <= "\udcff" for char in data.decode("utf-8", "surrogateescape"))
    if wrong * 2 <= beyond:
        return ""
    return "cp1252" if _WINDOWS_ALONE.search(data) else "latin-1"


# What cannot be decoded becomes a byte that is not UTF-8, so that the reader finds, counts and mends it as any other.
codecs.register_error("tokbench-bad-byte", lambda error: ("\udcff", getattr(error, "end", 0)))


class Recoded(io.RawIOBase):
    """A file of another encoding, as UTF-8; if ``strict``, an InputError where it does not have that encoding."""

    def __init__(self, file: Any, encoding: str, place: str, *, strict: bool = True) -> None:
        self._file, self._place, self._encoding = file, place, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)("strict" if strict else "tokbench-bad-byte")
        self._left = memoryview(b"")
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        while not self._left and not self._ended:
            data = self._file.read(_PIECE)
            self._ended = not data
            try:
                text = self._decoder.decode(data, final=self._ended).encode("utf-8", "surrogateescape")
            except UnicodeError as error:
                message = f"is not text in {self._encoding}: {error}; name its encoding"
                raise InputError([Problem(self._place, message)]) from error
            self._left = memoryview(text)
        size = min(len(buffer), len(self._left))
        buffer[:size], self._left = self._left[:size], self._left[size:]
        return size
