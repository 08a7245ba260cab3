"""Tokens on disk: what a file of ids holds, and whose ids they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tokbench.plugin import HasSpecialTokens, HasUnknown, InputError, Tokenizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LLM_C: Final = {20240520: "<u2", 20240801: "<u4"}
"""The type by the first number of the header, 256 int32 of which the third is the number of tokens."""
_MEGATRON: Final = b"MMIDIDX\x00\x00"
_MEGATRON_TYPES: Final = {1: "u1", 3: "<i2", 4: "<i4", 5: "<i8", 8: "<u2"}
_HEADER: Final = 1024
_AT_ONCE: Final = 1 << 24
_HIGHEST: Final = 1 << 22
"""Ids from here on belong to no vocabulary: numbers were read in the wrong form."""
_WINDOWS: Final = 16
_WINDOW: Final = 256
_SAMPLE: Final = 60
_EDGE: Final = 24
"""Tokens at either end of a window that may be other ones because the text before or behind is missing."""


@dataclass(frozen=True)
class TokenShard:
    """The ids of a file, and how they are written."""

    form: str
    ids: NDArray[np.integer]


def read_shard(path: Path, dtype: str = "") -> TokenShard:
    """Open the ids of a file: NumPy, llm.c, Megatron (with its .idx), or numbers without a header.

    Args:
        path: the file.
        dtype: of numbers without a header: uint16 or uint32; empty to see it from the numbers.

    Raises:
        InputError: it has no ids, or is cut.
    """
    if not path.is_file():
        raise InputError(f"{path}: there is no such file; name files of tokens")
    if path.suffix == ".npy":
        try:
            ids = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, OSError, EOFError) as error:
            raise InputError(f"{path}: not a NumPy file: {error}; write it again") from error
        if ids.dtype.kind not in "iu":
            raise InputError(f"{path}: has {ids.dtype}, which are no ids; write integers")
        return _checked(path, "NumPy", ids.reshape(-1))
    size, index = path.stat().st_size, path.with_suffix(".idx")
    with path.open("rb") as file:
        head = np.frombuffer(file.read(_HEADER), "u1")
    magic = int(head[:4].view("<i4")[0]) if len(head) == _HEADER else 0
    if magic in _LLM_C and not dtype:
        ids = _mapped(path, _LLM_C[magic], _HEADER)
        tokens = int(head.view("<i4")[2])
        if len(ids) != tokens:
            raise InputError(f"{path}: is cut: its header has {tokens:,} tokens, the file {len(ids):,}; get it again")
        return _checked(path, "llm.c", ids)
    if index.exists() and not dtype:
        with index.open("rb") as file:
            begin = file.read(len(_MEGATRON) + 9)
        if not begin.startswith(_MEGATRON) or begin[-1] not in _MEGATRON_TYPES:
            raise InputError(f"{index}: not an index of Megatron; move it away, or give --dtype")
        return _checked(path, "Megatron", _mapped(path, _MEGATRON_TYPES[begin[-1]]))
    if dtype:
        return _checked(path, dtype, _mapped(path, dtype))
    pairs = head[: len(head) // 4 * 4].view("<u2").reshape(-1, 2)
    wide = size % 4 == 0 and len(pairs) > 1 and pairs[:, 1].max() < np.uint16(64) and len(set(pairs[:, 0])) > 1
    return _checked(path, "uint32" if wide else "uint16", _mapped(path, "<u4" if wide else "<u2"))


def _mapped(path: Path, dtype: str, begin: int = 0) -> NDArray[np.integer]:
    width, size = np.dtype(dtype).itemsize, path.stat().st_size - begin
    if size <= 0 or size % width:
        raise InputError(f"{path}: {size:,} bytes are not ids of {width} bytes each; give another --dtype")
    return np.memmap(path, dtype, "r", begin)


def _checked(path: Path, form: str, ids: NDArray[np.integer]) -> TokenShard:
    if not len(ids):
        raise InputError(f"{path}: has no ids")
    return TokenShard(form, ids)


@dataclass(frozen=True)
class IdCounts:
    """How often each id occurs."""

    ids: NDArray[np.int64]
    """int64[k], rising."""
    times: NDArray[np.int64]

    @property
    def total(self) -> int:
        return int(self.times.sum())

    @property
    def entropy(self) -> float:
        """Shannon entropy in bits per token, -sum of p log2 p.

        >>> IdCounts(np.array([0, 7]), np.array([2, 2])).entropy
        1.0
        """
        shares = self.times / self.total
        return float(-(shares * np.log2(shares)).sum()) + 0.0

    def share(self, chosen: NDArray[np.bool_]) -> float:
        return float(self.times[chosen].sum() / self.total)


def count_ids(shards: Sequence[TokenShard]) -> IdCounts:
    """Count the ids of all files, in the memory of a piece."""
    dense, sparse = np.zeros(_HIGHEST, np.int64), Counter[int]()
    for shard in shards:
        for at in range(0, len(shard.ids), _AT_ONCE):
            piece = np.asarray(shard.ids[at : at + _AT_ONCE], np.int64)
            usual = (piece >= 0) & (piece < _HIGHEST)
            dense += np.bincount(piece[usual], minlength=_HIGHEST)
            sparse.update(piece[~usual].tolist())
    distinct = np.flatnonzero(dense)
    ids = np.array([*distinct.tolist(), *sparse], np.int64)
    times, order = np.array([*dense[distinct].tolist(), *sparse.values()], np.int64), np.argsort(ids)
    return IdCounts(ids[order], times[order])


def windows(shards: Sequence[TokenShard]) -> list[NDArray[np.int64]]:
    """Return stretches of ids, spread over the files."""
    places = ((shard.ids, at) for shard in shards for at in _spread(len(shard.ids)))
    return [np.asarray(ids[at : at + _WINDOW], np.int64) for ids, at in places]


def _spread(length: int) -> Iterator[int]:
    last = max(length - _WINDOW, 0)
    yield from sorted({last * k // (_WINDOWS - 1) for k in range(_WINDOWS)})


class ShardFacts(NamedTuple):
    """What the ids of files are under one tokenizer."""

    same: float
    """The share of stretches that, decoded and encoded again, have their ids."""
    out_of_range: float
    unknown: float
    special: dict[str, int]
    """How often each special token occurs that does."""
    sample: str


class LooksAtIds:
    """The step of a tokenizer's process.

    >>> import tokbench
    >>> ids = np.arange(97, 123).repeat(4)
    >>> LooksAtIds([ids, ids + 200], IdCounts(ids, ids))(tokbench.load("utf8_bytes")).same
    0.5
    """

    def __init__(self, stretches: Sequence[NDArray[np.int64]], counts: IdCounts) -> None:
        self._stretches, self._counts = stretches, counts

    def __call__(self, tokenizer: Tokenizer) -> ShardFacts:
        special = tokenizer.special_ids if isinstance(tokenizer, HasSpecialTokens) else {}
        unknown = tokenizer.unk_id if isinstance(tokenizer, HasUnknown) else None
        marks = np.array(sorted(special.values()), np.int64)
        parts = [part for stretch in self._stretches for part in _between(stretch, marks)]
        ids, middle = self._counts.ids, self._stretches[len(self._stretches) // 2][:_SAMPLE].tolist()
        times = dict(zip(ids.tolist(), self._counts.times.tolist(), strict=True))
        return ShardFacts(
            same=sum(_again(tokenizer, part) for part in parts) / max(len(parts), 1),
            out_of_range=self._counts.share((ids < 0) | (ids >= tokenizer.vocab_size)),
            unknown=0.0 if unknown is None else self._counts.share(ids == unknown),
            special={mark: times[token_id] for mark, token_id in special.items() if token_id in times},
            sample=tokenizer.decode([token_id for token_id in middle if 0 <= token_id < tokenizer.vocab_size]),
        )


def _between(ids: NDArray[np.int64], special: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return the ids between special tokens where they are long enough to be judged."""
    parts = np.split(ids, np.flatnonzero(np.isin(ids, special)))
    bare = [part[np.isin(part, special, invert=True)] for part in parts]
    return [part for part in bare if len(part) > 2 * _EDGE]


def _again(tokenizer: Tokenizer, ids: NDArray[np.int64]) -> bool:
    if ids.max() >= tokenizer.vocab_size or ids.min() < 0:
        return False
    again = np.array(tokenizer.encode(tokenizer.decode(ids.tolist())), np.int64)
    inner = ids[_EDGE:-_EDGE]
    starts = np.flatnonzero(again == inner[0])
    return any(np.array_equal(again[at : at + len(inner)], inner) for at in starts.tolist())
