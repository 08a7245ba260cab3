"""How many tokens of one tokenizer fit into the limit of another, from the longest chunks of texts that fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Final

import numpy as np

from tokbench.command import load_named
from tokbench.plugin import InputError, Tokenizer, encode_batch

SHARES: Final = (0.05, 0.001)
"""The shares of chunks that may overflow: 95 % and 99.9 % fit."""
_DOUBT: Final = 0.05
_CUT_CHARACTER: Final = (1, 2, 3)


@dataclass(frozen=True)
class GroupBudget:
    """How long chunks of a group of texts may be, in tokens of the tokenizer that cuts."""

    group: str
    chunks: int
    """Chunks that fill the limit."""
    mean: float
    """The mean length of these; ``nan`` without a chunk."""
    safe: tuple[int | None, ...]
    """For each of ``SHARES`` the longest that is safe; ``None`` where the texts have too few chunks to say so.

    0 means that even a single token overflows too often.
    """
    unknown: float
    """The share of unknown tokens: their text fits because it is lost."""


def budget(
    cut_by: Tokenizer | str,
    embed_by: Tokenizer | str,
    texts: Mapping[str, Sequence[str]],
    *,
    limit: int = 512,
    special: int = 2,
) -> tuple[GroupBudget, ...]:
    """Return how many tokens of ``cut_by`` a chunk may have to fit into the limit of ``embed_by``.

    The documents of a group are joined by line ends and cut into the longest chunks that fit, with up to three tokens
    between two of them. If chunks of the same text are alike in distribution, the r-th shortest is safe: with 95 %
    confidence, at most 5 % (0.1 %) of the chunks of this length overflow. r is from the binomial distribution, so
    nothing else is assumed; 59 (2,995) chunks are the fewest that allow it. Each group has its own claim.

    Texts are documents by group, such as a language; ``special`` tokens of the limit, such as ``[CLS]`` and ``[SEP]``,
    are not for text.

    Two bytes are one unit of UTF-16 here, so that 100 units are safe for a limit of 200 bytes:

    >>> [ru] = budget("utf16_units", "utf8_bytes", {"ru": ["ж" * 10_000]}, limit=200, special=0)
    >>> ru.chunks, ru.safe
    (98, (100, None))
    """
    if limit - special < 1:
        raise InputError(f"the limit {limit} has no room for text: {special} are special; raise --limit")
    cutter, embedder = load_named(cut_by), load_named(embed_by)
    return tuple(_group(cutter, embedder, name, some, limit - special) for name, some in texts.items())


def _group(cutter: Tokenizer, embedder: Tokenizer, name: str, texts: Sequence[str], room: int) -> GroupBudget:
    from scipy.stats import binom

    ids = cutter.encode("\n".join(texts))
    lengths = sorted(_longest_chunks(ids, lambda some: len(embedder.encode(cutter.decode(some))), room))
    ranks = [int(binom.ppf(_DOUBT, len(lengths), share)) if lengths else 0 for share in SHARES]
    embedded, unknown = encode_batch(embedder, texts).ids, getattr(embedder, "unk_id", None)
    return GroupBudget(
        group=name,
        chunks=len(lengths),
        mean=float(np.mean(lengths)) if lengths else math.nan,
        safe=tuple(lengths[rank - 1] if rank else None for rank in ranks),
        unknown=0.0 if unknown is None else float((embedded == unknown).sum() / max(len(embedded), 1)),
    )


def _longest_chunks(ids: Sequence[int], count: Callable[[Sequence[int]], int], room: int) -> Iterator[int]:
    """Yield the length of each chunk that fills the room; the rest of the text does not.

    Up to three tokens between two chunks let chunks begin at every part of a character that is cut.
    """
    start, length, gaps = 0, room, cycle((0, *_CUT_CHARACTER))
    while left := ids[start:]:
        length = _longest(lambda size: count(left[:size]), room, min(length, len(left)), len(left))
        if length >= len(left):
            return
        yield length
        start, length = start + max(1, length) + next(gaps), max(1, length)


def _longest(count: Callable[[int], int], room: int, probe: int, most: int) -> int:
    """Return the longest size that fits, as do the next shorter ones: a cut character is longer than a whole one."""
    low, high = 0, most + 1
    while high - low > 1:
        needed = count(probe)
        low, high = (probe, high) if needed <= room else (low, probe)
        aimed = probe * room // max(needed, 1)
        probe = aimed if low < aimed < high else min((low + high) // 2, low + room)
    while any(low > less and count(low - less) > room for less in _CUT_CHARACTER):
        low -= 1
    return low
