"""Finds ids too rare to train."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tokbench.foundation.errors import InputError
from tokbench.studies.vocabulary_size.checks import positive, vocab_sizes

NEVER: Final = 1
"""A rarer id most likely keeps its initial values."""

FEW: Final = 100
"""Gowda and May 2020, "Finding the Optimal Vocabulary Size for Neural Machine Translation" (Findings of EMNLP): use the
largest vocabulary of which at least 95 % of ids have 100 examples or more in training."""

ENOUGH: Final = 1_000
"""Ten times that, a convention."""

RULE_OF_THREE: Final = 3
"""An id that does not occur in n draws has a share below 3 / n, with 95 % confidence (Hanley and Lippman-Hand 1983)."""


class Trainable(NamedTuple):
    """The number of ids by expected count in training, which add up to the vocabulary, and ``bound``.

    Each is an array, of the common shape of sizes and training tokens.

    Attributes:
        unseen: not in the sample; with special tokens.
        never, few, some, enough: expected less than once, 1 … 99 times, 100 … 999 times, 1,000 times or more.
        bound: the largest count to expect of one unseen id, by the rule of three.
    """

    unseen: NDArray[np.int64]
    never: NDArray[np.int64]
    few: NDArray[np.int64]
    some: NDArray[np.int64]
    enough: NDArray[np.int64]
    bound: NDArray[np.float64]


def trainable(counts: ArrayLike, vocab_size: ArrayLike, training_tokens: ArrayLike) -> Trainable:
    """Classify the ids of one vocabulary, or of several sizes at once, by expected count in training.

    Expected count = count / tokens of the sample x training tokens.

    Args:
        counts: int[..., v], the count of each id in the sample; a row for each size.
        vocab_size: int[...], the size of each row; counts beyond it must be 0.
        training_tokens: float[...], of all rows or of each.

    Raises:
        InputError: an empty sample, a negative count, or a count at or beyond the size.

    A sample of 1,000 tokens and training on 200,000: each occurrence counts as 200.

    >>> rarity = trainable([900, 94, 5, 1, 0, 0], 6, 200_000)
    >>> [int(n) for n in rarity[:5]], float(rarity.bound)
    ([2, 0, 0, 1, 3], 600.0)
    >>> rarity = trainable([[900, 100, 0], [700, 100, 200]], [2, 3], [400, 300])
    >>> rarity.few.tolist(), rarity.some.tolist()
    ([1, 2], [1, 1])
    """
    seen, sizes = np.asarray(counts), vocab_sizes(vocab_size)
    if seen.dtype.kind not in "iu" or (seen < 0).any():
        raise InputError("counts of ids are whole numbers from 0 on")
    if seen.shape[:-1] != sizes.shape or not seen.ndim:
        raise InputError(f"{sizes.size} sizes need as many rows of counts; these are of the shape {seen.shape}")
    if (sizes > seen.shape[-1]).any():
        raise InputError(f"a vocabulary of {sizes.max():,} needs as many counts, not {seen.shape[-1]:,}")
    inside = np.arange(seen.shape[-1]) < sizes[..., np.newaxis]
    if seen[np.broadcast_to(~inside, seen.shape)].any():
        raise InputError("ids at or beyond the vocabulary size have counts; give each size the counts of its own ids")
    tokens = positive(seen.sum(axis=-1), "the number of tokens in the sample")
    training = positive(training_tokens, "training tokens")
    # Products, not quotients: a count at a threshold must not fall below it by rounding.
    scaled, sample = seen * training[..., np.newaxis], tokens[..., np.newaxis]
    never, under_few, under_enough = (
        ((seen > 0) & (scaled < limit * sample)).sum(axis=-1) for limit in (NEVER, FEW, ENOUGH)
    )  # each holds the one before
    met = (seen > 0).sum(axis=-1)
    classes = (sizes - met, never, under_few - never, under_enough - under_few, met - under_enough)
    return Trainable(*np.broadcast_arrays(*classes, RULE_OF_THREE * training / tokens))
