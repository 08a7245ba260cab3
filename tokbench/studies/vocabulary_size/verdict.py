"""The verdict on a vocabulary of one's own: train it, take a published one, or get more text first."""

from __future__ import annotations

from enum import Enum, auto

from tokbench.studies.vocabulary_size.block import SizeCost


class SizeVerdict(Enum):
    """What to do about a vocabulary of one's own."""

    TRAIN = auto()
    TAKE = auto()
    MORE_TEXT = auto()


def verdict(own: SizeCost, inside: SizeCost | None, published: SizeCost | None, margin: float) -> SizeVerdict:
    """Return the verdict for one model: the compute of a byte decides, and its tokens where the compute is the same.

    Args:
        own: the best size of the vocabulary.
        inside: the best of those that the training text supports; ``None`` if it supports none.
        published: the published vocabulary of least compute; ``None`` if none can be taken. All is better than none.
        margin: a smaller share of compute or tokens is no difference.

    ============  ============  =========
    own           inside        verdict
    ============  ============  =========
    not better    any           TAKE
    better        better        TRAIN
    better        not better    MORE_TEXT
    ============  ============  =========

    >>> small, large = (SizeCost(vocab_size=n, tokens_per_byte=1 / n, cost=n) for n in (100, 200))
    >>> verdict(small, small, large, 0.01), verdict(large, large, small, 0.01), verdict(small, None, large, 0.01)
    (<SizeVerdict.TRAIN: 1>, <SizeVerdict.TAKE: 2>, <SizeVerdict.MORE_TEXT: 3>)
    """
    if not _better(own, published, margin):
        return SizeVerdict.TAKE
    if inside is None or not _better(inside, published, margin):
        return SizeVerdict.MORE_TEXT
    return SizeVerdict.TRAIN


def _better(own: SizeCost, published: SizeCost | None, margin: float) -> bool:
    if published is None:
        return True
    compute, tokens = own.cost / published.cost - 1, own.tokens_per_byte / published.tokens_per_byte - 1
    return (tokens if abs(compute) < margin else compute) <= -margin
