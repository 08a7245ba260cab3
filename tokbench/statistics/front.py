"""The Pareto front: the points that no other beats in everything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Direction = Literal["lower", "higher"]


def pareto_front(points: ArrayLike, directions: Sequence[Direction]) -> NDArray[np.bool_]:
    """Return bool[n], ``True`` for points of float[n, k] that no other point dominates.

    One dominates another if it is at least as good in everything and better in something.

    >>> pareto_front([[1.0, 3.0], [2.0, 4.0], [2.0, 3.5]], ["lower", "higher"]).tolist()
    [True, True, False]
    """
    table = np.asarray(points, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != len(directions):  # noqa: PLR2004
        raise ValueError(f"{len(directions)} directions need points of as many numbers, not {table.shape}")
    if not np.isfinite(table).all():
        raise ValueError("a point of the front must have finite numbers")
    costs = table * np.where([direction == "lower" for direction in directions], 1.0, -1.0)
    unique, which = np.unique(costs, axis=0, return_inverse=True)
    best = np.zeros(len(unique), dtype=bool)
    front = np.empty_like(unique)
    size = 0
    for index, row in enumerate(unique):  # sorted: only an earlier one can dominate, and then one of the front does
        if not (front[:size] <= row).all(axis=1).any():
            best[index] = True
            front[size] = row
            size += 1
    return best[which.ravel()]
