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
from mmap import ACCESS_READ, mmap
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final, NamedTuple

import numpy as np

from tokbench.plugin import InputError, TextError, Tokenizer, decode_utf8, encode_batch
from tokbench.text.cuts import reading, shown_name
from tokbench.text.faults import Faults, Nulls
from tokbench.text.find import FoundTexts, find_texts, no_text
from tokbench.text.formats import FIELDS, Format, ending_of, refuse_zeros
from tokbench.text.opening import BUFFER, STDIN
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
_USUAL: Final = RowForm()


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
    data: mmap | bytes | None = None
    """Of standard input, which can be read once."""


class _FaultyFileError(Exception):
    """Its arguments are the path of the file, and the fault."""


def total(
    corpus: str,
    tokenizer: Tokenizer | str,
    *,
    sample: float = 0.01,
    seed: int = 0,
    field: str = "",
    nulls: Nulls = "error",
) -> CorpusTotal:
    r"""Estimate the tokens of a corpus from a random sample of its blocks.

    Files are cut into blocks at line ends. Within each stratum a sample of blocks is drawn without replacement; its
    tokens per byte, times the bytes of the stratum, are the estimate. The interval is from the linearised variance of
    this ratio, with the correction for a finite population. Strata are the files, if the sample has three blocks for
    each; else folders and endings, or endings.

    Args:
        corpus: a file, a folder, a glob pattern or ``-``: text, JSON rows, CSV, Parquet or CoNLL-U, packed or not.
        tokenizer: a tokenizer, or a name for :func:`tokbench.load`.
        sample: the share of the blocks to read; at least 40 blocks of a kilobyte are.
        seed: decides the sample.
        field: of the text in rows, by default ``text``, ``content``, ``body`` or ``sentence``.
        nulls: rows whose text is null: ``error`` or ``skip``.

    Raises:
        InputError: what is named cannot be read. Files of a folder that have a fault in the sample are left out.

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
    found, how, model = find_texts([corpus]), RowForm(field, nulls), load(tokenizer)
    files = files_of(found, how)
    while files:
        try:
            answer = estimate(files, model, sample, seed, how)
        except _FaultyFileError as error:
            path, fault = error.args
            found.fault(path, fault)
            files = [file for file in files if file.path != path]
        else:
            left_out = (f"{', '.join(names)}: {reason}" for reason, names in found.left_out.items())
            return replace(answer, left_out=tuple(left_out))
    raise found.nothing(corpus)


def estimate(
    files: Sequence[CorpusFile], tokenizer: Tokenizer, sample: float, seed: int, how: RowForm = _USUAL
) -> CorpusTotal:
    """Estimate the tokens of files, as :func:`total` does."""
    size = sum(file.size for file in files)
    block = min(max(int(size * sample / _BLOCKS), _SMALLEST), _LARGEST)
    cut = [file._replace(blocks=math.ceil(file.size / max(block, file.row))) for file in files]
    share, random = max(sample, _FEWEST / sum(file.blocks for file in cut)), np.random.default_rng(seed)
    strata = [
        _stratum(name, some, list(_sample(some, share, random, tokenizer, how)))
        for name, some in _strata(cut if share < 1 else files, share).items()
    ]
    tokens, reach, read = sum(x.tokens for x in strata), _reach(strata), sum(x.read for x in strata)
    return CorpusTotal(tokens, tokens - reach, tokens + reach, size, read, tuple(strata))


def files_of(found: FoundTexts, how: RowForm = _USUAL) -> list[CorpusFile]:
    """Return the files of texts that can be read."""
    files = []
    for path in list(found.files):
        try:
            data, form = _content(path, how)
        except InputError as error:
            found.fault(path, error)
            continue
        inner = path.relative_to(found.root) if found.root in path.parents else Path(path.name)
        rows = [len(row) for row in data[:_ROWS_HEAD].split(b"\n")]
        ending = f"*.{name}" if (name := ending_of(path)) else "*"
        kinds = (str(inner), str(Path(*inner.parts[:-1][:1], ending)), ending)
        row = max(1, sum(row**2 for row in rows) // max(sum(rows), 1)) if form != "text" else 0
        kept = data if path == STDIN else None
        files.append(CorpusFile(path, kinds, len(data), row, data=kept))
    return files


def _content(path: Path, how: RowForm) -> tuple[mmap | bytes, Format]:
    """Map a file into memory, so that only what is used of it is read; what is packed or a table is written before."""
    with reading(path) as reader, TemporaryFile() as written:
        plain: IO[bytes] = reader.file if reader.path and reader.form in {"text", "jsonl"} else written
        if reader.form not in {"text", "jsonl"}:
            for document in documents_in(reader, how):
                written.write(json.dumps({how.text or FIELDS[0]: document.text}).encode() + b"\n")
        elif not reader.path:
            shutil.copyfileobj(reader.file, written)
        size = plain.seek(0, os.SEEK_END)
        if not size:
            raise no_text(reader.place)
        return mmap(plain.fileno(), 0, access=ACCESS_READ), reader.form


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
    files: Sequence[CorpusFile], share: float, random: np.random.Generator, tokenizer: Tokenizer, how: RowForm
) -> Iterator[tuple[int, int]]:
    """Draw blocks, and yield the bytes and the tokens of each."""
    ends = np.cumsum([file.blocks for file in files])
    wanted = min(int(ends[-1]), max(_PER_STRATUM, round(share * ends[-1])))
    drawn = np.sort(random.choice(ends[-1], wanted, replace=False))
    for file, end, numbers in zip(files, ends, np.split(drawn, np.searchsorted(drawn, ends)), strict=False):
        if not numbers.size:
            continue
        try:
            data = file.data or _content(file.path, how)[0]
            for begin, after in places_of_blocks(file, data, (numbers - end + file.blocks).tolist()):
                _, offsets = encode_batch(tokenizer, list(_documents(file, data, range(begin, after), how)))
                yield after - begin, int(offsets[-1])
        except InputError as error:
            raise _FaultyFileError(file.path, error) from error


def places_of_blocks(file: CorpusFile, data: mmap | bytes, numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield where some blocks of a file begin and end; all of them are the file.

    Block ``k`` begins behind the first line end from its place on. Where text has no line end for a whole block, it
    begins at a character; rows are never cut, so that a block may be empty.
    """
    size = math.ceil(file.size / file.blocks)

    def edge(place: int) -> int:
        if place == 0:
            return 0
        if line := data.find(b"\n", place, file.size if file.row else place + size) + 1:
            return line
        there = range(file.size if file.row else place, file.size)
        return next((spot for spot in there if data[spot] & 0xC0 != 0x80), file.size)  # noqa: PLR2004

    yield from ((edge(number * size), edge((number + 1) * size)) for number in numbers)


def _documents(file: CorpusFile, data: mmap | bytes, places: range, how: RowForm) -> Iterator[str]:
    """Yield the texts of a block: all of it, or the text of each row."""
    name, at, faults = shown_name(file.path), places.start, Faults()

    def line_number() -> int:
        return data[:at].count(_LINE_END) + 1

    def where() -> str:
        return f"{name}:{line_number()}"

    block = data[at : places.stop]
    for part in io.BytesIO(block) if file.row else [block]:
        if part.strip() or not file.row:
            try:
                text: str | None = decode_utf8(part)
            except TextError as error:
                refuse_zeros(data[:BUFFER], name)
                text = faults.mended(part, error.at(name, line_number()))  # which is strict, and raises
            if file.row:
                text = text_of_row(parse_row(text or "", where), how, faults, where)
            if text:
                yield text
        at += len(part)


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
