"""Cuts files into pieces that are counted by themselves, and reads the blocks of a piece.

A plain text file is cut where every named split ends a chunk whatever follows: between a line break after something
visible and a letter, or between a letter and a space before a letter.
"""

from __future__ import annotations

import glob
import io
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final, Literal, NamedTuple

import numpy as np
import regex

from tokbench import plugin
from tokbench.foundation.compressed import opened, plain_name
from tokbench.foundation.files import not_text
from tokbench.sources.csv import CsvOptions, CsvSource
from tokbench.sources.faults import BAD_BYTES, EMPTY, NULLS, Errors, Faults, Met, Nulls, mend_utf8, readable_name
from tokbench.sources.files import find_files, group_names
from tokbench.sources.parquet import ParquetOptions, ParquetSource
from tokbench.sources.rows import RowFileOptions, RowFiles
from tokbench_plugins.bpe.compiled.count import encode_documents
from tokbench_plugins.bpe.compiled.encode_chunks import PADDING
from tokbench_plugins.bpe.compiled.scan import scanner
from tokbench_plugins.counts.count import Block
from tokbench_plugins.counts.facts import position

Documents = Literal["file", "line"]

STDIN: Final = "-"
_BLOCK: Final = 4 << 20
_PIECE: Final = 64 << 20
_HEAD: Final = 8192
_CSV: Final = (CsvSource, CsvOptions)
_TABLES: Final[dict[str, tuple[type[RowFiles], type[RowFileOptions]]]] = {
    ".csv": _CSV,
    ".tsv": _CSV,
    ".parquet": (ParquetSource, ParquetOptions),
}
"""What a source reads whole, a row a document."""
_ROWS: Final = frozenset({".jsonl", ".ndjson"})
_BATCH: Final = 1024
_CUT: Final = regex.compile(r"(?<=\S\n)(?=\p{L})|(?<=\p{L})(?= \p{L})")
_LINE: Final = regex.compile(r"(?<=\n)(?!\r?\n)")


class Reading(NamedTuple):
    """How files become documents."""

    pattern: str
    document: Documents = "file"
    field: str = "text"
    """The field of a row that holds the text."""
    group: str = ""
    """A template, such as ``{language}``, or of the fields of a row."""
    errors: Errors = "strict"
    nulls: Nulls = "error"


class Piece(NamedTuple):
    """A part of a file."""

    file: int
    path: str
    start: int
    """In bytes; the piece begins at the first cut from there on."""
    end: int
    """It ends at the first cut from there on, or with the file."""

    @property
    def size(self) -> int:
        return self.end - self.start


@dataclass
class Amount:
    """What was read."""

    bytes: int = 0
    documents: int = 0
    bad: Met = field(default_factory=Met)
    """Bytes that are not UTF-8, replaced or left out."""
    nulls: Met = field(default_factory=Met)
    """Rows that are left out."""

    @classmethod
    def of(cls, known: dict[str, Any]) -> Amount:
        return cls(**{**known, "bad": Met(**known["bad"]), "nulls": Met(**known["nulls"])})

    def add(self, other: Amount) -> None:
        self.bytes += other.bytes
        self.documents += other.documents
        self.bad.add(other.bad)
        self.nulls.add(other.nulls)


class FoundFiles(NamedTuple):
    """The files of a corpus."""

    files: list[Path]
    left_out: Faults
    """What is not text, and what is not a file."""


def find(names: Sequence[str]) -> FoundFiles:
    """Return the files of paths, folders and glob patterns, each once, in order."""
    files: dict[Path, None] = {}
    left_out = Faults()
    for name in names:
        path = Path(name)
        if name == STDIN:
            files[path] = None
        elif path.is_dir():
            for inside in _files(path / "**", left_out):
                if inside.suffix != ".parquet" and _is_binary(inside):
                    left_out.add("files that are not text, left out", readable_name(inside))
                else:
                    files[inside] = None
        else:
            files |= dict.fromkeys(_files(path, left_out))
    for path in (path for path in files if str(path) != STDIN and not path.stat().st_size):
        left_out.add(EMPTY, readable_name(path))
    if not files:
        raise plugin.InputError(f"{', '.join(names)}: no file holds text")
    return FoundFiles(list(files), left_out)


def _files(pattern: Path, left_out: Faults) -> list[Path]:
    try:
        return find_files(pattern, faults=left_out)
    except plugin.InputError as error:
        raise plugin.InputError(f"{str(error).partition(';')[0]}; give files, folders or patterns") from error


def _is_binary(path: Path) -> bool:
    with opened(path) as file:
        return bool(not_text(file.read(_HEAD)))


def pieces(files: Sequence[Path], reading: Reading) -> list[Piece]:
    """Cut what can be cut: plain text, and rows of JSON."""
    made: list[Piece] = []
    for number, path in enumerate(files):
        size = 0 if str(path) == STDIN else path.stat().st_size
        step = _PIECE if _can_be_cut(path, reading) else max(size, 1)
        made += [Piece(number, str(path), start, min(start + step, size)) for start in range(0, max(size, 1), step)]
    return made


