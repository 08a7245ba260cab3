"""A process of its own on a given number of cores, in which contenders take turns."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

__all__ = ["on_cores", "run_command", "take_turns"]


def _confine(cores: int) -> None:
    """Before any library starts its threads: it will see this many cores, and no more."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    os.environ["RAYON_NUM_THREADS"] = str(cores)
    os.environ["TOKENIZERS_PARALLELISM"] = "true"


@contextmanager
def on_cores(cores: int) -> Iterator[Callable[..., Any]]:
    """``call(function, *arguments)`` in a new process that has ``cores`` cores; the process remembers its modules."""
    with ProcessPoolExecutor(1, get_context("spawn"), _confine, (cores,)) as executor:
        yield lambda function, *arguments: executor.submit(function, *arguments).result()


def take_turns(benchmark: Any, run: Callable[[str, int], float], ours: str, others: list[str], rounds: int) -> None:
    """Time ``run(name, round)`` for us and, before each of our rounds, for all others in shuffled order.

    ``benchmark.extra_info`` gets the median seconds of each, and the median over rounds of theirs / ours.
    """
    times: dict[str, list[float]] = {name: [] for name in [ours, *others]}
    random = Random(0)

    def theirs() -> None:
        for name in random.sample(others, len(others)):
            times[name].append(run(name, len(times[name])))

    benchmark.pedantic(lambda: times[ours].append(run(ours, len(times[ours]))), setup=theirs, rounds=rounds)
    paired = partial(zip, times[ours], strict=True)
    benchmark.extra_info["seconds"] = {name: round(median(taken), 4) for name, taken in times.items()}
    benchmark.extra_info["theirs / ours"] = {
        name: round(median(their / our for our, their in paired(times[name])), 2) for name in others
    }


def run_command(config: Path, *options: str) -> list[str]:
    """Return the command that runs a configuration; its results are beside it, in a folder that ends in ``.out``."""
    return [sys.executable, "-m", "tokbench", "run", str(config), "-o", str(config.with_suffix(".out")), *options]
