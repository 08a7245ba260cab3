"""Timing one call, and finding how often to repeat it."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["calibrate", "quiet", "seconds"]


@contextmanager
def quiet() -> Iterator[None]:
    """No garbage collection while the block lasts, as in :mod:`timeit`.

    What is there already is put aside for good (frozen), so that a collection by hand between two
    values costs next to nothing.
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
    """Seconds that one of ``loops`` calls in a row takes."""
    start = time.perf_counter_ns()
    for _ in range(loops):
        call()
    return (time.perf_counter_ns() - start) / loops / 1e9


def calibrate(call: Callable[[], object], min_time: float) -> int:
    """Warm up with one call, then find how many calls in a row last ``min_time`` seconds at least."""
    call()
    loops = 1
    while True:
        took = seconds(call, loops) * loops
        if took >= min_time:
            return loops
        # A fifth more than it seems to need: the next look should be the last.
        loops = max(loops + 1, math.ceil(loops * 1.2 * min_time / max(took, 1e-9)))
