"""From counts of ids to lines over vocabulary sizes: tokens by jackknife group, and the curve of every size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.shards import BUCKETS
from tokbench.metrics.token_counts import TokenCounts
from tokbench.vocabulary.curve import Curve, tokens_of_each
from tokbench.vocabulary.merges import MergeOrder

GRID = 48
"""Sizes, evenly spaced in their logarithm, at which the knee is looked for."""


class Place(NamedTuple):
    """A line on one group of a corpus."""

    line: str
    corpus: str
    group: str


@dataclass(frozen=True)
class Line:
    """The tokens of some text at some sizes of a vocabulary.

    Attributes:
        sizes: int64[s], rising.
        tokens: float64[s, BUCKETS], the tokens of each jackknife group of documents.
        curve: the curve of every size; ``None`` if the vocabulary cannot be cut.
        counts_by_size: for each size how often each id occurs; empty if there is a curve.
    """

    sizes: NDArray[np.int64]
    tokens: NDArray[np.float64]
    curve: Curve | None = None
    counts_by_size: tuple[NDArray[np.int64], ...] = ()

    def at(self, size: int) -> int:
        """Return the place of a size in ``sizes``."""
        return int(np.searchsorted(self.sizes, size))

    def counts(self, k: int) -> NDArray[np.int64]:
        """Return how often each id occurs at the size number ``k``."""
        if self.curve is None:
            return self.counts_by_size[k]
        return self.curve.counts_at(int(self.sizes[k]) - self.curve.order.base)


def grid(order: MergeOrder, sizes: Sequence[int]) -> NDArray[np.int64]:
    """Return the sizes to cut a vocabulary at: those asked for that it has, its own, and a fine grid."""
    first, last = order.base, order.base + len(order)
    fine = np.geomspace(first, last, GRID).round().astype(np.int64) if len(order) else np.array([last])
    asked = np.array([size for size in sizes if first <= size <= last], dtype=np.int64)
    return np.unique(np.concatenate([fine, asked, [last]]))


def cut(order: MergeOrder, states: Sequence[TokenCounts], sizes: NDArray[np.int64]) -> list[Line]:
    """Return the lines of several texts under one vocabulary, cut at each size; a text has been encoded once."""
    curves = [Curve(order, state.total()) for state in states]
    tokens = np.zeros((len(states), len(sizes), BUCKETS))
    for k, size in enumerate(sizes.tolist()):
        weights = tokens_of_each(order, size - order.base)
        for text, state in enumerate(states):
            tokens[text, k] = state.per_bucket(weights)
    return [Line(sizes, each, curve) for each, curve in zip(tokens, curves, strict=True)]


def ladder(trained: Sequence[tuple[int, TokenCounts]]) -> Line:
    """Return the line of one text under vocabularies of several sizes, each trained by itself."""
    trained = sorted(trained, key=lambda each: each[0])
    counts = tuple(state.total() for _, state in trained)
    ones = [state.per_bucket(np.ones(state.vocab_size, dtype=np.int64)) for _, state in trained]
    return Line(np.array([size for size, _ in trained]), np.array(ones), counts_by_size=counts)
