"""The files of a corpus and their blocks, which are read alone: of a large plain file, nothing else is read."""

from __future__ import annotations

import glob
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Final, NamedTuple

from tokbench.plugin import InputError, Problem, opened

_PACKED: Final = frozenset({".gz", ".zst"})
_ROWS: Final = frozenset({".jsonl", ".ndjson"})
_HEAD, _ROWS_HEAD, _MOST = 1 << 13, 1 << 18, 1 << 20


class CorpusFile(NamedTuple):
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
    root, files, left_out = Path(corpus), list[CorpusFile](), dict[str, list[str]]()
    found = root.rglob("*") if root.is_dir() else map(Path, glob.glob(corpus, recursive=True) or [corpus])  # noqa: PTH207
    for path in sorted(found):
        inner = path.relative_to(root) if root.is_dir() else Path(path.name)
        if path.is_dir() or any(part.startswith(".") for part in inner.parts):
            continue
        plain = path.with_suffix("") if path.suffix in _PACKED else path
        ending = plain.suffix.lower()
        with opened(path) as file:
            head = file.read(_ROWS_HEAD if ending in _ROWS else _HEAD)
            more = iter(lambda file=file: file.read(_MOST), b"")  # type: ignore[misc]
            size = path.stat().st_size if plain is path else len(head) + sum(map(len, more))
        if not head or b"\0" in head:
            left_out.setdefault("binary" if head else "empty", []).append(str(inner))
            continue
        rows = [len(row) for row in head.split(b"\n")] if ending in _ROWS else []
        files.append(CorpusFile(path, inner, ending, size, sum(row**2 for row in rows) // max(sum(rows), 1)))
    if not files:
        raise InputError([Problem(corpus, "no file with text; give a file, a folder or a pattern")])
    return files, left_out


def read_blocks(file: CorpusFile, size: int, numbers: Sequence[int]) -> Iterator[bytes]:
    """Yield some blocks of a file, by rising numbers.

    Of text, block ``k`` begins behind the first line end from byte ``k * size`` on, or at a character where there is no
    line end for a whole block; all blocks are the file. Of rows, it is the row with byte ``k * size``.
    """
    places = [number * size for number in numbers]
    with opened(file.path) as stream:
        if size >= file.size:
            yield stream.read()
        elif file.path.suffix in _PACKED:
            yield from _packed(stream, file, size, places)
        else:
            for place in places:
                if file.row:
                    yield _row(stream, place)
                else:
                    stream.seek(place)
                    yield _between(stream.read(2 * size), size, place)


def _between(data: bytes, size: int, place: int) -> bytes:
    edges = [0] * (place == 0)
    for at in (0, size)[len(edges) :]:
        characters = (spot for spot in range(at, len(data)) if data[spot] & 0xC0 != 0x80)  # noqa: PLR2004
        edges.append(data.find(b"\n", at, at + size) + 1 or next(characters, len(data)))
    return data[edges[0] : edges[1]]


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


def _packed(stream: IO[bytes], file: CorpusFile, size: int, places: Sequence[int]) -> Iterator[bytes]:
    """Read all of a stream, in pieces; keep what a later block needs."""
    data, start = b"", 0
    for place in places:
        if file.row:
            while start + len(data) <= place:
                start, data = start + len(data), stream.readline()
            yield data
            continue
        while start + len(data) < place:
            start, data = start + len(data), stream.read(min(_MOST, place - start - len(data)))
        data, start = data[place - start :], place
        data += stream.read(2 * size - len(data))
        yield _between(data, size, place)


def documents_of(file: CorpusFile, block: bytes, field: str) -> list[str]:
    """Return the texts of a block: all of it, or a field of each row."""
    if not file.row:
        return [block.decode(errors="replace")]
    try:
        return [str(json.loads(line)[field]) for line in block.splitlines() if line.strip()]
    except (ValueError, TypeError, KeyError) as error:
        message = f"a row has no field {field!r} ({error!r}); name the field of the text with --field"
        raise InputError([Problem(str(file.path), message)]) from error
