"""Sampling at encoding: BPE dropout and StochasTok, seeded, so that a text always has the same ids.

*BPE dropout* (Provilkov et al. 2020, "BPE-Dropout: Simple and Effective Subword Regularization") leaves out merges at
random. A chunk that is looked up as a whole counts as one merge.

*StochasTok* (Sims et al. 2025, "StochasTok: Improving Fine-Grained Subword Understanding in LLMs") splits tokens of the
finished encoding: a share p of n tokens means ``floor(p * n)`` steps. Each step takes a random token and splits it into
a random pair of tokens, both uniformly. A token that cannot be split stays. The halves may be split again.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from random import Random
from typing import NamedTuple

from tokbench import plugin
from tokbench_plugins.bpe import Pair, Splitter
from tokbench_plugins.bpe.vocabulary import Vocabulary

Draw = Callable[[], float]
"""Returns the next random number, at least 0 and below 1."""

_NO_TOKEN = -1
_REMEMBERED_SPLITS = 1 << 16

SEEDS = 1 << 63
"""Seeds are below this number."""


class Sampling(NamedTuple):
    """The options of sampling at encoding.

    >>> bool(Sampling()), Sampling(dropout=0.1).described
    (False, 'dropout 0.1, seed 0')
    """

    dropout: float = 0.0
    """The probability of leaving out a possible merge, 0 … 1."""

    stochastok: float = 0.0
    """Splits per token of the finished encoding, 0 … 1."""

    seed: int = 0

    def __bool__(self) -> bool:
        return self.dropout > 0 or self.stochastok > 0

    @property
    def described(self) -> str:
        kinds = [f"{name} {getattr(self, name):g}" for name in ("dropout", "stochastok") if getattr(self, name)]
        return ", ".join([*kinds, f"seed {self.seed}"])

    def draws(self, text: str) -> Draw:
        """Return the random numbers of a text and the seed.

        >>> Sampling(seed=1).draws("hat")() == Sampling(seed=1).draws("hat")()
        True
        """
        digest = blake2b(text.encode(), digest_size=16, salt=self.seed.to_bytes(16, "big"))
        return Random(int.from_bytes(digest.digest(), "big")).random  # noqa: S311 - no secret


def drop_merges(
    ids: list[int], rank_of: Mapping[Pair, int], made: Sequence[int], dropout: float, draw: Draw
) -> list[int]:
    """Merge the ids of one chunk in near-linear time; a draw below ``dropout`` drops a merge.

    >>> draws = iter([0.05, 0.5])
    >>> drop_merges([97, 98, 97, 98], {(97, 98): 0}, [256], 0.1, lambda: next(draws, 0.0))
    [97, 98, 256]
    """
    size = len(ids)
    heap = [rank_of[pair] * size + start for start, pair in enumerate(pairwise(ids)) if pair in rank_of]
    heapq.heapify(heap)
    ids.append(_NO_TOKEN)  # past the end, a neighbour that merges with nothing
    after = list(range(1, size + 2))
    before = list(range(-1, size))
    dropped: list[int] = []
    while heap:
        entry = heapq.heappop(heap)
        rank, start = divmod(entry, size)
        end = after[start]
        # A merge may have taken either half since.
        if rank_of.get((ids[start], ids[end])) != rank:
            continue
        if draw() < dropout:
            dropped.append(entry)
            continue
        following, previous = after[end], before[start]
        token = ids[start] = made[rank]
        ids[end] = _NO_TOKEN
        after[start], before[following] = following, start
        for again in dropped:
            heapq.heappush(heap, again)
        dropped.clear()
        if (possible := rank_of.get((ids[previous], token))) is not None:
            heapq.heappush(heap, possible * size + previous)
        if (possible := rank_of.get((token, ids[following]))) is not None:
            heapq.heappush(heap, possible * size + start)
    return [token for token in ids if token != _NO_TOKEN]


def split_tokens(ids: Sequence[int], share: float, splits_of: Callable[[int], Sequence[Pair]], draw: Draw) -> list[int]:
    """Split random tokens as StochasTok does; ``share`` is the number of steps for each token, 0 … 1.

    >>> draws = iter([0.9, 0.0])
    >>> split_tokens([97, 256], 0.5, lambda token: [(97, 98)] if token == 256 else [], lambda: next(draws))
    [97, 97, 98]
    """
    tokens = list(ids)
    after = list(range(1, len(ids) + 1))  # links, so that a right half is appended and keeps its place
    end = -1
    if tokens:
        after[-1] = end
    for _ in range(int(share * len(ids))):
        at = int(draw() * len(tokens))
        if pairs := splits_of(tokens[at]):
            left, right = pairs[int(draw() * len(pairs))]
            tokens[at] = left
            after.append(after[at])
            after[at] = len(tokens)
            tokens.append(right)
    inorder: list[int] = []
    at = 0 if tokens else end
    while at != end:
        inorder.append(tokens[at])
        at = after[at]
    return inorder


class Sampler:
    """Encodes texts with sampling; without any, it gives the ids of :class:`~tokbench_plugins.bpe.Encoder`.

    >>> vocabulary = Vocabulary.trained([(108, 111), (256, 119)])
    >>> Sampler(vocabulary, "gpt2", Sampling(dropout=1.0))("low")
    [108, 111, 119]
    >>> Sampler(vocabulary, "gpt2", Sampling(stochastok=1.0))("low")
    [256, 119]
    """

    def __init__(self, vocabulary: Vocabulary, pattern: str | None, sampling: Sampling) -> None:
        self.sampling = sampling
        self._tokens = vocabulary.tokens
        self._id_of = vocabulary.ranks
        self.split = Splitter(pattern)
        self._byte_ids = vocabulary.byte_ids
        self._rank_of = {(left, right): rank for rank, (left, right, _) in enumerate(vocabulary.merges)}
        self._made = [made for _, _, made in vocabulary.merges]
        self._whole = {vocabulary.tokens[token_id]: token_id for token_id in vocabulary.whole_chunks}
        self._splits = lru_cache(_REMEMBERED_SPLITS)(self.splits_of)

    def __call__(self, text: str) -> list[int]:
        text = plugin.valid_unicode(text)
        draw = self.sampling.draws(text)
        ids: list[int] = []
        for chunk in self.split(text):
            ids += self._encode(chunk.encode(), draw)
        return split_tokens(ids, self.sampling.stochastok, self._splits, draw) if self.sampling.stochastok else ids

    def _encode(self, chunk: bytes, draw: Draw) -> list[int]:
        dropout = self.sampling.dropout
        if chunk in self._whole and draw() >= dropout:
            return [self._whole[chunk]]
        return drop_merges(list(map(self._byte_ids.__getitem__, chunk)), self._rank_of, self._made, dropout, draw)

    def splits_of(self, token_id: int) -> tuple[Pair, ...]:
        """Return the pairs of ids with the bytes of an id, the shortest left half first.

        >>> sampler = Sampler(Vocabulary.trained([(97, 98), (98, 99), (256, 99)]), None, Sampling())
        >>> sampler.splits_of(258)
        ((97, 257), (256, 99))
        """
        token, id_of = self._tokens[token_id], self._id_of
        halves = ((token[:cut], token[cut:]) for cut in range(1, len(token)))
        return tuple((id_of[left], id_of[right]) for left, right in halves if left in id_of and right in id_of)
