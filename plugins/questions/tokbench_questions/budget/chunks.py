"""How many tokens of one tokenizer fit into the limit of another, from the longest chunks of texts that fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tokbench.plugin import InputError, Tokenizer, encode_batch
from tokbench_questions.loading import loaded

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHARES: Final = (0.05, 0.001)
"""The shares of chunks that may overflow: 95 % and 99.9 % fit."""
_DOUBT: Final = 0.05
_CUT_CHARACTER: Final = (1, 2, 3)


class GroupBudget(NamedTuple):
    """How long chunks of a group of texts may be, in tokens of the tokenizer that cuts."""

    group: str
    tokens: int
    """All tokens of the texts."""
    chunks: int
    """Chunks that fill the limit, one after the other."""
    mean: float
    """The mean length of these; ``nan`` without a chunk."""
    safe: tuple[int | None, ...]
    """For each of ``SHARES`` the longest that is safe; ``None`` where the texts have too few chunks to say so."""
    estimate: tuple[int, ...]
    """The same if documents were independent and their sums normal: no claim."""
    unknown: float
    """The share of unknown tokens: their text fits because it is lost."""


@dataclass(frozen=True)
class Budget:
    """How long chunks may be, by group."""

    limit: int
    special: int
    groups: tuple[GroupBudget, ...]


class GroupOverflow(NamedTuple):
    """The chunks of a group that are too long."""

    group: str
    chunks: int
    over: int

    @property
    def share(self) -> float:
        return self.over / self.chunks if self.chunks else math.nan


def budget(
    cut_by: Tokenizer | str,
    embed_by: Tokenizer | str,
    texts: Mapping[str, Sequence[str]] | None = None,
    *,
    limit: int = 512,
    special: int = 2,
) -> Budget:
    """Return how many tokens of ``cut_by`` a chunk may have to fit into the limit of ``embed_by``.

    The documents of a group are joined by line ends and cut into the longest chunks that fit, one after the other. If
    chunks of the same text are alike in distribution, the r-th shortest is safe: with 95 % confidence at most 5 % (0.1 %)
    of the chunks of this length overflow. r is from the binomial distribution, so nothing else is assumed; 59 (2,995)
    chunks are the fewest that allow it. Each group has its own claim.

    Args:
        cut_by: the tokenizer that cuts, or a name for :func:`tokbench.load`.
        embed_by: the tokenizer of the model with the limit.
        texts: documents by group, such as a language; by default the sample that ships with tokbench.
        limit: the most tokens of the model.
        special: how many of them are special tokens, such as ``[CLS]`` and ``[SEP]``.

    Raises:
        InputError: no room for text.

    Two bytes are one unit of UTF-16 here, so that 100 units are safe for a limit of 200 bytes:

    >>> found = budget("utf16_units", "utf8_bytes", {"ru": ["ж" * 10_000]}, limit=200, special=0)
    >>> found.groups[0].chunks, found.groups[0].safe
    (99, (100, None))
    """
    if limit - special < 1:
        raise InputError(f"the limit {limit} has no room for text: {special} are special; raise --limit")
    cutter, embedder = loaded(cut_by), loaded(embed_by)
    if texts is None:
        from tokbench.plugin.command import texts_by_group

        texts = texts_by_group("sample")
    groups = [_group(cutter, embedder, name, some, limit - special) for name, some in texts.items()]
    return Budget(limit, special, tuple(groups))


def _group(cutter: Tokenizer, embedder: Tokenizer, name: str, texts: Sequence[str], room: int) -> GroupBudget:
    from scipy.stats import binom

    ids = cutter.encode("\n".join(texts))
    lengths = sorted(_longest_chunks(ids, _counter(cutter, embedder), room))
    ranks = [int(binom.ppf(_DOUBT, len(lengths), share)) if lengths else 0 for share in SHARES]
    cut, embedded = encode_batch(cutter, texts), encode_batch(embedder, texts)
    unknown = getattr(embedder, "unk_id", None)
    return GroupBudget(
        group=name,
        tokens=len(ids),
        chunks=len(lengths),
        mean=float(np.mean(lengths)) if lengths else math.nan,
        safe=tuple(lengths[rank - 1] if rank else None for rank in ranks),
        estimate=tuple(_estimate(np.diff(cut.offsets), np.diff(embedded.offsets), room, share) for share in SHARES),
        unknown=0.0 if unknown is None else float(np.mean(embedded.ids == unknown)) if len(embedded.ids) else 0.0,
    )


def _counter(cutter: Tokenizer, embedder: Tokenizer) -> Callable[[Sequence[int]], int]:
    return lambda ids: len(embedder.encode(cutter.decode(ids)))


def _longest_chunks(ids: Sequence[int], count: Callable[[Sequence[int]], int], room: int) -> Iterator[int]:
    """Yield the length of each chunk that fills the room; the rest of the text does not.

    Up to three tokens between two chunks let chunks begin at every part of a character that is cut.
    """
    start, length, gaps = 0, room, cycle((0, *_CUT_CHARACTER))
    while left := ids[start:]:
        length = _longest(lambda size: count(left[:size]), room, min(length, len(left)), len(left))  # noqa: B023
        if length >= len(left):
            return
        length = max(1, length)
        yield length
        start += length + next(gaps)


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


def _estimate(cut: NDArray[np.int64], embedded: NDArray[np.int64], room: int, share: float) -> int:
    """Return the longest chunk of independent documents, parts of them included, whose normal bound fits."""
    from scipy.stats import t

    documents, total = len(cut), max(1, int(cut.sum()))
    if documents < 2:  # noqa: PLR2004
        return 0
    ratio = embedded.sum() / total
    spread = np.sum((embedded - ratio * cut) ** 2) / (documents - 1) * documents / total
    sizes = np.arange(1, 4 * room)
    bound = ratio * sizes + t.ppf(1 - share, documents - 1) * np.sqrt(spread * sizes * (1 + sizes / total))
    return int(np.searchsorted(bound, room, side="right"))


def overflow(
    cut_by: Tokenizer | str,
    embed_by: Tokenizer | str,
    texts: Mapping[str, Sequence[str]],
    *,
    tokens: int,
    limit: int = 512,
    special: int = 2,
) -> tuple[GroupOverflow, ...]:
    """Cut texts into chunks of so many tokens, and count those that overflow the limit.

    >>> overflow("utf16_units", "utf8_bytes", {"ru": ["ж" * 10_000]}, tokens=100, limit=200, special=1)
    (GroupOverflow(group='ru', chunks=100, over=100),)
    """
    cutter, embedder = loaded(cut_by), loaded(embed_by)
    count, found = _counter(cutter, embedder), []
    for group, some in texts.items():
        ids = cutter.encode("\n".join(some))
        needed = [count(ids[start : start + tokens]) for start in range(0, len(ids) - tokens + 1, tokens)]
        found.append(GroupOverflow(group, len(needed), sum(size > limit - special for size in needed)))
    return tuple(found)
