"""Finds the sizes with nearly the least cost of a byte of text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.studies.vocabulary_size.block import SizeBeside, SizeRange
from tokbench.studies.vocabulary_size.compute import Floats, flops_per_byte, training_tokens
from tokbench.studies.vocabulary_size.mixture import MixedLine, Mixture
from tokbench.studies.vocabulary_size.options import Model

NEAR: Final = 0.02
"""Equally good sizes cost at most this share more than the best."""

ENOUGH: Final = 100
"""Bytes of training text for an id: the ends of a range then differ by a twentieth from much more text."""

_POINTS: Final = 80


def plateau(
    name: str, line: MixedLine, mixture: Mixture, model: Model, most: int, trained_bytes: float | None
) -> SizeRange:
    """Return the sizes of a line, up to ``most``, that cost at most 2 % more than the best."""
    known = line.every <= most
    sizes, per_byte = line.every[known], line.mixed[known]
    costs = flops_per_byte(model, sizes, 1 / per_byte)
    best = int(costs.argmin())
    near = np.flatnonzero(costs <= (1 + NEAR) * costs[best])
    first, last = int(near[0]), int(near[-1])
    below, above = _outside(sizes, first, last)
    spread_out = np.geomspace(1, len(sizes), _POINTS).round().astype(np.int64) - 1
    drawn = np.unique([*spread_out, first, best, last])
    near_least = SizeRange(
        line=name,
        smallest=int(sizes[first]),
        largest=int(sizes[last]),
        best=int(sizes[best]),
        flops_per_byte=float(costs[best]),
        open_below=first == 0,
        open_above=last == len(line.every) - 1,
        capped=last == len(sizes) - 1 < len(line.every) - 1,
        below=None if below is None else _beside(sizes, per_byte, costs, first, below),
        above=None if above is None else _beside(sizes, per_byte, costs, last, above),
        training_bytes=trained_bytes,
        sizes=sizes[drawn].tolist(),
        costs=costs[drawn].tolist(),
    )
    if near_least.above:
        times = _times(line, mixture, model, near_least.largest, near_least.above.vocab_size)
        near_least = replace(near_least, above=replace(near_least.above, times=times))
    return near_least


def _outside(sizes: NDArray[np.int64], first: int, last: int) -> tuple[int | None, int | None]:
    half = int(np.searchsorted(sizes, sizes[first] / 2))
    double = min(int(np.searchsorted(sizes, 2 * sizes[last])), len(sizes) - 1)
    return (half if half < first else None), (double if double > last else None)


def _beside(sizes: NDArray[np.int64], per_byte: Floats, costs: Floats, end: int, at: int) -> SizeBeside:
    tokens, cost = per_byte[at] / per_byte[end] - 1, costs[at] / costs[end] - 1
    return SizeBeside(vocab_size=int(sizes[at]), tokens=float(tokens), cost=float(cost))


def _times(line: MixedLine, mixture: Mixture, model: Model, largest: int, above: int) -> float | None:
    curves = {corpus: on_corpus.curve for corpus, on_corpus in line.lines.items()}
    at = int(np.searchsorted(line.every, above))
    length = training_tokens(model, 1 / float(line.mixed[at]))
    counts: dict[str, NDArray[np.int64]] = {}
    for corpus, curve in curves.items():
        if curve is None or length is None:
            return None
        base = curve.order.base
        counts[corpus] = curve.counts_at(above - base)[curve.order.made[largest - base : above - base]]
    return float(mixture.of_ids(counts).mean() / line.mixed[at] * (length or 0.0))


def least_costs(line: MixedLine, model: Model, most: int) -> Mapping[str, float]:
    """Return the least cost of a line on each corpus."""
    known = line.every <= most
    return {
        corpus: float(flops_per_byte(model, line.every[known], 1 / tokens[known]).min())
        for corpus, tokens in line.per_byte.items()
    }
