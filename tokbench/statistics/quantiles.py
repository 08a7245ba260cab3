"""Intervals of a median or another quantile, from order statistics."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from tokbench.statistics.jackknife import Interval

_TAIL: Final = 0.025
_FAR: Final = 12
"""Standard deviations beyond which a binomial has no probability that counts."""


def median_interval(values: ArrayLike) -> Interval:
    """Return the narrowest symmetric interval of order statistics that covers the median with at least 95%.

    >>> median_interval(range(1, 11))[:2], median_interval(range(1, 21))[:2]
    ((2.0, 9.0), (6.0, 15.0))
    >>> median_interval([1, 2, 3, 4, 5]).reason
    'too few documents for an interval: 5, or all have the same value'
    """
    return quantile_interval(values, 0.5)


def quantile_interval(values: ArrayLike, share: float) -> Interval:
    """Return an interval of order statistics that covers a quantile with at least 95%; none with too few or equal ones.

    The k-th smallest of n is above the quantile q with probability P(B(n, q) < k), whatever the distribution (Conover
    1999, "Practical Nonparametric Statistics", 3.2). Each side is missed with at most 2.5%.

    >>> quantile_interval(range(1, 1001), 0.95)[:2]
    (936.0, 964.0)
    >>> quantile_interval(range(1, 101), 0.99).low is None
    True
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ordered)
    reach = _FAR * math.sqrt(n * share * (1 - share))
    first, last = max(0, math.floor(n * share - reach)), min(n, math.ceil(n * share + reach))
    below = np.cumsum([0.0, *(_binomial(n, k, share) for k in range(first, last))])  # P(B < k) from the first k on
    low, high = first + int((below <= _TAIL).sum()) - 1, first + int((below < 1 - _TAIL).sum())
    if low < 1 or high > n or ordered[low - 1] == ordered[high - 1]:
        return Interval(None, None, f"too few documents for an interval: {n}, or all have the same value")
    return Interval(float(ordered[low - 1]), float(ordered[high - 1]))


def _binomial(n: int, k: int, share: float) -> float:
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(ways + k * math.log(share) + (n - k) * math.log1p(-share))
