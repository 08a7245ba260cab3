"""The files of a corpus and their blocks, which are read alone: of a large plain file, nothing else is read."""

from __future__ import annotations

import glob
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from tokbench.plugin import InputError, Problem, opened

_PACKED: Final = frozenset({".gz", ".zst"})
_ROWS: Final = frozenset({".jsonl", ".ndjson"})
_HEAD: Final = 8192
_ROWS_HEAD: Final = 1 << 18
_MOST: Final = 1 << 20


@dataclass(frozen=True)
class CorpusFile:
    """A file of text, or of JSON rows with text."""

    path: Path
    inner: Path
    """The path from the folder of the corpus."""
    ending: str
    size: int
    """Bytes, decompressed."""
    row: int = 0
    """The size of the row of JSON to which a byte belongs, on average; 0 for text."""


def files_of(corpus: str) -> tuple[list[CorpusFile], dict[str, list[str]]]:
    """Return the files of a file, folder or pattern, and the names of those without text by reason.

    The size of a compressed file is found by reading it once.
    """
    root = Path(corpus)
    found = root.rglob("*") if root.is_dir() else map(Path, glob.glob(corpus, recursive=True) or [corpus])  # noqa: PTH207
    paths = sorted(found)
    files, left_out = list[CorpusFile](), dict[str, list[str]]()
    for path in paths:
        inner = path.relative_to(root) if root.is_dir() else Path(path.name)
        if path.is_dir() or any(part.startswith(".") for part in inner.parts):
            continue
        plain = path.with_suffix("") if path.suffix in _PACKED else path
        with opened(path) as file:
            head = file.read(_ROWS_HEAD if plain.suffix.lower() in _ROWS else _HEAD)
            reason = "binary" if b"\0" in head else "" if head else "empty"
            size = path.stat().st_size if plain is path or reason else len(head) + _length(file)
        if reason:
            left_out.setdefault(reason, []).append(str(inner))
        else:
            rows = [len(row) for row in head.split(b"\n")] if plain.suffix.lower() in _ROWS else []
            row = sum(row**2 for row in rows) // max(sum(rows), 1)
            files.append(CorpusFile(path, inner, plain.suffix.lower(), size, row))
    if not files:
        raise InputError([Problem(corpus, "no file with text; give a file, a folder or a pattern")])
    return files, left_out


def _length(file: IO[bytes]) -> int:
    return sum(map(len, iter(lambda: file.read(_MOST), b"")))


def read_blocks(file: CorpusFile, size: int, numbers: Sequence[int]) -> Iterator[bytes]:
    """Yield some blocks of a file, by rising numbers.

    Of text, block ``k`` begins behind the first line end from byte ``k * size`` on, or at a character where there is no
    line end for a whole block; all blocks are the file. Of rows, it is the row with byte ``k * size``.
    """
    packed = file.path.suffix in _PACKED
    with opened(file.path) as stream:
        if size >= file.size:
            yield stream.read()
        elif file.row:
            places = (number * size for number in numbers)
            yield from _packed_rows(stream, places) if packed else (_row(stream, place) for place in places)
        else:
            window = _Window(stream, packed=packed)
            for start in (number * size for number in numbers):
                data = window.read(start, 2 * size)
                yield data[_edge(data, 0, size) if start else 0 : _edge(data, size, size)]


def _edge(data: bytes, at: int, size: int) -> int:
    if line := data.find(b"\n", at, at + size) + 1:
        return line
    return next((place for place in range(at, len(data)) if data[place] & 0xC0 != 0x80), len(data))  # noqa: PLR2004


def _row(stream: IO[bytes], place: int) -> bytes:
    reach = _HEAD
    while True:
        start = max(0, place - reach)
        stream.seek(start)
        data = stream.read(place - start + reach)
        first, last = data.rfind(b"\n", 0, place - start) + 1, data.find(b"\n", place - start) + 1
        if (first or not start) and (last or len(data) < place - start + reach):
            return data[first : last or None]
        reach *= 4


def _packed_rows(stream: IO[bytes], places: Iterator[int]) -> Iterator[bytes]:
    end, place = 0, next(places, None)
    for row in stream:
        end += len(row)
        while place is not None and place < end:
            yield row
            place = next(places, None)


class _Window:
    """What was read last of a stream; places never fall."""

    def __init__(self, stream: IO[bytes], *, packed: bool) -> None:
        self._stream, self._packed = stream, packed
        self._at, self._data = 0, b""

    def read(self, start: int, length: int) -> bytes:
        gap = start - self._at - len(self._data)
        if gap <= 0:
            self._data = self._data[start - self._at :]
        else:
            self._data = b""
            if not self._packed:
                self._stream.seek(start)
            while self._packed and gap:
                gap -= len(self._stream.read(min(gap, _MOST)))
        self._at = start
        self._data += self._stream.read(max(0, length - len(self._data)))
        return self._data[:length]


def documents_of(file: CorpusFile, block: bytes, field: str) -> list[str]:
    """Return the texts of a block: all of it, or a field of each row."""
    if not file.row:
        return [block.decode(errors="replace")] if block else []
    try:
        rows = [json.loads(line) for line in block.splitlines() if line.strip()]
        return [str(row[field]) for row in rows]
    except (ValueError, TypeError, KeyError) as error:
        message = f"a row has no field {field!r} ({error!r}); name the field of the text with --field"
        raise InputError([Problem(str(file.path), message)]) from error
