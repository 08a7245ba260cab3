"""Interpolated modified Kneser-Ney models of all orders in one pass.

Chen and Goodman 1999, "An empirical study of smoothing techniques for language modeling", section 3, with the discounts
of equation (26). Heafield and others 2013, "Scalable modified Kneser-Ney language model estimation", for the beginning
of a document and the discounts where counts are too few.

A document is BOS w_1 ... w_n EOS. BOS is never predicted; EOS is predicted once. With c the count of an n-gram, h a
history and h' the same without its first token::

    p_k(w | h) = max(c(h w) - D_k(c(h w)), 0) / c(h .) + gamma(h) p_{k-1}(w | h')
    gamma(h)   = (D_1 N_1(h .) + D_2 N_2(h .) + D_3 N_3+(h .)) / c(h .)
    p_k(w | h) = p_{k-1}(w | h') where c(h .) = 0
    p_0        = 1 / (V + 1) for V ids that can be emitted, and EOS

c is the raw count at the top order. Below it, it is the number of different tokens that precede the n-gram; n-grams
that begin with BOS keep their raw count.

The number of an n-gram is its rank, sorted by the number of its first n - 1 tokens and then by its last token.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin import Encoded

ORDERS: Final = 6

_FEW: Final = (0.5, 1.0, 1.5)
"""As in KenLM, where counts are too few for estimates."""

_ABSENT: Final = -1

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class _Stream(NamedTuple):
    """Documents between BOS and EOS: int64[n] tokens, and the place of each in its document from 0."""

    tokens: Ints
    depth: Ints

    @classmethod
    def of(cls, documents: Encoded, eos: int) -> _Stream:
        lengths = np.diff(documents.offsets).astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(lengths + 2)])
        tokens = np.empty(int(starts[-1]), dtype=np.int64)
        depth = np.arange(len(tokens)) - np.repeat(starts[:-1], lengths + 2)
        inside = depth > 0
        inside[starts[1:] - 1] = False
        tokens[inside] = documents.ids
        tokens[starts[:-1]] = eos + 1
        tokens[starts[1:] - 1] = eos
        return cls(tokens, depth)


@dataclass(frozen=True)
class _Order:
    """The different n-grams of one order in the training text."""

    keys: Ints
    raw: Ints
    suffix: Ints
    begins: NDArray[np.bool_]
    base: int

    def find(self, history: Ints, tokens: Ints) -> Ints:
        """Return int64[n], the number of each n-gram from the number of its first n - 1 tokens, or -1."""
        if not len(self.keys):
            return np.full(len(tokens), _ABSENT)
        keys = np.where(history == _ABSENT, _ABSENT, history * self.base + tokens)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, at, _ABSENT)


def _orders(text: _Stream, base: int, highest: int) -> Iterator[_Order]:
    numbers = np.zeros(len(text.tokens) + 1, dtype=np.int64)  # the empty n-gram, of which there is one
    for order in range(1, highest + 1):
        ends = np.flatnonzero(text.depth >= order - 1)
        keys = (numbers[ends - 1] if order > 1 else 0) * base + text.tokens[ends]
        different, ranks = np.unique(keys, return_inverse=True)
        some = np.empty(len(different), dtype=np.int64)  # for each n-gram, one of its ends
        some[ranks] = ends
        begins = text.depth[some] == order - 1
        raw = np.bincount(ranks, minlength=len(different))
        suffix = numbers[some] if order > 1 else np.zeros(len(different), dtype=np.int64)
        if order == 1:
            raw[begins] = 0
        numbers[:] = _ABSENT
        numbers[ends] = ranks
        yield _Order(different, raw, suffix, begins, base)


@dataclass(frozen=True)
class _Smoothed:
    order: _Order
    counts: Ints
    histories: int

    def probabilities(self, history: Ints, ngrams: Ints, below: Floats) -> Floats:
        """Return float64[n], the probability of each token, from the numbers of its history and n-gram, or -1."""
        counts, histories = self.counts, self.histories
        of_count = discounts(np.bincount(np.minimum(counts, 5), minlength=6))
        before = self.order.keys // self.order.base
        totals = np.append(np.bincount(before, weights=counts, minlength=histories), 0)  # -1 finds what is not there
        kept = (of_count[j] * np.bincount(before[np.minimum(counts, 3) == j], minlength=histories) for j in (1, 2, 3))
        total, count = totals[history], np.append(counts, 0)[ngrams]
        discounted = np.maximum(count - of_count[np.minimum(count, 3)], 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            mixed = discounted / total + np.append(sum(kept), 0)[history] / total * below
        return np.where(total > 0, mixed, below)


def discounts(frequencies: Ints) -> Floats:
    """Return float64[4], the discounts of counts of 0, 1, 2, and of 3 or more.

    Chen and Goodman 1999, equation (26): with n_j n-grams of count j (``frequencies``, up to 4) and Y = n_1 / (n_1 + 2
    n_2), it is D_j = j - (j + 1) Y n_{j+1} / n_j. Where some n_j is 0 or D_j is not in (0, j], all are 0.5, 1 and 1.5.

    >>> [round(float(discount), 4) for discount in discounts(np.array([0, 100, 40, 20, 10]))]
    [0.0, 0.5556, 1.1667, 1.8889]
    >>> discounts(np.array([0, 2, 1, 0, 0])).tolist()
    [0.0, 0.5, 1.0, 1.5]
    >>> discounts(np.array([0, 1, 1, 2, 4])).tolist()  # D_2 = 0 would leave nothing for what was not seen
    [0.0, 0.5, 1.0, 1.5]
    """
    n = frequencies.astype(np.float64)
    few = np.array([0.0, *_FEW])
    if not n[1:4].all():
        return few
    y = n[1] / (n[1] + 2 * n[2])
    taken = np.array([0.0] + [j - (j + 1) * y * n[j + 1] / n[j] for j in (1, 2, 3)])
    return few if np.any(taken[1:] <= 0) or np.any(taken > np.arange(4)) else taken


def bits_by_order(training: Encoded, scored: Encoded, n_ids: int, highest: int = ORDERS) -> Floats:
    """Return float64[highest, d], by order -log2 of the probability of each scored document, EOS included.

    Raises:
        ValueError: the training text is empty.

    One document "a a b", of which the unigrams are p(a) = 5/12 and p(b) = p(EOS) = 7/24. With two orders p(a | BOS) =
    17/24, p(b | a) = 19/48 and p(EOS | b) = 31/48:

    >>> text = Encoded(np.array([0, 0, 1], dtype=np.uint32), np.array([0, 3]))
    >>> one = Encoded(np.array([0, 1], dtype=np.uint32), np.array([0, 2]))
    >>> (2 ** -bits_by_order(text, one, n_ids=2, highest=2)).round(6).tolist()
    [[0.035446], [0.18108]]
    >>> round(5 / 12 * 7 / 24 * 7 / 24, 6), round(17 / 24 * 19 / 48 * 31 / 48, 6)
    (0.035446, 0.18108)
    """
    if len(training.offsets) < 2:  # noqa: PLR2004 - one offset means zero documents
        raise ValueError("no training text")
    eos = int(max(training.ids.max(initial=0), scored.ids.max(initial=0))) + 1
    base = eos + 2
    predicted = _Stream.of(scored, eos)
    first = predicted.depth == 0
    document = np.cumsum(first) - 1
    lower = np.full(len(predicted.tokens), 1 / (n_ids + 1))
    history = np.zeros(len(predicted.tokens), dtype=np.int64)  # of each token, the number of what precedes it
    bits = np.empty((highest, len(scored.offsets) - 1))
    histories = 1
    for k, (order, above) in enumerate(pairwise(chain(_orders(_Stream.of(training, eos), base, highest), [None]))):
        assert order is not None
        ngrams = order.find(history, predicted.tokens)
        top = _Smoothed(order, order.raw, histories).probabilities(history, ngrams, lower)
        bits[k] = np.bincount(document, weights=np.where(first, 0.0, -np.log2(top)), minlength=bits.shape[1])
        if above is not None:
            preceding = np.bincount(above.suffix, minlength=len(order.keys))
            counts = np.where(order.begins, order.raw, preceding)
            lower = _Smoothed(order, counts, histories).probabilities(history, ngrams, lower)
            history, histories = _following(ngrams, first), len(order.keys)
    return bits


def _following(ngrams: Ints, first: NDArray[np.bool_]) -> Ints:
    history = np.concatenate([[_ABSENT], ngrams[:-1]])
    history[first] = _ABSENT
    return history