def _can_be_cut(path: Path, reading: Reading) -> bool:
    if str(path) == STDIN or plain_name(path) != path or path.suffix in _TABLES:
        return False
    return path.suffix in _ROWS or reading.document == "line" or scanner(reading.pattern) is not None


class PieceReader:
    """Reads the blocks of one piece; ``amount`` says how much text so far, ``read`` how many bytes of the file."""

    def __init__(self, piece: Piece, reading: Reading) -> None:
        self._piece, self._reading = piece, reading
        self._path = Path(piece.path)
        self._is_rows = plain_name(self._path).suffix in _ROWS
        by_line = self._is_rows or reading.document == "line"
        self._cut = _LINE if by_line else _CUT if scanner(reading.pattern) else None
        self.amount, self.read = Amount(), 0

    def __iter__(self) -> Iterator[Block]:
        if table := _TABLES.get(plain_name(self._path).suffix):
            yield from self._table(*table)
            return
        with self._opened() as file:
            for start, data in self._stretches(file):
                self.read = start + len(data) - self._piece.start
                yield from self._rows(start, data) if self._is_rows else self._text(start, data)
        if not self._is_rows and self._reading.document == "file" and self._piece.start == 0 and self.amount.bytes:
            self.amount.documents += 1

    def _opened(self) -> Any:
        return nullcontext(sys.stdin.buffer) if self._piece.path == STDIN else opened(self._path)

    def _stretches(self, file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
        """Yield blocks that begin and end at cuts, with where they begin."""
        piece, whole = self._piece, self._piece.path == STDIN or plain_name(self._path) != self._path
        start = self._first_cut(file, piece.start) if piece.start else 0
        stop = None if whole or piece.end >= self._path.stat().st_size else self._first_cut(file, piece.end)
        if start:
            file.seek(start)
        elif not whole:
            file.seek(0)
        if self._cut is None:
            yield 0, file.read()
            return
        rest = b""
        while True:
            room = _BLOCK if stop is None else min(_BLOCK, stop - start - len(rest))
            more = file.read(room) if room > 0 else b""
            data = rest + more
            if not more:
                if data:
                    yield start, data
                return
            end = self._last_cut(data) if stop is None or start + len(data) < stop else len(data)
            if end:
                yield start, data[:end]
                start += end
            rest = data[end:]

    def _first_cut(self, file: IO[bytes], at: int) -> int:
        """Return the first cut from a byte on, or the end of the file."""
        assert self._cut
        size = 1 << 16
        begin = max(0, at - 8)
        while True:
            file.seek(begin)
            data = file.read(size)
            lead = at - begin
            while lead < len(data) and data[lead] & 0xC0 == 0x80:  # noqa: PLR2004 - inside a character
                lead += 1
            text, before = data.decode("utf-8", "surrogateescape"), data[:lead].decode("utf-8", "surrogateescape")
            found = self._cut.search(text, len(before))
            if found and (found.start() < len(text) - 8 or len(data) < size):
                return begin + len(text[: found.start()].encode("utf-8", "surrogateescape"))
            if len(data) < size:
                return begin + len(data)
            size *= 4

    def _last_cut(self, data: bytes) -> int:
        """Return the last cut in a block, or 0."""
        assert self._cut
        size = 1 << 12
        while True:
            begin = max(0, len(data) - size)
            while begin < len(data) and data[begin] & 0xC0 == 0x80:  # noqa: PLR2004
                begin += 1
            text = data[begin:].decode("utf-8", "surrogateescape")
            seen = [found.start() for found in self._cut.finditer(text, 8 if begin else 1)]
            cuts = [cut for cut in seen if cut < len(text) - 8]
            if cuts:
                return begin + len(text[: cuts[-1]].encode("utf-8", "surrogateescape"))
            if begin == 0:
                return 0
            size *= 8

    def _text(self, start: int, data: bytes) -> Iterator[Block]:
        data = self._valid(start, data)
        if self._reading.document == "line" and not data.endswith(b"\n"):
            data += b"\n"  # as a corpus gives its last line
        array = np.frombuffer(bytearray(data + bytes(PADDING)), np.uint8)
        if self._reading.document == "line":
            offsets = _line_starts(array[: len(data)])
            self.amount.documents += offsets.size - 1
            if offsets.size < 2:  # noqa: PLR2004
                return
        else:
            offsets = np.array([0, len(data)], np.int64)
        self.amount.bytes += int(offsets[-1] - offsets[0])
        yield Block(array, offsets, position(self._piece.file, start) + offsets[:-1], self._group())

    def _group(self) -> str:
        return self._reading.group.format(**group_names(self._path)) if self._reading.group else ""

    def _valid(self, start: int, data: bytes) -> bytes:
        try:
            str(data, "utf-8")
        except UnicodeDecodeError as error:
            at = start + error.start
            where, what = self._where(at), f"byte 0x{data[error.start]:02x}"
            if self._reading.errors == "strict":
                remedy = "mend it with: iconv -c -f UTF-8 -t UTF-8, or use --errors replace"
                raise plugin.InputError([plugin.Problem(where, f"{what} is not UTF-8; {remedy}")]) from error
            text, bad = mend_utf8(data, self._reading.errors)
            self.amount.bad.add(Met(bad, where, position(self._piece.file, at)))
            return text.encode()
        return data

    def _where(self, byte: int) -> str:
        if self._piece.path == STDIN:
            return f"standard input, byte {byte + 1:,}"
        with opened(self._path) as file:
            before = file.read(byte)
        lines = before.split(b"\n")
        return f"{readable_name(self._path)}:{len(lines)}:{len(lines[-1].decode('utf-8', 'replace')) + 1}"

    def _rows(self, start: int, data: bytes) -> Iterator[Block]:
        texts: list[str] = []
        firsts: list[int] = []
        groups: list[str] = []
        at = start
        for line in io.BytesIO(self._valid(start, data)):
            if not line.isspace():
                try:
                    row = json.loads(line)
                except json.JSONDecodeError as error:
                    message = f"is not JSON: {error.msg}; every line must be one object"
                    raise plugin.InputError([plugin.Problem(self._where(at + error.pos), message)]) from error
                if not self._is_null(row, at):
                    texts.append(self._field(row, self._reading.field, at))
                    groups.append(self._row_group(row, at))
                    firsts.append(at)
            at += len(line)
        yield from self._blocks(texts, firsts, groups)

    def _is_null(self, row: Any, at: int) -> bool:
        """Tell whether a row is left out, and count it."""
        null = self._reading.nulls == "skip" and isinstance(row, dict) and row.get(self._reading.field, "") is None
        if null:
            where = "" if self.amount.nulls.times else self._where(at)
            self.amount.nulls.add(Met(1, where, position(self._piece.file, at)))
        return null

    def _field(self, row: Any, name: str, at: int) -> str:
        value = row.get(name) if isinstance(row, dict) else None
        if not isinstance(value, str):
            known = ", ".join(map(str, row)) if isinstance(row, dict) else "no fields"
            remedy = "name another with --field, or leave rows with null out with --nulls skip"
            message = f"has no text in the field {name!r}; it has: {known}; {remedy}"
            raise plugin.InputError([plugin.Problem(self._where(at), message)])
        return value

    def _row_group(self, row: Any, at: int) -> str:
        if not self._reading.group:
            return ""
        try:
            return self._reading.group.format(**row)
        except (KeyError, TypeError, IndexError) as error:
            raise plugin.InputError([plugin.Problem(self._where(at), f"has no field {error} for --group")]) from error

    def _blocks(self, texts: list[str], firsts: list[int], groups: list[str]) -> Iterator[Block]:
        base = position(self._piece.file, 0)
        for group in dict.fromkeys(groups):
            chosen = [k for k, other in enumerate(groups) if other == group]
            data, offsets = encode_documents([texts[k] for k in chosen])
            self.amount.documents += len(chosen)
            self.amount.bytes += int(offsets[-1])
            yield Block(data, offsets, base + np.array([firsts[k] for k in chosen], np.int64), group)

    def _table(self, kind: Any, options: type[RowFileOptions]) -> Iterator[Block]:
        reading, at = self._reading, 0
        keys = {"text": reading.field, "group": reading.group, "errors": reading.errors, "nulls": reading.nulls}
        source = kind(options.model_validate({"path": glob.escape(str(self._path)), **keys}))
        documents = source.documents()
        while rows := list(islice(documents, _BATCH)):
            ends = np.cumsum([len(row.text.encode()) for row in rows]).tolist()
            firsts = [at + end for end in [0, *ends[:-1]]]
            at += ends[-1]
            yield from self._blocks([row.text for row in rows], firsts, [row.group for row in rows])
        begin = position(self._piece.file, 0)
        self.amount.bad.add(replace(source.faults.of_kind(BAD_BYTES), at=begin))
        self.amount.nulls.add(replace(source.faults.of_kind(NULLS), at=begin))


def _line_starts(data: Any) -> Any:
    """Return int64[d + 1], where documents begin: at lines that are not empty; blank lines belong to the one before."""
    newline = data == ord("\n")
    blank = newline.copy()
    blank[:-1] |= (data[:-1] == ord("\r")) & newline[1:]
    begins = np.empty(data.size, np.bool_)
    begins[:1] = True
    begins[1:] = newline[:-1]
    starts = np.flatnonzero(begins & ~blank)
    return np.append(starts, data.size).astype(np.int64)
