"""Estimates the tokens of a corpus from random blocks of its files."""

from __future__ import annotations

import glob
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

from tokbench.plugin import InputError, Problem, Tokenizer, encode_batch, opened
from tokbench_questions.named import load

_PACKED: Final = frozenset({".gz", ".zst"})
_ROWS: Final = frozenset({".jsonl", ".ndjson"})
_FIELDS: Final = ["text", "content", "body", "sentence"]
_HEAD, _ROWS_HEAD = 1 << 13, 1 << 18
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
    """Files without text: empty, binary, or a link to nothing."""


class CorpusFile(NamedTuple):
    """A file of text, or of JSON rows with text."""

    path: Path
    kinds: tuple[str, str, str]
    """The strata that it may belong to: its name from the folder of the corpus, its folder, its ending."""
    size: int
    """Bytes, decompressed."""
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
        corpus: a file, a folder or a glob pattern: text, or JSON rows (``.jsonl``), also as ``.gz`` or ``.zst``.
        tokenizer: a tokenizer, or a name for :func:`tokbench.load`.
        sample: the share of the blocks to read; at least 40 blocks of a kilobyte are.
        seed: decides the sample.
        field: of the text in JSON rows, by default ``text``, ``content``, ``body`` or ``sentence``.

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
    files, left_out = files_of(corpus)
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


def files_of(corpus: str) -> tuple[list[CorpusFile], list[str]]:
    """Return the files of a file, folder or pattern, and the names of those without text."""
    root, files, left_out = Path(corpus), list[CorpusFile](), list[str]()
    paths = root.rglob("*") if root.is_dir() else map(Path, glob.glob(corpus, recursive=True) or [corpus])  # noqa: PTH207
    for path in sorted(paths):
        inner = path.relative_to(root) if root.is_dir() else Path(path.name)
        if path.is_dir() or any(part.startswith(".") for part in inner.parts):
            continue
        data = _content(path) if path.is_file() else b""
        ending = (path.with_suffix("") if path.suffix in _PACKED else path).suffix.lower()
        head = data[: _ROWS_HEAD if ending in _ROWS else _HEAD]
        if not head or b"\0" in head:
            left_out.append(str(inner))
            continue
        rows = [len(row) for row in head.split(b"\n")] if ending in _ROWS else [0]
        kinds = (str(inner), str(Path(*inner.parts[:-1][:1], f"*{ending}")), f"*{ending}")
        files.append(CorpusFile(path, kinds, len(data), sum(row**2 for row in rows) // max(sum(rows), 1)))
    if not files:
        raise InputError([Problem(corpus, "no file with text; give a file, a folder or a pattern")])
    return files, left_out


def _content(path: Path) -> mmap | bytes:
    """Map a file into memory, so that only what is used of it is read; a compressed one is decompressed before."""
    with opened(path) as file, TemporaryFile() as unpacked:
        if packed := path.suffix in _PACKED:
            shutil.copyfileobj(file, unpacked)
        plain: IO[bytes] = unpacked if packed else file
        return mmap(plain.fileno(), 0, access=ACCESS_READ) if plain.seek(0, os.SEEK_END) else b""


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
        for block in read_blocks(file, (numbers - end + file.blocks).tolist()):
            _, offsets = encode_batch(tokenizer, _documents(file, block, field))
            yield len(block), int(offsets[-1])


def read_blocks(file: CorpusFile, numbers: Sequence[int]) -> Iterator[bytes]:
    """Yield some blocks of a file; all of them are the file.

    Block ``k`` begins behind the first line end from its place on. Where text has no line end for a whole block, it
    begins at a character; rows are never cut, so that a block may be empty.
    """
    data, size = _content(file.path) if numbers else b"", math.ceil(file.size / file.blocks)

    def edge(place: int) -> int:
        if place == 0:
            return 0
        if line := data.find(b"\n", place, file.size if file.row else place + size) + 1:
            return line
        there = range(file.size if file.row else place, file.size)
        return next((spot for spot in there if data[spot] & 0xC0 != 0x80), file.size)  # noqa: PLR2004

    for number in numbers:
        yield data[edge(number * size) : edge((number + 1) * size)]


def _documents(file: CorpusFile, block: bytes, field: str) -> list[str]:
    """Return the texts of a block: all of it, or a field of each row."""
    if not file.row:
        return [block.decode(errors="replace")]
    texts, names = list[str](), [field] if field else _FIELDS
    for line in filter(bytes.strip, block.splitlines()):
        try:
            row = json.loads(line)
            texts.append(next(row[name] or "" for name in names if name in row) + "")
        except (ValueError, TypeError, StopIteration) as error:
            message = f"a row is not JSON with text in {' or '.join(names)}: {line[:40]!r}; name its field with --field"
            raise InputError([Problem(str(file.path), message)]) from error
    return texts


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
