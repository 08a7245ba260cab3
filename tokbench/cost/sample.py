"""Random blocks of the files of a corpus, from which its tokens are estimated."""

from __future__ import annotations

import io
import json
import math
import os
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from mmap import ACCESS_READ, mmap
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final, NamedTuple

import numpy as np

from tokbench.foundation.errors import InputError
from tokbench.foundation.parsing import TextError, decode_utf8
from tokbench.statistics.jackknife import student_t
from tokbench.text.cuts import reading, shown_name
from tokbench.text.faults import Faults
from tokbench.text.find import FoundTexts, find_texts, no_text
from tokbench.text.formats import FIELDS, Format, ending_of, refuse_zeros
from tokbench.text.opening import BUFFER, STDIN
from tokbench.text.read import documents_in
from tokbench.text.rows import RowForm, parse_row, text_of_row

_ROWS_HEAD: Final = 1 << 18
_LINE_END: Final = b"\n"
_BLOCKS: Final = 400
"""Blocks of a sample, where the largest block allows."""
_FEWEST: Final = 40
_SMALLEST, _LARGEST = 1 << 10, 1 << 16
_PER_STRATUM: Final = 3
_USUAL: Final = RowForm()


class Estimate(NamedTuple):
    """The estimate of a corpus's tokens, with its interval of 95 %."""

    tokens: float
    low: float
    high: float


class TextBlock(NamedTuple):
    """A part of a file, with the texts in it."""

    n_bytes: int
    texts: list[str]


class Stratum(NamedTuple):
    """Files of one kind, and the blocks that were drawn of them."""

    n_bytes: int
    blocks: int
    drawn: list[TextBlock]


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


class CorpusSample(NamedTuple):
    """A random sample of the blocks of a corpus, by stratum."""

    strata: list[Stratum]
    left_out: tuple[str, ...] = ()
    """Files without text, each with the reason."""

    @property
    def blocks(self) -> list[TextBlock]:
        return [block for stratum in self.strata for block in stratum.drawn]

    @property
    def n_bytes(self) -> int:
        """The bytes of the corpus."""
        return sum(stratum.n_bytes for stratum in self.strata)

    @property
    def read(self) -> int:
        """The bytes of the blocks."""
        return sum(block.n_bytes for block in self.blocks)

    def estimate(self, tokens: Sequence[int]) -> Estimate:
        """Return the estimate of all tokens from the tokens of each block.

        The tokens per byte of a stratum, times its bytes, are the estimate. The interval is from the linearised
        variance of this ratio, with the correction for a finite population, and has the degrees of freedom of Welch
        and Satterthwaite.
        """
        ends = list(accumulate(len(stratum.drawn) for stratum in self.strata))
        parts = [
            _of_stratum(stratum, tokens[end - len(stratum.drawn) : end])
            for stratum, end in zip(self.strata, ends, strict=True)
        ]
        total, spread = sum(part.tokens for part in parts), [part for part in parts if part.variance]
        variance = sum(part.variance for part in spread)
        freedom = variance**2 / sum(part.variance**2 / part.freedom for part in spread) if spread else 1.0
        reach = student_t(freedom) * math.sqrt(variance)
        return Estimate(total, total - reach, total + reach)


class _Part(NamedTuple):
    tokens: float
    variance: float
    freedom: int


def _of_stratum(stratum: Stratum, tokens: Sequence[int]) -> _Part:
    sizes, counts = np.array([block.n_bytes for block in stratum.drawn], float), np.array(tokens, float)
    sampled = len(sizes)
    ratio = counts.sum() / max(sizes.sum(), 1)
    spread = np.sum((counts - ratio * sizes) ** 2) / max(sampled - 1, 1)
    error = stratum.n_bytes / max(sizes.mean(), 1) * math.sqrt((1 - sampled / stratum.blocks) * spread / sampled)
    return _Part(float(ratio * stratum.n_bytes), float(error**2), sampled - 1)


