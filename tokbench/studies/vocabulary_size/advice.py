"""The vocabulary size to train for a model: where a byte of text costs the least compute.

Larger vocabularies need fewer tokens and make the output layer wider. The FLOPs of a byte of text are those of a token
(:mod:`.compute`) times the tokens of a byte, known at every size of a vocabulary. All sizes that cost at most 2% more
than the best are in the range; the pick is the best, rounded as far as the range allows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from tokbench.report.answer.words import join, megabytes
from tokbench.studies.vocabulary_size.block import SizeAdvice
from tokbench.studies.vocabulary_size.compute import flops_per_byte
from tokbench.studies.vocabulary_size.mixture import MixedLine
from tokbench.studies.vocabulary_size.options import Model

NEAR: Final = 0.02
"""Equally good sizes cost at most this share more than the best."""

ENOUGH: Final = 100
"""Bytes of training text for a token: the ends of a range then differ by a twentieth from much more text."""

_SMALL: Final = 0.25
"""With less than this share of the text that is needed, nothing is firm."""

_POINTS: Final = 80

_SMALLEST: Final = 256
"""Tokens of single bytes, which need no text."""


def advise(lines: Mapping[str, MixedLine], models: Mapping[str, Model]) -> list[SizeAdvice]:
    """Return the advice for each model, on the line that costs least; the others follow it, by their cost."""
    found = []
    for name, model in models.items():
        of_model = [_of_line(name, model, line, mixed) for line, mixed in lines.items()]
        found += sorted(of_model, key=lambda advice: advice.cost)
    return found


def _of_line(name: str, model: Model, line: str, mixed: MixedLine) -> SizeAdvice:
    sizes, costs = mixed.every, flops_per_byte(model, mixed.every, 1 / mixed.mixed)
    best = int(costs.argmin())
    near = np.flatnonzero(costs <= (1 + NEAR) * costs[best])
    first, last = int(near[0]), int(near[-1])
    pick = picked(int(sizes[best]), int(sizes[first]), int(sizes[last])) if mixed.whole else int(sizes[best])
    spread_out = np.geomspace(1, len(sizes), _POINTS).round().astype(np.int64) - 1
    drawn = np.unique([*spread_out, first, best, last])
    at = int(np.searchsorted(sizes, pick))
    return SizeAdvice(
        model=name,
        line=line,
        pick=pick,
        low=int(sizes[first]),
        high=int(sizes[last]),
        largest=int(sizes[-1]),
        tokens_per_byte=float(mixed.mixed[at]),
        cost=float(costs[at]),
        sizes=sizes[drawn].tolist(),
        costs=costs[drawn].tolist(),
    )


def picked(best: int, low: int, high: int) -> int:
    """Round a size to the fewest digits with which it stays in its range.

    >>> picked(31_744, 24_000, 48_000), picked(31_744, 31_000, 32_500), picked(31_744, 31_744, 31_744)
    (30000, 32000, 31744)
    """
    for digits in (1, 2, 3):
        rounded = int(float(f"{best:.{digits - 1}e}"))
        if low <= rounded <= high:
            return rounded
    return best


def rounded_range(pick: int, low: int, high: int) -> tuple[int, int]:
    """Return the ends of a range with two digits, inside of it and around the pick; as they are where none fits.

    >>> rounded_range(30_000, 23_870, 48_200), rounded_range(31_500, 31_200, 31_900)
    ((24000, 48000), (31200, 31900))
    >>> rounded_range(32_768, 16_384, 32_768)
    (17000, 32768)
    """
    first, last = _two_digits(low, np.ceil), _two_digits(high, np.floor)
    return (min(first, pick), max(last, pick)) if first <= last else (low, high)


def _two_digits(size: float, towards: Callable[[float], Any]) -> int:
    unit: int = 10 ** max(len(str(int(size))) - 2, 0)
    return int(towards(size / unit)) * unit


def enough_text(high: int, weights: Mapping[str, float], trained: Mapping[str, float]) -> dict[str, float]:
    """Return by corpus the bytes that are missing for a size, two digits rounded up; nothing where there is enough.

    Of each corpus, its share of 100 bytes for a token is needed:

    >>> enough_text(10_000, {"prose": 0.75, "code": 0.25}, {"prose": 501_000.0, "code": 300_000.0})
    {'prose': 250000.0}
    """
    needed = {corpus: ENOUGH * high * weight for corpus, weight in weights.items()}
    missing = {corpus: size - trained.get(corpus, 0.0) for corpus, size in needed.items()}
    return {corpus: float(_two_digits(size, np.ceil)) for corpus, size in missing.items() if size > 0}


def confidence(size: int, weights: Mapping[str, float], trained: Mapping[str, float]) -> str:
    """Say whether the training text decides a size, and what is missing of which kind.

    >>> confidence(16_000, {"prose": 0.75, "code": 0.25}, {"prose": 750_000.0, "code": 100_000.0})
    'Medium: the training text decides sizes up to 4,000. Add 450 kB of prose and 300 kB of code for up to 16,000.'
    """
    missing = enough_text(size, weights, trained)
    if not missing:
        return f"Firm: there are {ENOUGH} bytes or more of training text for each token up to {size:,}."
    reach = supported(weights, trained)
    add = join([f"{megabytes(lack)} of {corpus}" for corpus, lack in missing.items()])
    degree = "Medium" if reach >= _SMALL * size else "Low"
    decides = f"decides sizes up to {reach:,}" if reach > _SMALLEST else "decides no size"
    return f"{degree}: the training text {decides}. Add {add} for up to {size:,}."


def supported(weights: Mapping[str, float], trained: Mapping[str, float]) -> int:
    """Return the largest size that the training text decides: the corpus that is rarest for its weight limits it.

    >>> supported({"prose": 0.75, "code": 0.25}, {"prose": 750_000.0, "code": 100_000.0})
    4000
    """
    return int(min(trained.get(corpus, 0.0) / weight for corpus, weight in weights.items()) / ENOUGH)
