"""What a file holds, by its content and its name: text, rows, sentences; and advice on what is not text."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final, Literal

from tokbench.corpus.languages import is_language
from tokbench.corpus.programs import programming_language
from tokbench.foundation.errors import InputError, Problem
from tokbench.foundation.files import kind_of_bytes
from tokbench.text.opening import plain_name

Format = Literal["text", "jsonl", "csv", "parquet", "conllu"]

ROWS: Final = frozenset[Format]({"jsonl", "csv", "parquet"})
"""Formats whose documents are fields of rows."""

FIELDS: Final = ("text", "content", "body", "sentence")
"""The fields that may hold the text of a row where none is named: the first that the row has."""

_ENDINGS: Final[dict[str, Format]] = {
    **dict.fromkeys("txt text md markdown rst adoc asciidoc org".split(), "text"),
    **dict.fromkeys(["jsonl", "ndjson"], "jsonl"),
    **dict.fromkeys(["csv", "tsv"], "csv"),
    "conllu": "conllu",
    "parquet": "parquet",
}
_HEAD: Final = 8192
_PARQUET: Final = b"PAR1\x15"
_WORD_LINE: Final = re.compile(rb"(?:#[^\n]*\r?\n)*1(?:-\d+)?(?:\t[^\t\n]*){9}\r?\n")


class NotTextError(InputError):
    """A file is empty, or holds something else than text."""


def ending_of(path: Path) -> str:
    """Return the ending of a name without that of a packed file, in lower case.

    >>> ending_of(Path("a/b.TXT.gz")), ending_of(Path("Makefile"))
    ('txt', '')
    """
    return plain_name(path).suffix[1:].lower()


def named_format(path: Path) -> Format | None:
    """Return the format that a name promises: of prose, of code, or ``x.de`` of a language; ``None`` if it is unknown.

    >>> [named_format(Path(name)) for name in ("a.csv.gz", "a.py", "a.fi", "a.x")]
    ['csv', 'text', 'text', None]
    """
    ending = ending_of(path)
    known = programming_language(ending) or is_language(ending)
    return _ENDINGS.get(ending) or ("text" if known else None)


def format_of(path: Path, head: bytes, place: str, wanted: Format | None = None) -> Format:
    """Return the format of a file with these first bytes.

    Parquet is known by them, other formats by the ending. Where that is unknown, JSON Lines, CoNLL-U and tables with a
    column of ``FIELDS`` are known by their first line, and so are JSON Lines in ``.json``. An InputError with ``place``
    if it is not text, or Parquet where another format is wanted.
    """
    if head.startswith(_PARQUET) and wanted in {None, "parquet"}:
        return "parquet"
    named = wanted or named_format(path)
    refuse_binary(head, place, utf16=named == "csv")
    if named and (wanted or ending_of(path) != "json"):
        return named
    sniffed = _sniffed(head)
    return sniffed if sniffed == "jsonl" or not named else named


def refuse_binary(head: bytes, place: str, *, utf16: bool = False) -> None:
    """Raise an InputError with advice if a file begins like one that is not text."""
    kind = kind_of_bytes(head)
    if kind and not (utf16 and kind.name.startswith("UTF-16")):
        raise NotTextError([Problem(place, f"is {kind.name}, not text in UTF-8; {kind.advice}")])


def refuse_zeros(head: bytes, place: str) -> None:
    """Raise an InputError if a file that is not UTF-8 has zeros; in UTF-8 they are text."""
    if zero := head[:_HEAD].find(0) + 1:
        message = f"is a binary file (byte {zero:,} is zero), not text in UTF-8; leave it out"
        raise NotTextError([Problem(place, message)])


def _sniffed(head: bytes) -> Format:
    head = head.removeprefix(b"\xef\xbb\xbf")
    lines = head.split(b"\n", 2)[:-1]  # whole lines
    try:
        rows = [json.loads(line) for line in lines if line.strip()]
    except ValueError:
        rows = []
    if rows and all(isinstance(row, dict) and any(isinstance(row.get(name), str) for name in FIELDS) for row in rows):
        return "jsonl"
    if _WORD_LINE.match(head):
        return "conllu"
    header = next((line.strip().split(mark) for line in lines[:1] for mark in (b",", b";", b"\t") if mark in line), [])
    return "csv" if any(name.encode() in header for name in FIELDS) else "text"
