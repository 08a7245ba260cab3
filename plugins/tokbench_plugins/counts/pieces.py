"""Cuts files into pieces that are counted by themselves, and reads the blocks of a piece.

A plain text file is cut where every named split ends a chunk whatever follows: between a line break after something
visible and a letter, or between a letter and a space before a letter.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final, Literal, NamedTuple

import numpy as np
import regex

from tokbench import plugin
from tokbench.text.cuts import TextReader, reading
from tokbench.text.faults import Errors, Faults, Met, Nulls
from tokbench.text.find import file_names
from tokbench.text.formats import ROWS, Format, refuse_zeros
from tokbench.text.opening import STDIN
from tokbench.text.read import documents_in
from tokbench.text.rows import RowForm, first_field, parse_row, rows_of, text_of_row
from tokbench.text.templates import file_group, fill_template, template_fields
from tokbench_plugins.bpe.compiled.encode_chunks import PADDING
from tokbench_plugins.bpe.compiled.scan import scanner
from tokbench_plugins.bpe.patterns import PUBLISHED
from tokbench_plugins.counts.count import Block, blocks_of
from tokbench_plugins.counts.facts import position

Documents = Literal["file", "line"]

_BLOCK: Final = 4 << 20
_PIECE: Final = 64 << 20
_BATCH: Final = 1024
_CUT: Final = regex.compile(r"(?<=\S\n)(?=\p{L})|(?<=\p{L})(?= \p{L})")
_LINE: Final = regex.compile(r"(?<=\n)(?!\r?\n)")


class Reading(NamedTuple):
    """How files become documents."""

    pattern: str
    document: Documents = "file"
    field: str = ""
    """The field of a row that holds the text; empty for the first of the usual ones."""
    group: str = ""
    """A template, such as ``{language}``, or of the fields of a row."""
    errors: Errors = "strict"
    nulls: Nulls = "error"
    border: str = ""
    """A regular expression that matches where a text may be cut; empty for what all named splits have."""

    @property
    def cut(self) -> regex.Pattern[str] | None:
        """Where a text may be cut; ``None`` if that is unknown."""
        if self.border:
            return regex.compile(self.border)
        return _CUT if scanner(self.pattern) or self.pattern in PUBLISHED.values() else None


class Piece(NamedTuple):
    """A part of a file."""

    file: int
    path: str
    start: int
    """In bytes; the piece begins at the first cut from there on."""
    end: int
    """It ends at the first cut from there on, or with the file."""
    form: Format | None = None
    """``None`` if it shows when it is read."""

    @property
    def size(self) -> int:
        return self.end - self.start


@dataclass
class Amount:
    """What was read."""

    bytes: int = 0
    documents: int = 0
    faults: Faults = field(default_factory=Faults)
    """What was replaced or left out."""
    sizes: dict[str, int] = field(default_factory=dict)
    """By number of a file, how far its places go: its bytes, unpacked, or those of its texts."""

    @classmethod
    def of(cls, known: Mapping[str, Any]) -> Amount:
        faults = Faults(met={kind: Met(**met) for kind, met in known["faults"]["met"].items()})
        return cls(**{**known, "faults": faults})

    def add(self, other: Amount) -> None:
        self.bytes += other.bytes
        self.documents += other.documents
        self.faults.include(other.faults)
        for file, size in other.sizes.items():
            self.sizes[file] = self.sizes.get(file, 0) + size


def pieces(files: Sequence[Path], how: Reading) -> list[Piece]:
    """Cut what can be cut: plain text, and rows of JSON."""
    made: list[Piece] = []
    for number, path in enumerate(files):
        if path == STDIN:
            made.append(Piece(number, str(path), 0, 0))
            continue
        size = path.stat().st_size
        with reading(path) as reader:
            by_line = reader.form == "jsonl" or (reader.form == "text" and how.document == "line")
            if reader.form not in ROWS:
                file_group(how.group, path, reader.place)
            can_be_cut = by_line or (reader.form == "text" and how.cut is not None)
            step = _PIECE if can_be_cut and reader.path else max(size, 1)
        starts = range(0, max(size, 1), step)
        made += [Piece(number, str(path), start, min(start + step, size), reader.form) for start in starts]
    return made


class PieceReader:
    """Reads the blocks of one piece; ``amount`` says how much text so far, ``read`` how many bytes of the file."""

    def __init__(self, piece: Piece, how: Reading) -> None:
        self._piece, self._how = piece, how
        self._path = Path(piece.path)
        self._names = file_names(self._path)
        others = tuple(name for name in template_fields(how.group) if first_field(name) not in self._names)
        self._form = RowForm(how.field, how.nulls, others)
        self.amount, self.read = Amount(faults=Faults(how.errors)), 0
        self._start, self._stretch, self._lines, self._chars = 0, b"", 0, 0  # lines, characters of a line: before it

    def __iter__(self) -> Iterator[Block]:
        piece, size = self._piece, self._piece.size
        with reading(self._path, piece.form, faults=self.amount.faults) as reader:
            self._reader = reader
            by_line = reader.form == "jsonl" or self._how.document == "line"
            self._cut = _LINE if by_line else self._how.cut
            if reader.form in {"text", "jsonl"}:
                for start, data in self._stretches(reader):
                    self.read = reader.file.place - piece.start
                    size = size if reader.path else start + len(data)
                    if self._path == STDIN:
                        self._go_on(start, data)
                    yield from self._rows(start, data) if reader.form == "jsonl" else self._text(start, data)
            else:
                for size, blocks in self._table(reader):  # noqa: B007
                    self.read = reader.file.place
                    yield from blocks
        if reader.form == "text" and self._how.document == "file" and piece.start == 0 and self.amount.bytes:
            self.amount.documents += 1
        self.amount.sizes = {str(piece.file): size}
        for met in self.amount.faults.met.values():
            met.at = position(piece.file, piece.start)

    def _stretches(self, reader: TextReader) -> Iterator[tuple[int, bytes]]:
        """Yield blocks that begin and end at cuts, with where they begin."""
        piece, file, whole = self._piece, reader.file, reader.path is None
        start = self._first_cut(file, piece.start) if piece.start else 0
        stop = None if whole or piece.end >= self._path.stat().st_size else self._first_cut(file, piece.end)
        if not whole:
            file.seek(start)
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
            match = self._cut.search(text, len(before))
            if match and (match.start() < len(text) - 8 or len(data) < size):
                return begin + len(text[: match.start()].encode("utf-8", "surrogateescape"))
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
            seen = [match.start() for match in self._cut.finditer(text, 8 if begin else 1)]
            cuts = [cut for cut in seen if cut < len(text) - 8]
            if cuts:
                return begin + len(text[: cuts[-1]].encode("utf-8", "surrogateescape"))
            if begin == 0:
                return 0
            size *= 8

    def _text(self, start: int, data: bytes) -> Iterator[Block]:
        data = self._valid(start, data)
        array = np.frombuffer(bytearray(data + bytes(PADDING)), np.uint8)
        if self._how.document == "line":
            offsets = _line_starts(array[: len(data)])
            self.amount.documents += offsets.size - 1
            if offsets.size < 2:  # noqa: PLR2004
                return
        else:
            offsets = np.array([0, len(data)], np.int64)
        self.amount.bytes += int(offsets[-1] - offsets[0])
        group = file_group(self._how.group, self._path, self._reader.place)
        yield Block(array, offsets, position(self._piece.file, start) + offsets[:-1], group)

    def _valid(self, start: int, data: bytes) -> bytes:
        try:
            str(data, "utf-8")
        except UnicodeDecodeError as error:
            refuse_zeros(self._reader.head, self._reader.place)
            message = f"not UTF-8: byte 0x{data[error.start]:02x} ({error.reason})"
            return self.amount.faults.mended(data, plugin.Problem(self._where(start + error.start), message)).encode()
        return data

    def _go_on(self, start: int, data: bytes) -> None:
        """Remember a stretch, because standard input cannot be read again for the place of a fault."""
        ended, line_end, rest = self._stretch.rpartition(b"\n")
        self._lines += ended.count(b"\n") + len(line_end)
        self._chars = len(rest.decode("utf-8", "replace")) + (0 if line_end else self._chars)
        self._start, self._stretch = start, data

    def _where(self, byte: int, *, column: bool = True) -> str:
        lines, chars = (self._lines, self._chars) if self._path == STDIN else (0, 0)
        if self._path == STDIN:
            before = self._stretch[: byte - self._start]
        else:
            with plugin.opened(self._path) as file:
                before = file.read(byte)
        *ended, last = before.split(b"\n")
        inside = f":{len(last.decode('utf-8', 'replace')) + (0 if ended else chars) + 1}" if column else ""
        return f"{self._reader.place}:{lines + len(ended) + 1}{inside}"

    def _rows(self, start: int, data: bytes) -> Iterator[Block]:
        texts: list[str] = []
        firsts: list[int] = []
        groups: list[str] = []
        at = start
        for line in io.BytesIO(self._valid(start, data)):
            if not line.isspace():
                where = partial(self._where, at, column=False)
                row = parse_row(line, where)
                if (text := text_of_row(row, self._form, self.amount.faults, where)) is not None:
                    texts.append(text)
                    groups.append(self._row_group(row, where))
                    firsts.append(at)
            at += len(line)
        yield from self._blocks(texts, firsts, groups)

    def _row_group(self, row: Mapping[str, Any], where: Callable[[], str]) -> str:
        return fill_template(self._how.group, {**row, **self._names}, where) if self._how.group else ""

    def _table(self, reader: TextReader) -> Iterator[tuple[int, Iterator[Block]]]:
        """Yield blocks of a file that is no text of its own, with how many bytes its texts have so far."""
        documents, at = self._documents(reader), 0
        while some := list(islice(documents, _BATCH)):
            ends = np.cumsum([len(text.encode()) for text, _ in some]).tolist()
            firsts = [at + end for end in [0, *ends[:-1]]]
            at += ends[-1]
            yield at, self._blocks([text for text, _ in some], firsts, [group for _, group in some])

    def _documents(self, reader: TextReader) -> Iterator[tuple[str, str]]:
        """Yield the text and the group of rows or sentences."""
        if reader.form not in ROWS:
            group = file_group(self._how.group, self._path, reader.place)
            yield from ((document.text, group) for document in documents_in(reader, self._form))
            return
        for row in rows_of(reader, self._form):
            yield row.text, self._row_group(row.values, f"{reader.place}:{row.number}".format)

    def _blocks(self, texts: list[str], firsts: list[int], groups: list[str]) -> Iterator[Block]:
        places = position(self._piece.file, 0) + np.array(firsts, np.int64)
        for block in blocks_of(texts, groups, places):
            self.amount.documents += block.offsets.size - 1
            self.amount.bytes += int(block.offsets[-1])
            yield block


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
