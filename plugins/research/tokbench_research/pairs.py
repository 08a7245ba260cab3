"""Numbers of every two groups or tokenizers, as a mean over the pairs of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import TypeVar

from tokbench.plugin.metrics import WHOLE, Measured, NotApplicable

T = TypeVar("T")
Numbers = Mapping[str, Measured | NotApplicable]


def pair_means(things: Mapping[str, T], compare: Callable[[T, T], Numbers]) -> dict[str, Numbers]:
    """Return the means of numbers over the pairs of each thing, and over all pairs as ``*``; nothing of a single thing.

    >>> means = pair_means({"a": 1, "b": 2, "c": 4}, lambda x, y: {"difference": Measured(y - x, 9)})
    >>> means["*"]["difference"].value, means["a"]["difference"].value
    (2.0, 2.0)
    """
    found: dict[str, dict[str, list[Measured | NotApplicable]]] = {name: {} for name in (*things, WHOLE)}
    for one, other in combinations(things, 2):
        for metric, number in compare(things[one], things[other]).items():
            for name in (one, other, WHOLE):
                found[name].setdefault(metric, []).append(number)
    return {name: {metric: _mean(numbers) for metric, numbers in of.items()} for name, of in found.items()}


def _mean(numbers: list[Measured | NotApplicable]) -> Measured | NotApplicable:
    measured = [number for number in numbers if isinstance(number, Measured)]
    if not measured:
        return numbers[0]
    return Measured(sum(each.value for each in measured) / len(measured), min(each.n for each in measured))
