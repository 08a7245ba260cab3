"""Estimates the tokens of a corpus from random blocks of its files."""

from __future__ import annotations

import io
import json
import math
import os
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from mmap import ACCESS_READ, mmap
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final, NamedTuple

import numpy as np

from tokbench.plugin import InputError, TextError, Tokenizer, decode_utf8, encode_batch, opened
from tokbench.text.cuts import reading
from tokbench.text.faults import Faults
from tokbench.text.find import find_texts
from tokbench.text.formats import FIELDS, Format, ending_of, refuse_zeros
from tokbench.text.opening import STDIN
from tokbench.text.read import documents_in
from tokbench.text.rows import RowForm, parse_row, text_of_row
from tokbench_questions.named import load

_ROWS_HEAD: Final = 1 << 18
_LINE_END: Final = b"\n"
_BLOCKS: Final = 400
"""Blocks of a sample, where the largest block allows."""
_FEWEST: Final = 40
_SMALLEST, _LARGEST = 1 << 10, 1 << 16
_PER_STRATUM: Final = 3


@dataclass(frozen=True)
class Stratum:
    """Files of one kind, and the estimate of their tokens."""

    name: str
    files: int
    bytes: int
    sampled: int
    """Blocks."""
    read: int
    """Bytes of these."""
    tokens: float
    standard_error: float
    """Of the tokens."""

    @property
    def reach(self) -> float:
        """How far the interval of 95 % reaches to each side."""
        return _reach([self])


@dataclass(frozen=True)
class CorpusTotal:
    """The estimate of a corpus's tokens, with its interval of 95 %."""

    tokens: float
    low: float
    high: float
    bytes: int
    read: int
    strata: tuple[Stratum, ...]
    left_out: tuple[str, ...] = ()
    """Files without text, each with the reason."""


class CorpusFile(NamedTuple):
    """A file of text, or of JSON rows with text."""

    path: Path
    kinds: tuple[str, str, str]
    """The strata that it may belong to: its name from the folder of the corpus, its folder, its ending."""
    size: int
    """Bytes, unpacked; of tables, of their rows written as JSON."""
    row: int
    """The size of the row of JSON to which a byte belongs, on average; 0 for text."""
    blocks: int = 1


def total(
    corpus: str, tokenizer: Tokenizer | str, *, sample: float = 0.01, seed: int = 0, field: str = ""
) -> CorpusTotal:
    r"""Estimate the tokens of a corpus from a random sample of its blocks.

    Files are cut into blocks at line ends. Within each stratum a sample of blocks is drawn without replacement; its
    tokens per byte, times the bytes of the stratum, are the estimate. The interval is from the linearised variance of
    this ratio, with the correction for a finite population. Strata are the files, if the sample has three blocks for
    each; else folders and endings, or endings.

    Args:
        corpus: a file, a folder or a glob pattern: text, JSON rows, CSV, Parquet or CoNLL-U, packed or not.
        tokenizer: a tokenizer, or a name for :func:`tokbench.load`.
        sample: the share of the blocks to read; at least 40 blocks of a kilobyte are.
        seed: decides the sample.
        field: of the text in rows, by default ``text``, ``content``, ``body`` or ``sentence``.

    A small corpus is counted as a whole:

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("née\n")
    ...     found = total(folder, "utf8_bytes")
    >>> found.tokens, found.low, found.bytes
    (5.0, 5.0, 5)
    """
    if not 0 < sample <= 1:
        raise InputError(f"a sample of {sample:.2%} is not between 0 and 100 %; give a share such as 1%")
    files, left_out = files_of(corpus, field)
    return replace(estimate(files, load(tokenizer), sample, seed, field), left_out=tuple(left_out))


def estimate(
    files: Sequence[CorpusFile], tokenizer: Tokenizer, sample: float, seed: int, field: str = ""
) -> CorpusTotal:
    """Estimate the tokens of files, as :func:`total` does."""
    size = sum(file.size for file in files)
    block = min(max(int(size * sample / _BLOCKS), _SMALLEST), _LARGEST)
    cut = [file._replace(blocks=math.ceil(file.size / max(block, file.row))) for file in files]
    share, random = max(sample, _FEWEST / sum(file.blocks for file in cut)), np.random.default_rng(seed)
    strata = [
        _stratum(name, some, list(_sample(some, share, random, tokenizer, field)))
        for name, some in _strata(cut if share < 1 else files, share).items()
    ]
    tokens, reach, read = sum(x.tokens for x in strata), _reach(strata), sum(x.read for x in strata)
    return CorpusTotal(tokens, tokens - reach, tokens + reach, size, read, tuple(strata))


