"""Encoding in near-linear time, with ids identical to :func:`..literal.encode_literally`.

The literal loop looks at the whole chunk for every merge: quadratic, which for naive BPE, whose chunk
is a whole document, is hopeless. Here a heap holds the merges that are possible, the lowest rank first
and, of one rank, the leftmost first; links lead over the ids that were merged away.

Why this is the same: a merge creates pairs with the new id only, and merges that use an id come after
the one that makes it. So ranks leave the heap in rising order, and all occurrences of one merge are
done, from left to right, before the next merge begins.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise

from tokbench_plugins.bpe.patterns import Splitter
from tokbench_plugins.bpe.vocabulary import FIRST_MERGE, Pair

__all__ = ["Encoder", "encode_chunk"]

_CACHED_CHUNKS = 1 << 16
_LONGEST_CACHED = 64  # characters; longer chunks rarely come back, and would fill the memory


def encode_chunk(chunk: bytes, made_by: Mapping[Pair, int]) -> list[int]:
    """The ids of one chunk.

    Args:
        chunk: UTF-8 bytes of any length.
        made_by: for each merge, the id it makes; a smaller id is a lower rank.

    Returns:
        At most ``len(chunk)`` ids.

    >>> encode_chunk(b"aaabdaaabac", {(97, 97): 256, (256, 97): 257, (257, 98): 258})
    [258, 100, 258, 97, 99]
    """
    ids = list(chunk)
    size = len(ids)
    # One whole number (id, position) per possible merge: they sort as pairs do, and compare faster.
    heap = [made_by[pair] * size + start for start, pair in enumerate(pairwise(ids)) if pair in made_by]
    if not heap:
        return ids
    heapq.heapify(heap)
    ids.append(-1)  # past the end, a neighbour that merges with nothing
    after = list(range(1, size + 2))
    before = list(range(-1, size))  # before the first, position -1: the same neighbour
    while heap:
        made, start = divmod(heapq.heappop(heap), size)
        end = after[start]
        # Another merge may have taken either half; -1 is what is left of a right half.
        if made_by.get((ids[start], ids[end])) != made:
            continue
        following, previous = after[end], before[start]
        ids[start], ids[end] = made, -1
        after[start], before[following] = following, start
        if (possible := made_by.get((ids[previous], made))) is not None:
            heapq.heappush(heap, possible * size + previous)
        if (possible := made_by.get((made, ids[following]))) is not None:
            heapq.heappush(heap, possible * size + start)
    return [token for token in ids if token != -1]


class Encoder:
    """Encodes texts with a list of merges and a split.

    Ids of short chunks are remembered, 65,536 of them at most: natural text repeats its words.

    Args:
        merges: the merges in order of rank.
        pattern: the pre-tokenization split, a name or a regular expression; ``None`` for naive BPE.

    Raises:
        ValueError: ``pattern`` is invalid.

    >>> encoder = Encoder([(97, 97), (256, 98)], pattern="gpt2")
    >>> encoder("aab aab")
    [257, 32, 257]
    """

    def __init__(self, merges: Sequence[Pair], pattern: str | None = None) -> None:
        self.split = Splitter(pattern)
        self._made_by = {pair: FIRST_MERGE + rank for rank, pair in enumerate(merges)}
        self._remembered = lru_cache(_CACHED_CHUNKS)(self._encode)

    def __call__(self, text: str) -> list[int]:
        """The ids of one text."""
        return list(chain.from_iterable(map(self._ids_of, self.split(text))))

    def _ids_of(self, chunk: str) -> list[int]:
        return self._remembered(chunk) if len(chunk) <= _LONGEST_CACHED else self._encode(chunk)

    def _encode(self, chunk: str) -> list[int]:
        return encode_chunk(chunk.encode(), self._made_by)
