"""Computes the tokens of a text at every vocabulary size of a BPE, exactly, from its ids at one size.

Each merge makes an id of earlier ids: encoding with the first ``k`` merges is the first part of encoding with all. So:

1. Count how often each id was *emitted*.
2. From the last merge to the first, add the count of what it made to its parts: how often each id was *built*.
3. Tokens with ``k`` merges = units (bytes) - firings of the first ``k``.

Exact if every merge makes its own id (:class:`~tokbench.tokenizers.merges.MergeOrder` refuses others), and the
pre-tokenization does not depend on the size.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tokbench.tokenizers.contract import Encoded
from tokbench.tokenizers.merges import MergeOrder


class Curve:
    """The tokens of a text at every vocabulary size.

    Args:
        order: the merges.
        counts: int64[vocab_size], each id's occurrences with all merges.

    >>> order = MergeOrder(258, [(97, 97, 256), (256, 98, 257)])
    >>> curve = Curve(order, np.bincount([257, 256, 98], minlength=258))  # "aab" + "aa" + "b"
    >>> curve.tokens.tolist()  # with 0, 1 and 2 merges
    [6, 4, 3]
    """

    def __init__(self, order: MergeOrder, counts: NDArray[np.int64]) -> None:
        self.order = order
        self.built = counts.astype(np.int64)
        """int64[vocab_size], built, or there as a unit."""
        for _, makers, parts in reversed(order.levels):
            times = self.built[makers]
            some = np.flatnonzero(times)  # a short text builds few of the tokens
            np.add.at(self.built, parts[some], times[some])

    @cached_property
    def fired(self) -> NDArray[np.int64]:
        """int64[m], firings of each merge."""
        return self.built[self.order.made]

    @cached_property
    def tokens(self) -> NDArray[np.int64]:
        """int64[m + 1], tokens with 0, 1, … m merges."""
        units = int(self.built.sum() - self.fired.sum())
        saved = self.fired * (np.diff(self.order.offsets) - 1)
        return units - np.concatenate([[0], np.cumsum(saved)])

    def counts_at(self, merges: int) -> NDArray[np.int64]:
        """Return int64[vocab_size], counts with the first ``merges`` merges."""
        ranks, made, rank_of_part, parts, times = self._firing
        counts = self.built.copy()
        counts[made[np.searchsorted(ranks, merges) :]] = 0
        end = np.searchsorted(rank_of_part, merges)
        np.subtract.at(counts, parts[:end], times[:end])
        return counts

    @cached_property
    def _firing(self) -> tuple[NDArray[np.int64], ...]:
        """Ranks and ids of merges that fire; for each of their parts the merge's rank, its id, the times."""
        order = self.order
        ranks = np.flatnonzero(self.fired)
        used = np.flatnonzero(self.fired[order.rank_of_part])
        rank_of_part = order.rank_of_part[used]
        return ranks, order.made[ranks], rank_of_part, order.parts[used], self.fired[rank_of_part]


def tokens_of_each(order: MergeOrder, merges: int) -> NDArray[np.int64]:
    """Return int64[vocab_size], the tokens of each id with only the first merges.

    >>> order = MergeOrder(258, [(97, 97, 256), (256, 98, 257)])
    >>> [tokens_of_each(order, k)[257].item() for k in (0, 1, 2)]
    [3, 2, 1]
    """
    tokens = np.ones(order.vocab_size, dtype=np.int64)
    for made, makers, parts in order.levels:
        starts = np.flatnonzero(np.diff(makers, prepend=-1))
        tokens[made] = np.where(order.rank_of[made] < merges, 1, np.add.reduceat(tokens[parts], starts))
    return tokens


class CutIds:
    """Replaces ids by what the first ``merges`` merges make of the same text.

    >>> order = MergeOrder(258, [(97, 97, 256), (256, 98, 257)])
    >>> text = Encoded(np.array([257, 256, 98], dtype=np.uint32), np.array([0, 2, 3]))  # "aab" + "aa", "b"
    >>> cut = CutIds(order, 1)(text)
    >>> cut.ids.tolist(), cut.offsets.tolist()
    ([256, 98, 256, 98], [0, 3, 4])
    """

    def __init__(self, order: MergeOrder, merges: int) -> None:
        pieces: dict[int, list[int]] = {}
        for rank in range(merges, len(order)):
            pieces[int(order.made[rank])] = [i for part in order.parts_of(rank) for i in pieces.get(part, [part])]
        self._lengths = np.ones(order.vocab_size, dtype=np.int64)
        self._lengths[list(pieces)] = [len(piece) for piece in pieces.values()]
        self._starts = np.cumsum(self._lengths) - self._lengths
        self._flat = np.arange(order.vocab_size).repeat(self._lengths)
        for made, piece in pieces.items():
            self._flat[self._starts[made] : self._starts[made] + len(piece)] = piece

    def __call__(self, text: Encoded) -> Encoded:
        lengths = self._lengths[text.ids]
        ends = np.concatenate([[0], np.cumsum(lengths)])
        within = np.arange(int(ends[-1])) - np.repeat(ends[:-1], lengths)
        ids = self._flat[np.repeat(self._starts[text.ids], lengths) + within]
        return Encoded(ids.astype(np.uint32), ends[text.offsets].astype(np.int64))