def draw(corpora: Sequence[str], share: float, seed: int = 0) -> CorpusSample:
    r"""Draw blocks of files at random, without replacement within a stratum.

    Files are cut into blocks at line ends. Strata are the files, if the sample has three blocks for each; else folders
    and endings, or endings.

    Args:
        corpora: files, folders, glob patterns or ``-``: text, JSON rows, CSV, Parquet or CoNLL-U, packed or not.
        share: of the blocks; at least 40 blocks of a kilobyte are drawn.
        seed: decides the sample.

    Raises:
        InputError: what is named cannot be read. Files of a folder that have a fault in the sample are left out.

    A small corpus is read as a whole:

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("née\n")
    ...     sample = draw([folder], 0.01)
    >>> sample.n_bytes, sample.estimate([5]).low
    (5, 5.0)
    """
    if not 0 < share <= 1:
        raise InputError(f"a sample of {share:.2%} is not between 0 and 100 %; give a share such as 1%")
    texts = find_texts(list(corpora))
    files = files_of(texts)
    while files:
        try:
            strata = drawn(files, share, seed)
        except _FaultyFileError as error:
            path, fault = error.args
            texts.fault(path, fault)
            files = [file for file in files if file.path != path]
        else:
            return CorpusSample(strata, tuple(texts.notes()))
    raise texts.nothing(", ".join(corpora))


def drawn(files: Sequence[CorpusFile], share: float, seed: int) -> list[Stratum]:
    """Return the strata of files with their sample."""
    size = sum(file.size for file in files)
    block = min(max(int(size * share / _BLOCKS), _SMALLEST), _LARGEST)
    cut = [file._replace(blocks=math.ceil(file.size / max(block, file.row))) for file in files]
    share, random = max(share, _FEWEST / sum(file.blocks for file in cut)), np.random.default_rng(seed)
    return [
        Stratum(sum(file.size for file in some), sum(file.blocks for file in some), list(_sample(some, share, random)))
        for some in _strata(cut if share < 1 else files, share).values()
    ]


def files_of(found: FoundTexts) -> list[CorpusFile]:
    """Return the files of texts that can be read."""
    files = []
    for path in list(found.files):
        try:
            data, form = _content(path)
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


def _content(path: Path) -> tuple[mmap | bytes, Format]:
    """Map a file into memory, so that only what is used of it is read; what is packed or a table is written before."""
    with reading(path) as reader, TemporaryFile() as written:
        plain: IO[bytes] = reader.file if reader.path and reader.form in {"text", "jsonl"} else written
        if reader.form not in {"text", "jsonl"}:
            for document in documents_in(reader, _USUAL):
                written.write(json.dumps({FIELDS[0]: document.text}).encode() + b"\n")
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


def _sample(files: Sequence[CorpusFile], share: float, random: np.random.Generator) -> Iterator[TextBlock]:
    ends = np.cumsum([file.blocks for file in files])
    wanted = min(int(ends[-1]), max(_PER_STRATUM, round(share * ends[-1])))
    numbers_of_all = np.sort(random.choice(ends[-1], wanted, replace=False))
    for file, end, numbers in zip(
        files, ends, np.split(numbers_of_all, np.searchsorted(numbers_of_all, ends)), strict=False
    ):
        if not numbers.size:
            continue
        try:
            data = file.data or _content(file.path)[0]
            for begin, after in places_of_blocks(file, data, (numbers - end + file.blocks).tolist()):
                yield TextBlock(after - begin, list(_documents(file, data, range(begin, after))))
        except InputError as error:
            raise _FaultyFileError(file.path, error) from error


def places_of_blocks(file: CorpusFile, data: mmap | bytes, numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield where some blocks of a file begin and end; all of them are the file.

    TextBlock ``k`` begins behind the first line end from its place on. Where text has no line end for a whole block, it
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


def _documents(file: CorpusFile, data: mmap | bytes, places: range) -> Iterator[str]:
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
                text = text_of_row(parse_row(text or "", where), _USUAL, faults, where)
            if text:
                yield text
        at += len(part)
