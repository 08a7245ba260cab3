"""The vocabulary size to train for a model: where a byte of text costs the least compute.

Larger vocabularies need fewer tokens and make the output layer wider. A byte of text costs the FLOPs of a token
(:func:`flops_per_token`) times its tokens, known at every size of a vocabulary. All sizes that cost at most 2% more
than the best are in the range; the pick is the best, rounded as far as the range allows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tokbench.report.answer.words import join, megabytes
from tokbench.studies.vocabulary_size.block import SizeAdvice, SizePick
from tokbench.studies.vocabulary_size.lines import MixedLine
from tokbench.studies.vocabulary_size.options import Model

Floats = NDArray[np.float64]

NEAR: Final = 0.02
"""Equally good sizes cost at most this share more than the best."""

ENOUGH: Final = 100
"""Bytes of training text for a token: the ends of a range then differ by a twentieth from much more text."""

_POINTS: Final = 80

_SMALLEST: Final = 256
"""Tokens of single bytes, which need no text."""


def flops_per_token(model: Model, vocab_size: ArrayLike) -> Floats:
    """Return the FLOPs of the forward pass of one token in training, with a full context.

    A multiplication and an addition are two: 2 for each weight of a product, and 2 x layers x context x attention width
    for attention, as both its products see context / 2 tokens on average (Kaplan et al. 2020, "Scaling Laws for Neural
    Language Models", table 1). Embedding, norms, biases and softmax are not counted.

    >>> gpt2 = Model(width=768, layers=12, context=1024, positions=1024, biases=True, tied=True)
    >>> flops_per_token(gpt2, [8192, 50257]).tolist()
    [201326592.0, 265938432.0]
    """
    layer = model.attention_weights + model.context * model.attention_width + model.feed_forward_weights
    return 2.0 * model.layers * layer + 2.0 * model.width * np.asarray(vocab_size, dtype=np.float64)


def flops_per_byte(model: Model, vocab_size: ArrayLike, bytes_per_token: ArrayLike) -> Floats:
    """Return float64[s], the forward FLOPs of a byte of text at full context: FLOPs of a token / bytes per token.

    >>> gpt2 = Model(width=768, layers=12, context=1024, positions=1024, biases=True, tied=True)
    >>> (flops_per_byte(gpt2, [8192, 50257], [3.6, 4.4]) / 1e6).round(1).tolist()
    [55.9, 60.4]
    """
    return np.asarray(flops_per_token(model, vocab_size) / np.asarray(bytes_per_token))


def advise(lines: Mapping[str, MixedLine], models: Mapping[str, Model], reach: Mapping[str, int]) -> list[SizeAdvice]:
    """Return the advice for each model, on the line that costs least; the others follow it, by their cost.

    ``reach`` are the largest sizes that the training texts of lines support.
    """
    found = []
    for name, model in models.items():
        of_model = [_of_line(name, model, line, mixed, reach[line]) for line, mixed in lines.items()]
        found += sorted(of_model, key=lambda advice: advice.pick.cost)
    return found


def _of_line(name: str, model: Model, line: str, mixed: MixedLine, reach: int) -> SizeAdvice:
    sizes, costs = mixed.every, flops_per_byte(model, mixed.every, 1 / mixed.mixed)
    pick, best = _pick(mixed, costs), int(sizes[costs.argmin()])
    spread_out = np.geomspace(1, len(sizes), _POINTS).round().astype(np.int64) - 1
    drawn = np.unique([*spread_out, *np.searchsorted(sizes, [pick.low, best, pick.high])])
    supported = costs[: np.searchsorted(sizes, reach, side="right")]
    return SizeAdvice(
        model=name,
        line=line,
        pick=pick,
        inside=_pick(mixed, supported) if len(supported) else None,
        best=best,
        largest=int(sizes[-1]),
        sizes=sizes[drawn].tolist(),
        costs=costs[drawn].tolist(),
    )


def _pick(mixed: MixedLine, costs: Floats) -> SizePick:
    """Return the size to train of the first sizes of a line, those with costs."""
    sizes, near, at = mixed.every, np.flatnonzero(costs <= (1 + NEAR) * costs.min()), int(costs.argmin())
    low, high = int(sizes[near[0]]), int(sizes[near[-1]])
    place = int(np.searchsorted(sizes, picked(int(sizes[at]), low, high)))
    at = place if mixed.whole and place in near else at  # between two good sizes there may be a worse one
    tokens, cost = float(mixed.mixed[at]), float(costs[at])
    return SizePick(vocab_size=int(sizes[at]), tokens_per_byte=tokens, cost=cost, low=low, high=high)


def picked(best: int, low: int, high: int) -> int:
    """Round a size to the fewest digits with which it stays in its range, to the nearest or else down.

    >>> picked(31_744, 24_000, 48_000), picked(31_744, 31_000, 32_500), picked(31_744, 31_744, 31_744)
    (30000, 32000, 31744)
    >>> picked(12_756, 11_900, 12_756)
    12000
    """
    units = [10 ** max(len(str(best)) - digits, 0) for digits in (1, 2, 3)]
    rounded = [*(round(best / unit) * unit for unit in units), *(best // unit * unit for unit in units)]
    return next((size for size in rounded if low <= size <= high), best)


def rounded_range(pick: int, low: int, high: int) -> tuple[int, int]:
    """Return the ends of a range with two digits, inside of it and around the pick; as they are where none fits.

    >>> rounded_range(30_000, 23_870, 48_200), rounded_range(31_500, 31_200, 31_900)
    ((24000, 48000), (31200, 31900))
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


def confidence(size: int, weights: Mapping[str, float], trained: Mapping[str, float]) -> list[str]:
    """Say whether the training text supports a size, and in another sentence what is missing of which kind.

    >>> confidence(16_000, {"prose": 0.75, "code": 0.25}, {"prose": 750_000.0, "code": 100_000.0})
    ['Low beyond 4,000, which is what your text supports.', 'Add 450 kB of prose and 300 kB of code for up to 16,000.']
    """
    missing = enough_text(size, weights, trained)
    if not missing:
        return [f"Firm: there are {ENOUGH} bytes or more of training text for each token up to {size:,}."]
    reach = supported(weights, trained)
    known = (
        f" beyond {reach:,}, which is what your text supports"
        if reach > _SMALLEST
        else f": {support(weights, trained)}"
    )
    return [f"Low{known}.", f"Add {amounts(missing)} for up to {size:,}."]


def support(weights: Mapping[str, float], trained: Mapping[str, float]) -> str:
    """Say which sizes the training text supports.

    >>> support({"prose": 1.0}, {"prose": 400_000.0}), support({"prose": 0.5, "code": 0.5}, {"prose": 400_000.0})
    ('your text supports 4,000 tokens', '0 kB of training text for code is too little for any size')
    """
    reach = supported(weights, trained)
    if reach > _SMALLEST:
        return f"your text supports {reach:,} tokens"
    least = min(weights, key=lambda corpus: trained.get(corpus, 0.0) / weights[corpus])
    return f"{megabytes(trained.get(least, 0.0))} of training text for {least} is too little for any size"


def amounts(missing: Mapping[str, float]) -> str:
    """Return bytes by corpus in words.

    >>> amounts({"prose": 2_300_000.0, "code": 620_000.0})
    '2.3 MB of prose and 620 kB of code'
    """
    return join([f"{megabytes(size)} of {corpus}" for corpus, size in missing.items()])


def supported(weights: Mapping[str, float], trained: Mapping[str, float]) -> int:
    """Return the largest size that the training text supports: the corpus that is rarest for its weight limits it.

    >>> supported({"prose": 0.75, "code": 0.25}, {"prose": 750_000.0, "code": 100_000.0})
    4000
    """
    return int(min(trained.get(corpus, 0.0) / weight for corpus, weight in weights.items()) / ENOUGH)
