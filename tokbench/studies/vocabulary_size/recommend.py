"""Recommends a vocabulary size among those that no other beats in everything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from tokbench.plugin import InputError, pareto_front
from tokbench.studies.vocabulary_size.checks import positive

TOLERANCE: Final = 0.05
"""The tolerance of a recommendation: 5 % of cost, and 5 % of the compression of the worst group."""

MOST_RARE: Final = 0.05
"""The largest share of ids that may be too rare to be trained."""


class SizeCandidate(NamedTuple):
    """A vocabulary that may be recommended.

    Attributes:
        name: the name in the report.
        vocab_size: the size.
        flops_per_byte: the FLOPs of the model for a byte of text.
        compression: bytes per token.
        worst: bytes per token of the group that is compressed least.
        too_rare: the share of ids that are too rare to be trained, 0 … 1; ``None`` if it is not known.
    """

    name: str
    vocab_size: int
    flops_per_byte: float
    compression: float
    worst: float
    too_rare: float | None = None


class Recommendation(NamedTuple):
    """The recommended candidate, with those on which the rule rests.

    Attributes:
        candidate: the candidate.
        front: the candidates that no other beats in everything, in the given order.
        cheapest: the one of the front that costs the fewest FLOPs per byte.
        allowed_rare: the largest share of ids too rare with which a candidate is taken; ``None`` if it is not known.
    """

    candidate: SizeCandidate
    front: tuple[SizeCandidate, ...]
    cheapest: SizeCandidate
    allowed_rare: float | None


def recommend(candidates: Sequence[SizeCandidate]) -> Recommendation:
    """Recommend a vocabulary.

    1. Only candidates whose ids can be trained count: at most 5 % of them are too rare (the rule of Gowda and May
       2020). If no candidate keeps that, those count that are within 5 points of the least share.
    2. Of them, those on the front: FLOPs per byte (lower), bytes per token of all and of the worst group (higher).
    3. Of these, those that cost at most 5 % more FLOPs per byte than the cheapest.
    4. Of these, those whose worst group has at least 95 % of the best worst group's bytes per token.
    5. Of these the smallest, whose rows are trained best and weigh least; then the cheapest, then the first name.

    Raises:
        InputError: no candidates, or a number that is not above 0.

    >>> table = [
    ...     SizeCandidate("8k", 8192, 55.9e6, 3.6, 2.0, 0.01),
    ...     SizeCandidate("16k", 16384, 53.2e6, 4.0, 2.4, 0.03),
    ...     SizeCandidate("32k", 32768, 55.0e6, 4.3, 2.7, 0.05),
    ...     SizeCandidate("50k", 50257, 60.4e6, 4.4, 2.8, 0.4),
    ... ]
    >>> advice = recommend(table)
    >>> advice.candidate.name, [candidate.name for candidate in advice.front], advice.cheapest.name, advice.allowed_rare
    ('32k', ['16k', '32k'], '16k', 0.05)
    """
    if not candidates:
        raise InputError("there are no candidates to recommend one of; give at least one size")
    positive([candidate[2:5] for candidate in candidates], "cost and compression of a candidate")
    shares = [candidate.too_rare for candidate in candidates if candidate.too_rare is not None]
    allowed = None
    if len(shares) == len(candidates):
        allowed = MOST_RARE if min(shares) <= MOST_RARE else min(shares) + MOST_RARE
    trained = [candidate for candidate in candidates if allowed is None or (candidate.too_rare or 0.0) <= allowed]
    keep = pareto_front([candidate[2:5] for candidate in trained], ["lower", "higher", "higher"])
    front = tuple(candidate for candidate, kept in zip(trained, keep, strict=True) if kept)
    cheapest = min(front, key=lambda candidate: (candidate.flops_per_byte, candidate.vocab_size, candidate.name))
    cheap = [candidate for candidate in front if candidate.flops_per_byte <= (1 + TOLERANCE) * cheapest.flops_per_byte]
    fairest = max(cheap, key=lambda candidate: candidate.worst)
    fair = [candidate for candidate in cheap if candidate.worst >= (1 - TOLERANCE) * fairest.worst]
    chosen = min(fair, key=lambda candidate: (candidate.vocab_size, candidate.flops_per_byte, candidate.name))
    return Recommendation(chosen, front, cheapest, allowed)
