"""Recommends a vocabulary size that no other beats in everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tokbench.statistics.front import pareto_front
from tokbench.studies.vocabulary_size.block import SizeChoice
from tokbench.studies.vocabulary_size.plateau import NEAR

TOLERANCE: Final = 0.05
"""In the compression of the worst group."""

MOST_RARE: Final = 0.05


def allowed_rare(shares: Sequence[float | None]) -> float | None:
    """Return the largest share of too rare ids of a recommendation, if any share is known.

    It is 5 % (the rule of Gowda and May 2020), or 5 points beyond the least share if no candidate keeps that. An
    unknown share may be 0.

    >>> allowed_rare([0.01, 0.4]), allowed_rare([0.25, 0.4]), allowed_rare([0.25, None]), allowed_rare([None])
    (0.05, 0.3, 0.05, None)
    """
    if all(share is None for share in shares):
        return None
    least = min(share or 0.0 for share in shares)
    return MOST_RARE if least <= MOST_RARE else least + MOST_RARE


def recommend(candidates: Sequence[SizeChoice], line: str) -> SizeChoice:
    """Recommend a size of one line.

    1. On the front in FLOPs per byte, bytes per token of all and of the worst group, its candidates that cost at most
       2 % more FLOPs per byte than its cheapest.
    2. Of these, those whose worst group has at least 95 % of the best worst group's bytes per token.
    3. Of these the smallest.

    >>> table = [
    ...     SizeChoice(line=line, vocab_size=size, flops_per_byte=cost, compression_ratio=ratio, worst_ratio=worst)
    ...     for line, size, cost, ratio, worst in [
    ...         ("a", 8192, 55.9e6, 3.6, 2.0), ("a", 16384, 53.2e6, 4.0, 2.4), ("a", 32768, 53.9e6, 4.3, 2.7),
    ...         ("b", 50257, 60.4e6, 4.4, 2.8),
    ...     ]
    ... ]
    >>> recommend(table, "a").vocab_size
    32768
    """
    numbers = [(_cost(choice), choice.compression_ratio, _worst(choice)) for choice in candidates]
    keep = pareto_front(numbers, ["lower", "higher", "higher"])
    front = [choice for choice, kept in zip(candidates, keep, strict=True) if kept]
    own = [choice for choice in candidates if choice.line == line]
    least = min(map(_cost, own))
    cheap = [choice for choice in own if _cost(choice) <= (1 + NEAR) * least]
    cheap = [choice for choice in cheap if choice in front] or cheap
    fairest = max(map(_worst, cheap))
    fair = [choice for choice in cheap if _worst(choice) >= (1 - TOLERANCE) * fairest]
    return min(fair, key=lambda choice: (choice.vocab_size, _cost(choice)))


def _cost(choice: SizeChoice) -> float:
    return choice.flops_per_byte or 0.0


def _worst(choice: SizeChoice) -> float:
    return choice.worst_ratio or 0.0


def beaten(costs: Mapping[str, Mapping[str, float]], weights: Mapping[str, float]) -> dict[str, str]:
    """Return by line another line that costs less on most of the text; nothing if every line has one.

    Less is at least 2 %. ``costs`` has, by line and corpus, the least cost of a byte; ``weights`` add up to 1.

    A line that is best on one corpus of three and loses on two is beaten:

    >>> costs = {"a": {"prose": 9.0, "code": 1.0, "talk": 9.0}, "b": {"prose": 5.0, "code": 4.0, "talk": 5.0}}
    >>> beaten(costs, {"prose": 1 / 3, "code": 1 / 3, "talk": 1 / 3})
    {'a': 'b'}
    """

    def wins(one: str, two: str) -> bool:
        cheaper = (weights[corpus] for corpus in weights if costs[one][corpus] * (1 + NEAR) < costs[two][corpus])
        return sum(cheaper) > 1 / 2 + 1e-9

    better = {line: next((other for other in costs if wins(other, line)), "") for line in costs}
    return {line: other for line, other in better.items() if other} if "" in better.values() else {}
