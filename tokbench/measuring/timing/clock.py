"""Times a call, and computes means of timings."""

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


class Mean(NamedTuple):
    """A mean with its interval."""

    value: float
    low: float | None
    """95%; ``None`` with too few values."""
    high: float | None


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
