"""Times a call, and computes statistics of timings."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from typing import NamedTuple


@contextmanager
def quiet() -> Iterator[None]:
    """Stop garbage collection while the block lasts, as :mod:`timeit` does.

    Existing objects are frozen, so that a collection by hand between two timings takes almost no time.
    """
    enabled = gc.isenabled()
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if enabled:
            gc.enable()


def seconds(call: Callable[[], object], loops: int) -> float:
    """Return the seconds of one call, as the mean of ``loops`` calls in a row."""
    start = time.perf_counter_ns()
    for _ in range(loops):
        call()
    return (time.perf_counter_ns() - start) / loops / 1e9


def calibrate(call: Callable[[], object], min_time: float) -> int:
    """Call once to warm up; then return the number of calls in a row that take at least ``min_time`` seconds."""
    call()
    loops = 1
    while True:
        took = seconds(call, loops) * loops
        if took >= min_time:
            return loops
        # A fifth more than seems necessary, so that the next attempt is likely to be the last.
        loops = max(loops + 1, math.ceil(loops * 1.2 * min_time / max(took, 1e-9)))


class MedianSpread(NamedTuple):
    """A median with its interval and spread.

    Attributes:
        median: the median.
        low, high: the interval of the median, at least 95 %; ``None`` with fewer than six values.
        relative: 1.4826 x the median absolute deviation / the median: a standard deviation that a few
            outliers cannot move.
    """

    median: float
    low: float | None
    high: float | None
    relative: float


def median_spread(values: Sequence[float]) -> MedianSpread:
    """Return median, interval and relative spread of some values.

    >>> median_spread([10, 11, 9, 10, 12, 10, 30])
    MedianSpread(median=10, low=9, high=30, relative=0.14826)
    """
    middle = median(values)
    deviation = median(abs(value - middle) for value in values)
    low, high = median_interval(values)
    return MedianSpread(middle, low, high, 1.4826 * deviation / middle)


def median_interval(values: Sequence[float]) -> tuple[float, float] | tuple[None, None]:
    """Return the narrowest interval of order statistics that covers the median with 95 % at least.

    The median lies below the k-th smallest of n values with probability P(B(n, 1/2) < k), whatever the
    distribution (Conover, Practical Nonparametric Statistics, 3.2).

    >>> median_interval([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    (2, 9)
    >>> median_interval([1, 2, 3, 4, 5])
    (None, None)
    """
    n, k, tail = len(values), 0, 0.0
    while True:
        tail += math.comb(n, k) / 2**n
        if 2 * tail > 0.05:  # noqa: PLR2004 - 95 %
            break
        k += 1
    if k == 0:
        return None, None
    ordered = sorted(values)
    return ordered[k - 1], ordered[n - k]


def noise_floor(one: Sequence[float], again: Sequence[float]) -> float:
    """Return the difference between two measurements of the same thing: abs(median of the paired ratios - 1).

    >>> round(noise_floor([1.0, 1.0, 1.0], [1.02, 1.03, 0.9]), 3)
    0.02
    """
    return abs(median(b / a for a, b in zip(one, again, strict=True)) - 1)
