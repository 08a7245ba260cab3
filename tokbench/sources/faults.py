"""Faults of files that a source may mend or leave out: bytes that are not UTF-8, nulls, files without text."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, NamedTuple

from tokbench.foundation.errors import InputError, Problem
from tokbench.tokenizers.facts import CAUTION

Errors = Literal["strict", "replace", "skip"]
Nulls = Literal["error", "skip"]

_DONE: Final = {"replace": "replaced by U+FFFD", "skip": "left out"}
_HANDLERS: Final = {"strict": "strict", "replace": "replace", "skip": "ignore"}
BAD_BYTES: Final = "bytes that are not UTF-8"
EMPTY: Final = "files without text, left out"
SURROGATES: Final = "lone surrogates"
NULLS: Final = "rows whose text is null, left out"

_SURROGATES: Final = re.compile("[\ud800-\udfff]")


class MendedText(NamedTuple):
    """A text, and how many bytes of it were not UTF-8."""

    text: str
    bad: int


def mend_utf8(data: bytes | bytearray, errors: Errors) -> MendedText:
    r"""Replace or leave out what is not UTF-8.

    >>> mend_utf8(b"b\xffd", "replace") == ("b\ufffdd", 1), mend_utf8(b"b\xffd", "skip") == ("bd", 1)
    (True, True)
    """
    bad = len(_SURROGATES.findall(data.decode("utf-8", "surrogateescape")))
    return MendedText(data.decode("utf-8", _HANDLERS[errors]), bad)


@dataclass
class Met:
    """How often a fault was met, and its first place."""

    times: int = 0
    where: str = ""
    at: int = 0
    """Orders places."""

    def add(self, other: Met) -> None:
        if other.times and (not self.times or other.at < self.at):
            self.where, self.at = other.where, other.at
        self.times += other.times

    def note(self, kind: str) -> str:
        return f"{kind}: {self.times:,}, the first at {self.where}"


class Faults:
    """The faults of one reading, by kind."""

    def __init__(self, errors: Errors = "strict") -> None:
        self.errors = errors
        self._met: dict[str, Met] = {}

    def add(self, kind: str, where: str, times: int = 1) -> None:
        self._met.setdefault(kind, Met()).add(Met(times, where))

    @property
    def notes(self) -> Sequence[str]:
        return [f"{CAUTION}{met.note(kind)}" for kind, met in self._met.items()]

    def mended(self, data: bytes | bytearray, problem: Problem) -> str:
        """Return bytes with a fault as text; an InputError if bad bytes are errors."""
        if self.errors == "strict":
            remedy = "or read on with the option 'errors: replace' (or skip)"
            raise InputError([Problem(problem.where, f"{problem.message}; {remedy}")])
        text, bad = mend_utf8(data, self.errors)
        self.add(f"{BAD_BYTES}, {_DONE[self.errors]}", problem.where, bad)
        return text

    def without_surrogates(self, text: str, where: str, kind: str = SURROGATES) -> str:
        """Return a text without lone surrogates, such as bad bytes became in reading, unless they are errors."""
        if self.errors == "strict" or not (bad := len(_SURROGATES.findall(text))):
            return text
        self.add(f"{kind}, {_DONE[self.errors]}", where, bad)
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", _HANDLERS[self.errors])


def kind_of_path(path: Path) -> str:
    """Name what is no file.

    >>> kind_of_path(Path("/")), kind_of_path(Path("/dev/null"))
    ('a folder', 'a device')
    """
    if not path.exists():
        return "a link to what does not exist"
    kinds = {Path.is_dir: "a folder", Path.is_fifo: "a named pipe", Path.is_socket: "a socket"}
    return next((kind for is_kind, kind in kinds.items() if is_kind(path)), "a device")


def readable_name(name: str | Path) -> str:
    r"""Return a name in Unicode, whatever its bytes.

    >>> readable_name("caf\udce9.txt")
    'caf\\xe9.txt'
    """
    return os.fsencode(name).decode("utf-8", "backslashreplace")