def files_of(corpus: str, field: str = "") -> tuple[list[CorpusFile], list[str]]:
    """Return the files of a file, folder or pattern, and lines on those that are left out."""
    found = find_texts([corpus])
    files = []
    for path in found.files:
        data, form = _content(path, field)
        inner = path.relative_to(found.root) if found.root in path.parents else Path(path.name)
        rows = [len(row) for row in data[:_ROWS_HEAD].split(b"\n")] if form != "text" else [0]
        ending = f"*.{name}" if (name := ending_of(path)) else "*"
        kinds = (str(inner), str(Path(*inner.parts[:-1][:1], ending)), ending)
        files.append(CorpusFile(path, kinds, len(data), sum(row**2 for row in rows) // max(sum(rows), 1)))
    return files, [f"{', '.join(names)}: {reason}" for reason, names in found.left_out.items()]


def _content(path: Path, field: str) -> tuple[mmap | bytes, Format]:
    """Map a file into memory, so that only what is used of it is read; what is packed or a table is written before."""
    if path == STDIN:
        raise InputError("standard input can be read once; write it to a file first")
    with reading(path) as reader, TemporaryFile() as written:
        plain: IO[bytes] = reader.file if reader.path and reader.form in {"text", "jsonl"} else written
        if reader.form not in {"text", "jsonl"}:
            for document in documents_in(reader, RowForm(field)):
                written.write(json.dumps({field or FIELDS[0]: document.text}).encode() + b"\n")
        elif not reader.path:
            shutil.copyfileobj(reader.file, written)
        size = plain.seek(0, os.SEEK_END)
        return mmap(plain.fileno(), 0, access=ACCESS_READ) if size else b"", reader.form


def _strata(files: Sequence[CorpusFile], share: float) -> Mapping[str, list[CorpusFile]]:
    """Return the finest strata of which enough is drawn."""
    for kind in range(3):
        strata = defaultdict[str, list[CorpusFile]](list)
        for file in files:
            strata[file.kinds[kind]].append(file)
        if len(strata) * _PER_STRATUM <= share * sum(file.blocks for file in files):
            break
    return strata


def _sample(
    files: Sequence[CorpusFile], share: float, random: np.random.Generator, tokenizer: Tokenizer, field: str
) -> Iterator[tuple[int, int]]:
    """Draw blocks, and yield the bytes and the tokens of each."""
    ends = np.cumsum([file.blocks for file in files])
    wanted = min(int(ends[-1]), max(_PER_STRATUM, round(share * ends[-1])))
    drawn = np.sort(random.choice(ends[-1], wanted, replace=False))
    for file, end, numbers in zip(files, ends, np.split(drawn, np.searchsorted(drawn, ends)), strict=False):
        for begin, block in read_blocks(file, (numbers - end + file.blocks).tolist(), field):
            _, offsets = encode_batch(tokenizer, list(_documents(file, begin, block, field)))
            yield len(block), int(offsets[-1])


def read_blocks(file: CorpusFile, numbers: Sequence[int], field: str = "") -> Iterator[tuple[int, bytes]]:
    """Yield some blocks of a file with their places; all of them are the file.

    Block ``k`` begins behind the first line end from its place on. Where text has no line end for a whole block, it
    begins at a character; rows are never cut, so that a block may be empty.
    """
    data, size = _content(file.path, field)[0] if numbers else b"", math.ceil(file.size / file.blocks)

    def edge(place: int) -> int:
        if place == 0:
            return 0
        if line := data.find(b"\n", place, file.size if file.row else place + size) + 1:
            return line
        there = range(file.size if file.row else place, file.size)
        return next((spot for spot in there if data[spot] & 0xC0 != 0x80), file.size)  # noqa: PLR2004

    for number in numbers:
        begin = edge(number * size)
        yield begin, data[begin : edge((number + 1) * size)]


def _documents(file: CorpusFile, begin: int, block: bytes, field: str) -> Iterator[str]:
    """Yield the texts of a block: all of it, or the text of each row."""
    for data in filter(bytes.strip, io.BytesIO(block)) if file.row else [block]:
        where = partial(_place, file.path, begin + block.find(data))
        try:
            text = decode_utf8(data)
        except TextError as error:
            with reading(file.path) as reader:
                refuse_zeros(reader.head, reader.place)
            place, _, line = where().rpartition(":")
            text = Faults().mended(data, error.at(place, int(line)))  # which is strict, and raises
        if file.row:
            text = text_of_row(parse_row(text, where), RowForm(field), Faults(), where) or ""
        if text:
            yield text


def _place(path: Path, byte: int) -> str:
    """Return a file and the line of a byte."""
    with opened(path) as file:
        return f"{path}:{file.read(byte).count(_LINE_END) + 1}"


def _stratum(name: str, files: Sequence[CorpusFile], counted: Sequence[tuple[int, int]]) -> Stratum:
    sizes, tokens = np.array(counted, dtype=np.float64).T
    size, sampled, read = sum(file.size for file in files), len(counted), sizes.sum()
    left = 1 - sampled / sum(file.blocks for file in files)
    ratio = tokens.sum() / max(read, 1)
    spread = np.sum((tokens - ratio * sizes) ** 2) / max(sampled - 1, 1)
    error = size / max(sizes.mean(), 1) * math.sqrt(left * spread / sampled)
    return Stratum(name, len(files), size, sampled, int(read), float(ratio * size), float(error))


def _reach(strata: Sequence[Stratum]) -> float:
    """Return how far the interval reaches, with the degrees of freedom of Welch and Satterthwaite."""
    from scipy.stats import t

    parts = [(stratum.standard_error**2, stratum.sampled - 1) for stratum in strata if stratum.standard_error]
    variance = sum(part for part, _ in parts)
    freedom = variance**2 / sum(part**2 / free for part, free in parts) if parts else 1.0
    return float(t.ppf(0.975, freedom)) * math.sqrt(variance)
