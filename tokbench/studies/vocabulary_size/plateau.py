"""Finds the sizes with nearly the least cost of a byte of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from tokbench.studies.vocabulary_size.block import SizeRange
from tokbench.studies.vocabulary_size.compute import flops_per_byte
from tokbench.studies.vocabulary_size.mixture import MixedLine
from tokbench.studies.vocabulary_size.options import Model

NEAR: Final = 0.02
"""Equally good sizes cost at most this share more than the best."""

ENOUGH: Final = 100
"""Bytes of training text for an id: the ends of a range then differ by a twentieth from much more text."""

_POINTS: Final = 80


def plateau(name: str, line: MixedLine, model: Model, most: int, trained_bytes: float | None) -> SizeRange:
    """Return the sizes of a line, up to ``most``, that cost at most 2 % more than the best."""
    known = line.every <= most
    sizes, per_byte = line.every[known], line.mixed[known]
    costs = flops_per_byte(model, sizes, 1 / per_byte)
    best = int(costs.argmin())
    near = np.flatnonzero(costs <= (1 + NEAR) * costs[best])
    first, last = int(near[0]), int(near[-1])
    spread_out = np.geomspace(1, len(sizes), _POINTS).round().astype(np.int64) - 1
    drawn = np.unique([*spread_out, first, best, last])
    return SizeRange(
        line=name,
        smallest=int(sizes[first]),
        largest=int(sizes[last]),
        best=int(sizes[best]),
        flops_per_byte=float(costs[best]),
        open_below=first == 0,
        open_above=last == len(line.every) - 1,
        capped=last == len(sizes) - 1 < len(line.every) - 1,
        training_bytes=trained_bytes,
        sizes=sizes[drawn].tolist(),
        costs=costs[drawn].tolist(),
    )


def least_costs(line: MixedLine, model: Model, most: int) -> Mapping[str, float]:
    """Return the least cost of a line on each corpus."""
    known = line.every <= most
    return {
        corpus: float(flops_per_byte(model, line.every[known], 1 / tokens[known]).min())
        for corpus, tokens in line.per_byte.items()
    }
