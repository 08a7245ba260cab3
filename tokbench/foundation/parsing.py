"""UTF-8 and JSON of users' files, with errors that have line and column; and sizes."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from tokbench.foundation.errors import Problem


class TextError(ValueError):
    """A text cannot be read; line and column, in code points, begin at 1.

    >>> print(TextError("not JSON", 2, 7))
    line 2, column 7: not JSON
    """

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message, line, column)
        self.message, self.line, self.column = message, line, column

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.message}"

    def at(self, file: object, line: int = 1) -> Problem:
        """Return the place in a file, in which the text begins at ``line``.

        >>> print(TextError("not JSON", 2, 7).at("a.json"))
        a.json:2:7: not JSON
        """
        return Problem(f"{file}:{self.line + line - 1}:{self.column}", self.message)


def decode_utf8(data: bytes | bytearray) -> str:
    r"""Decode, or raise a TextError with the place.

    >>> decode_utf8("a\nné".encode("latin-1"))
    Traceback (most recent call last):
    tokbench.foundation.parsing.TextError: line 2, column 2: not UTF-8: byte 0xe9 (unexpected end of data)
    """
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        start = error.start
        column = len(data[data.rfind(b"\n", 0, start) + 1 : start].decode()) + 1
        message = f"not UTF-8: byte 0x{data[start]:02x} ({error.reason})"
        raise TextError(message, data.count(b"\n", 0, start) + 1, column) from error


def parse_json(data: bytes | str) -> Any:
    r"""Parse JSON in UTF-8, with or without a byte order mark.

    Raises:
        TextError: not UTF-8 or JSON, nested too deep, or a number of too many digits.

    >>> parse_json(b'{"a": [1, 2]}')
    {'a': [1, 2]}
    >>> parse_json('{"a":\n[1, }')
    Traceback (most recent call last):
    tokbench.foundation.parsing.TextError: line 2, column 5: not JSON: Expecting value
    """
    text = (data if isinstance(data, str) else decode_utf8(data)).removeprefix("\ufeff")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise TextError(f"not JSON: {error.msg}", error.lineno, error.colno) from error
    except RecursionError:
        raise TextError("JSON that is nested deeper than Python can read", 1, 1) from None
    except ValueError as error:  # such as a number of too many digits
        raise TextError(f"JSON that Python cannot read: {error}", 1, 1) from error


SIZES: Final = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}


def parse_size(text: str) -> int:
    """Return the bytes of a size, or raise ValueError.

    >>> parse_size("8GB"), parse_size("1.5 MiB"), parse_size("300")
    (8000000000, 1572864, 300)
    """
    match = re.fullmatch(r"\s*(\d{1,12}(?:\.\d{1,6})?) ?(|[KMG]i?|T)B?\s*", text)
    if not match:
        raise ValueError(f"{text!r} is not a size; write for example 500MB or 8GB")
    return int(float(match[1]) * SIZES[match[2]])
