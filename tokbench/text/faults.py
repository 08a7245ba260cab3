"""Faults of files that a source may mend or leave out: bytes that are not UTF-8, nulls, files without text."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from tokbench.foundation.errors import InputError, Problem
from tokbench.text.encodings import likely_encoding
from tokbench.tokenizers.facts import CAUTION

Errors = Literal["strict", "replace", "skip"]
Nulls = Literal["error", "skip"]

_DONE: Final = {"replace": "replaced by U+FFFD", "skip": "left out"}
_HANDLERS: Final = {"strict": "strict", "replace": "replace", "skip": "ignore"}
BAD_BYTES: Final = "bytes that are not UTF-8"
EMPTY: Final = "files without text, left out"
SURROGATES: Final = "lone surrogates"
NULLS: Final = "rows whose text is null, left out"
_READ_ON: Final = "read on with errors: replace (or skip), where that is an option"

_SURROGATES: Final = re.compile("[\ud800-\udfff]")


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


Place = Callable[[], str]
"""Returns the place of a fault, which may take long to find."""


@dataclass
class Faults:
    """The faults of one reading, by kind."""

    errors: Errors = "strict"
    met: dict[str, Met] = field(default_factory=dict)

    def add(self, kind: str, where: str | Place, times: int = 1) -> None:
        if kind not in self.met:
            self.met[kind] = Met(0, where if isinstance(where, str) else where())
        self.met[kind].times += times

    def include(self, other: Faults) -> None:
        """Add what another reading met."""
        for kind, met in other.met.items():
            self.met.setdefault(kind, Met()).add(met)

    @property
    def notes(self) -> Sequence[str]:
        return [f"{CAUTION}{met.note(kind)}" for kind, met in self.met.items()]

    def mended(self, data: bytes | bytearray, problem: Problem) -> str:
        """Return bytes with a fault as text; an InputError if bad bytes are errors."""
        if self.errors == "strict":
            likely = likely_encoding(data)
            advice = f"if it is {likely}, write encoding: {likely} or convert it with: iconv -f {likely} -t UTF-8; or "
            remedy = f"{advice if likely else ''}{_READ_ON}"
            raise InputError([Problem(problem.where, f"{problem.message}; {remedy}")])
        bad = len(_SURROGATES.findall(data.decode("utf-8", "surrogateescape")))
        self.add(f"{BAD_BYTES}, {_DONE[self.errors]}", problem.where, bad)
        return data.decode("utf-8", _HANDLERS[self.errors])

    def without_surrogates(self, text: str, where: Place, name: str = "the text", kind: str = SURROGATES) -> str:
        """Return a text without lone surrogates, such as bad bytes became; an InputError if they are errors."""
        try:
            text.encode()
        except UnicodeEncodeError as error:
            if self.errors == "strict":
                problem = Problem(where(), f"{name} holds a lone surrogate, so it is not Unicode; {_READ_ON}")
                raise InputError([problem]) from error
        else:
            return text
        self.add(f"{kind}, {_DONE[self.errors]}", where, len(_SURROGATES.findall(text)))
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
