"""Times a call, and computes statistics of timings."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import fmean, stdev
from typing import Final, NamedTuple

from tokbench.statistics.jackknife import student_t


@contextmanager
def quiet() -> Iterator[None]:
    """Pause garbage collection, as :mod:`timeit` does, and freeze objects."""
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
    """Return the mean of ``loops`` calls in a row."""
    start = time.perf_counter_ns()
    for _ in range(loops):
        call()
    return (time.perf_counter_ns() - start) / loops / 1e9


def calibrate(call: Callable[[], object], min_time: float) -> int:
    """Warm up; return the calls in a row that take at least ``min_time`` seconds."""
    call()
    loops = 1
    while True:
        took = seconds(call, loops) * loops
        if took >= min_time:
            return loops
        # A fifth more than seems necessary, so that the next attempt is likely to be the last.
        loops = max(loops + 1, math.ceil(loops * 1.2 * min_time / max(took, 1e-9)))


LEAST_PROCESSES: Final = 5
"""A mean of fewer has no interval."""

_TAIL: Final = 0.025


class Mean(NamedTuple):
    """A mean with its interval."""

    value: float
    low: float | None
    """95%; ``None`` with too few values."""
    high: float | None


def median_interval(values: Sequence[float]) -> tuple[float, float] | tuple[None, None]:
    """Return the narrowest symmetric interval of order statistics that covers the median with at least 95%.

    >>> median_interval([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    (2, 9)
    >>> median_interval([1, 2, 3, 4, 5])
    (None, None)
    """
    return quantile_interval(values, 0.5)


def quantile_interval(values: Sequence[float], share: float) -> tuple[float, float] | tuple[None, None]:
    """Return an interval of order statistics that covers a quantile with at least 95%; ``None`` with too few values.

    The k-th smallest of n is above the quantile q with probability P(B(n, q) < k), whatever the distribution (Conover,
    Practical Nonparametric Statistics, 3.2). Each side is missed with at most 2.5%.

    >>> quantile_interval(range(1, 1001), 0.95)
    (936, 964)
    >>> quantile_interval(range(1, 101), 0.99)
    (None, None)
    """
    n, low, below = len(values), 0, 0.0
    high = None
    for k in range(n + 1):  # below = P(B < k)
        if below <= _TAIL:
            low = k
        if high is None and below >= 1 - _TAIL:
            high = k
        below += _binomial(n, k, share)
    if not low or high is None:
        return None, None
    ordered = sorted(values)
    return ordered[low - 1], ordered[high - 1]


def _binomial(n: int, k: int, share: float) -> float:
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(ways + k * math.log(share) + (n - k) * math.log1p(-share))


def mean_of_processes(values: Sequence[float]) -> Mean:
    """Return the geometric mean, from five processes on with Student's t interval (95%) of logarithms.

    Student, The probable error of a mean, Biometrika 6 (1908).

    >>> [round(end, 2) for end in mean_of_processes([100.0, 102.0, 98.0, 101.0, 99.0])]
    [99.99, 98.05, 101.97]
    """
    logs = [math.log(value) for value in values]
    middle = fmean(logs)
    if len(logs) < LEAST_PROCESSES:
        return Mean(math.exp(middle), None, None)
    half = student_t(len(logs) - 1) * stdev(logs) / math.sqrt(len(logs))
    return Mean(math.exp(middle), math.exp(middle - half), math.exp(middle + half))
