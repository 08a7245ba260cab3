"""Measures of inequality: the Gini coefficient and the Lorenz curve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def gini_coefficient(costs: Sequence[float]) -> float:
    """Return the Gini coefficient, half the relative mean difference: Σᵢ Σⱼ |cᵢ - cⱼ| / (2 n² mean(c)).

    It is computed from the sorted costs as Σᵢ (2i - n - 1) cᵢ / (n Σ c), i = 1..n (Sen 1973, "On Economic Inequality"),
    without the factor n / (n - 1).

    >>> gini_coefficient([1, 1, 1, 1]), gini_coefficient([1, 3]), round(gini_coefficient([1, 2, 3, 4]), 3)
    (0.0, 0.25, 0.25)
    """
    ordered = np.sort(np.asarray(costs, dtype=np.float64))
    n = len(ordered)
    return float(((2 * np.arange(1, n + 1) - n - 1) * ordered).sum() / (n * ordered.sum()))


def lorenz(costs: Sequence[float]) -> list[tuple[float, float]]:
    """Return the Lorenz curve from (0, 0) to (1, 1): the cheapest share of languages, and their share of the cost.

    >>> lorenz([3, 1])
    [(0.0, 0.0), (0.5, 0.25), (1.0, 1.0)]
    """
    ordered = np.sort(np.asarray(costs, dtype=np.float64))
    shares = np.concatenate([[0.0], np.cumsum(ordered) / ordered.sum()])
    return [(k / len(ordered), float(share)) for k, share in enumerate(shares)]
