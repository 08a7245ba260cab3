"""Estimates the tokens of a corpus from random blocks of its files."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

import tokbench
from tokbench.plugin import InputError, Tokenizer, encode_batch
from tokbench_questions.total.blocks import CorpusFile, documents_of, files_of, read_blocks

_BLOCKS: Final = 400
"""Blocks of a sample, where the largest block allows."""
_FEWEST: Final = 40
_SMALLEST, _LARGEST = 1 << 10, 1 << 16
_PER_STRATUM: Final = 3


class Stratum(NamedTuple):
    """Files of one kind, and the estimate of their tokens."""

    name: str
    files: int
    bytes: int
    sampled: int
    """Blocks, or rows of JSON."""
    read: int
    """Bytes of these."""
    tokens: float
    error: float
    """The standard error of the tokens."""


class CorpusTotal(NamedTuple):
    """The estimate of a corpus's tokens, with its interval of 95 %."""

    tokens: float
    low: float
    high: float
    bytes: int
    read: int
    strata: tuple[Stratum, ...]
    left_out: Mapping[str, Sequence[str]]
    """Files without text, by reason."""


class _Unit(NamedTuple):
    file: CorpusFile
    block: int
    """The size of the blocks of this file."""
    blocks: int
    drawn: float
    """How many blocks or rows make up the sample of this file."""


def total(
    corpus: str, tokenizer: Tokenizer | str, *, sample: float = 0.01, seed: int = 0, field: str = "text"
) -> CorpusTotal:
    r"""Estimate the tokens of a corpus from a random sample of its blocks.

    Files are cut into blocks at line ends. Within each stratum a sample of blocks is drawn without replacement; its
    tokens per byte, times the bytes of the stratum, are the estimate. The interval is from the linearised variance of
    this ratio, with the correction for a finite population. Rows of JSON are drawn by their bytes, so that a long row
    is drawn more often, and the mean of their tokens per byte is the estimate. Strata are the files, if the sample has
    three blocks for each; else folders and endings, endings, or all files of text and all of rows.

    Args:
        corpus: a file, a folder or a glob pattern: text, or JSON rows (``.jsonl``), also as ``.gz`` or ``.zst``.
        tokenizer: a tokenizer, or a name for :func:`tokbench.load`.
        sample: the share of the bytes to read; at least 40 blocks of a kilobyte are.
        seed: decides the sample.
        field: of the text in JSON rows.

    A small corpus is counted as a whole:

    >>> from pathlib import Path
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
    size = sum(file.size for file in files)
    block = min(max(int(size * sample / _BLOCKS), _SMALLEST), _LARGEST)
    share = max(sample, _FEWEST * block / size)
    units = [_unit(file, block, share) for file in files]
    random, encoder = np.random.default_rng(seed), tokbench.load(tokenizer)
    strata = [_estimate(name, some, _draw(some, random, encoder, field)) for name, some in _strata(units).items()]
    tokens, reach, read = sum(x.tokens for x in strata), _reach(strata), sum(x.read for x in strata)
    return CorpusTotal(tokens, tokens - reach, tokens + reach, size, read, tuple(strata), left_out)


def _reach(strata: Sequence[Stratum]) -> float:
    """Return how far the interval reaches, with the degrees of freedom of Welch and Satterthwaite."""
    from scipy.stats import t

    parts = [(stratum.error**2, stratum.sampled - 1) for stratum in strata if stratum.error]
    variance = sum(part for part, _ in parts)
    freedom = variance**2 / sum(part**2 / free for part, free in parts) if parts else 1.0
    return float(t.ppf(0.975, freedom)) * math.sqrt(variance)


def _unit(file: CorpusFile, block: int, share: float) -> _Unit:
    """Cut a file into blocks of nearly equal size, of which a share is drawn; of rows, bytes are drawn."""
    if share >= 1:
        return _Unit(file, file.size, 1, 1.0)
    if file.row:
        return _Unit(file, 1, file.size, share * file.size / file.row)
    count = -(-file.size // block)
    return _Unit(file, -(-file.size // count), count, share * count)


def _strata(units: Sequence[_Unit]) -> Mapping[str, list[_Unit]]:
    """Return the finest strata of which enough is drawn."""
    drawn = sum(unit.drawn for unit in units)
    for depth in range(4):
        strata = defaultdict[str, list[_Unit]](list)
        for unit in units:
            name, kind = unit.file.inner, f"*{unit.file.ending}"
            folder = str(Path(*name.parts[:-1][:1], kind))
            strata[(str(name), folder, kind, "rows" if unit.file.row else "text")[depth]].append(unit)
        if len(strata) * _PER_STRATUM <= drawn:
            break
    return strata


def _draw(
    units: Sequence[_Unit], random: np.random.Generator, tokenizer: Tokenizer, field: str
) -> list[tuple[int, int]]:
    """Draw blocks or rows, and return the bytes and the tokens of each."""
    starts = np.concatenate([[0], np.cumsum([unit.blocks for unit in units])])
    fewest = _FEWEST if units[0].file.row else 3
    wanted = min(int(starts[-1]), max(fewest, round(sum(unit.drawn for unit in units))))
    drawn = np.sort(random.choice(starts[-1], wanted, replace=False))
    counted, cuts = [], np.searchsorted(drawn, starts)
    for unit, start, low, high in zip(units, starts, cuts, cuts[1:], strict=False):
        numbers = (drawn[low:high] - start).tolist()
        for block in read_blocks(unit.file, unit.block, numbers) if numbers else ():
            _, offsets = encode_batch(tokenizer, documents_of(unit.file, block, field))
            counted.append((len(block), int(offsets[-1])))
    return counted


def _estimate(name: str, units: Sequence[_Unit], counted: Sequence[tuple[int, int]]) -> Stratum:
    sizes, tokens = np.array(counted, dtype=np.float64).T
    size, sampled, read = sum(unit.file.size for unit in units), len(counted), int(sizes.sum())
    left = 1 - sampled / sum(unit.blocks for unit in units)
    if units[0].file.row and left:  # drawn by bytes: each row counts once, whatever its size
        sizes, tokens = np.ones(sampled), tokens / sizes
    ratio = tokens.sum() / max(sizes.sum(), 1)
    spread = np.sum((tokens - ratio * sizes) ** 2) / max(sampled - 1, 1)
    error = size / max(sizes.mean(), 1) * math.sqrt(left * spread / sampled)
    return Stratum(name, len(units), size, sampled, read, float(ratio * size), float(error))
