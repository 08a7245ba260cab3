"""Inputs and answers as short text, and the note that says what a process is doing."""

from __future__ import annotations

import os
import unicodedata
from typing import Any, Final

__all__ = ["call_of", "read_note", "shown", "write_note"]

_LONGEST: Final = 160
_LONGEST_TEXT: Final = 1_000
_NOTE_BYTES: Final = 1 << 14


def shown(value: Any) -> str:
    r"""A value as Python writes it; of a long one the beginning and the length.

    Characters that are not in their composed form (NFC), and might look like others, are escaped.

    >>> shown("né"), shown("ne\u0301"), shown([1, 2])
    ("'né'", "'ne\\u0301'", '[1, 2]')
    >>> shown("a" * 1000)[-30:]
    "aaaaaaaaaaa'... (1,000 in all)"
    """
    if isinstance(value, str | bytes | list | tuple) and len(value) > _LONGEST:
        return f"{shown(value[:_LONGEST])}... ({len(value):,} in all)"
    text = repr(value)
    if not unicodedata.is_normalized("NFC", text):
        text = ascii(value)
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}..."


def call_of(method: str, *arguments: Any) -> str:
    """A call as Python writes it.

    >>> call_of("decode", [1, 2])
    'decode([1, 2])'
    """
    return f"{method}({', '.join(map(shown, arguments))})"


def write_note(file: int, call: str) -> None:
    """Leave word of a call that may be the last; whoever has the file can read it."""
    data = call.encode("utf-8", "backslashreplace")[:_NOTE_BYTES]
    os.pwrite(file, len(data).to_bytes(4, "little") + data, 0)


def read_note(file: int) -> str:
    """The call that was noted last; ``""`` if none was."""
    data = os.pread(file, _NOTE_BYTES + 4, 0)
    return data[4 : 4 + int.from_bytes(data[:4], "little")].decode("utf-8", "replace")
