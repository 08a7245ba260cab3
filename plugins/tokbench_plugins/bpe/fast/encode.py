"""Encoding in near-linear time, with ids identical to :func:`..literal.encode_literally`.

- A *short* chunk keeps the rank of every pair in a list: quadratic, but each step is a call of C.
- A *long* chunk keeps the possible merges in a heap, by rank and then from left to right.

Both give the same ids, because a merge creates only pairs with the new id, and merges that use an id come after the one
that makes it.
"""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain, pairwise

from tokbench_plugins.bpe.patterns import Splitter
from tokbench_plugins.bpe.vocabulary import Pair, Vocabulary

_CACHED_CHUNKS = 1 << 16
_LONGEST_CACHED = 64  # characters; longer chunks rarely repeat, and would fill the memory
_LONGEST_SCANNED = 256  # ids; above, the heap is faster


def merge_ids(ids: list[int], rank_of: Mapping[Pair, int], made: Sequence[int]) -> list[int]:
    """Merge the ids of one chunk, whose list may be changed; ``made`` has the id that each merge makes.

    >>> merge_ids(list(b"aaabdaaabac"), {(97, 97): 0, (256, 97): 1, (257, 98): 2}, [256, 257, 258])
    [258, 100, 258, 97, 99]
    """
    return (_merge_short if len(ids) <= _LONGEST_SCANNED else _merge_long)(ids, rank_of, made)


def _merge_short(ids: list[int], rank_of: Mapping[Pair, int], made: Sequence[int]) -> list[int]:
    none = len(made)  # a rank above all others: no merge
    ranks = [rank_of.get(pair, none) for pair in pairwise(ids)]
    while ranks and (lowest := min(ranks)) != none:
        start = ranks.index(lowest)
        token = ids[start] = made[lowest]
        del ids[start + 1], ranks[start]
        if start:
            ranks[start - 1] = rank_of.get((ids[start - 1], token), none)
        if start < len(ranks):
            ranks[start] = rank_of.get((token, ids[start + 1]), none)
    return ids


def _merge_long(ids: list[int], rank_of: Mapping[Pair, int], made: Sequence[int]) -> list[int]:
    size = len(ids)
    # One whole number (rank, position) per possible merge: they sort as pairs do, and compare faster.
    heap = [rank_of[pair] * size + start for start, pair in enumerate(pairwise(ids)) if pair in rank_of]
    heapq.heapify(heap)
    ids.append(-1)  # past the end, a neighbour that merges with nothing
    after = list(range(1, size + 2))
    before = list(range(-1, size))  # before the first, position -1: the same neighbour
    while heap:
        rank, start = divmod(heapq.heappop(heap), size)
        end = after[start]
        # Another merge may have taken either half; -1 is what is left of a right half.
        if rank_of.get((ids[start], ids[end])) != rank:
            continue
        following, previous = after[end], before[start]
        token = ids[start] = made[rank]
        ids[end] = -1
        after[start], before[following] = following, start
        if (possible := rank_of.get((ids[previous], token))) is not None:
            heapq.heappush(heap, possible * size + previous)
        if (possible := rank_of.get((token, ids[following]))) is not None:
            heapq.heappush(heap, possible * size + start)
    return [token for token in ids if token != -1]


class ChunkEncoder(ABC):
    """Encodes the chunks of a text, each by itself; caches the ids of up to 65,536 short chunks."""

    def __init__(self, pattern: str | None) -> None:
        self.split = Splitter(pattern)
        self._remembered = lru_cache(_CACHED_CHUNKS)(self._encode)

    def __call__(self, text: str) -> list[int]:
        return list(chain.from_iterable(map(self._ids_of, self.split(text))))

    def _ids_of(self, chunk: str) -> list[int]:
        return self._remembered(chunk) if len(chunk) <= _LONGEST_CACHED else self._encode(chunk)

    @abstractmethod
    def _encode(self, chunk: str) -> list[int]:
        """Encode one chunk."""


class Encoder(ChunkEncoder):
    """Encodes texts with a vocabulary, or the merges of a trained one in order of rank.

    >>> encoder = Encoder([(97, 97), (256, 98)], pattern="gpt2")
    >>> encoder("aab aab")
    [257, 32, 257]
    """

    def __init__(self, vocabulary: Vocabulary | Sequence[Pair], pattern: str | None = None) -> None:
        if not isinstance(vocabulary, Vocabulary):
            vocabulary = Vocabulary.trained(vocabulary)
        super().__init__(pattern)
        self._vocabulary = vocabulary
        self._byte_ids = vocabulary.byte_ids

    @cached_property  # made late: an encoder of batches may replace this one from the start
    def _rank_of(self) -> dict[Pair, int]:
        return {(left, right): rank for rank, (left, right, _) in enumerate(self._vocabulary.merges)}

    @cached_property
    def _made(self) -> list[int]:
        return [made for _, _, made in self._vocabulary.merges]

    @cached_property
    def _whole(self) -> dict[bytes, int]:
        tokens = self._vocabulary.tokens
        return {tokens[token_id]: token_id for token_id in self._vocabulary.whole_chunks}

    def _encode(self, chunk: str) -> list[int]:
        data = chunk.encode()
        if data in self._whole:
            return [self._whole[data]]
        return merge_ids(list(map(self._byte_ids.__getitem__, data)), self._rank_of, self._made)
