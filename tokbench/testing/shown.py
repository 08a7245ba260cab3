"""Inputs and answers as short text, and the note that says what a process is doing."""

from __future__ import annotations

import os
import unicodedata
from typing import Any, Final, NamedTuple

__all__ = ["Note", "call_of", "read_note", "shown", "write_note"]

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


class Note(NamedTuple):
    """Word of a call that may be the last.

    Attributes:
        call: the call, as Python writes it.
        builds_on: whether the rule only builds on it, and another rule is about it.
    """

    call: str
    builds_on: bool = False


def write_note(file: int, note: Note) -> None:
    """Leave a note in a file, where it outlives the process."""
    data = note.call.encode("utf-8", "backslashreplace")[:_NOTE_BYTES]
    os.pwrite(file, bytes([note.builds_on]) + len(data).to_bytes(4, "little") + data, 0)


def read_note(file: int) -> Note:
    """The note that was left last."""
    data = os.pread(file, _NOTE_BYTES + 5, 0)
    return Note(data[5 : 5 + int.from_bytes(data[1:5], "little")].decode("utf-8", "replace"), data[:1] == b"\1")
