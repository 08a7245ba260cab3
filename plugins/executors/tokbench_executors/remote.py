"""Runs where an executor puts a call: does a job in a worker process of tokbench there."""

from __future__ import annotations

import os
import pickle
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, NamedTuple

from tokbench.config.model import Limits
from tokbench.engine.workers.one_thread import ONE_THREAD
from tokbench.engine.workers.pool import Strangers, WorkerDied
from tokbench.engine.workers.processes import ProcessPool
from tokbench.engine.workers.worker import LoadRecipe
from tokbench.plugin import silent
from tokbench.plugin.metrics import Job
from tokbench_executors.surroundings import DescribeSurroundings, Surroundings

_SPREAD: Final = 0.05
"""Seconds that a call for every worker takes at least, so that no worker takes all of them."""

_PASSED_ON: Final = (*ONE_THREAD, "TOKBENCH_NO_THIRD_PARTY", "TOKBENCH_PLUGINS")


class RemoteRun(NamedTuple):
    """A run: its random name, the limits of its jobs, and the variables that its processes get."""

    name: str
    limits: Limits
    environment: Mapping[str, str]

    @classmethod
    def of(cls, limits: Limits) -> RemoteRun:
        return cls(os.urandom(8).hex(), limits, {name: os.environ[name] for name in _PASSED_ON if name in os.environ})


class Order(NamedTuple):
    """A job, with all that a process needs for it."""

    run: RemoteRun
    here: Surroundings
    """Of the machine that started the run."""
    job: Job
    recipes: Mapping[str, LoadRecipe]
    """Of its tokenizers, by name."""
    feeds: Mapping[str, list[str]]
    strangers: Strangers


class _Idle:
    """The pools of runs that do nothing: one for each call that ran at the same time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pools: dict[str, list[ProcessPool]] = {}

    @contextmanager
    def pool(self, run: RemoteRun) -> Iterator[ProcessPool]:
        """Use a pool of a run; the pools of other runs end."""
        with self._lock:
            others = [pool for name in self._pools if name != run.name for pool in self._pools[name]]
            mine = self._pools.get(run.name, [])
            pool = mine.pop() if mine else ProcessPool(1, run.limits, silent, environment=run.environment)
            self._pools = {run.name: mine}
        for other in others:
            other.end()
        try:
            yield pool
        except BaseException:
            pool.end()
            raise
        with self._lock:
            self._pools.setdefault(run.name, []).append(pool)

    def end(self, run: str) -> None:
        with self._lock:
            pools = self._pools.pop(run, [])
        for pool in pools:
            pool.end()


_IDLE: Final = _Idle()


def do(data: bytes) -> bytes:
    """Do a pickled :class:`Order`; return a pickled list of answers."""
    order: Order = pickle.loads(data)  # noqa: S301 - of the run
    with _IDLE.pool(order.run) as pool:
        if not pool.kept and (other := _described(pool).differences(order.here)):
            raise RuntimeError(f"{other[0]}; install the same on every machine")
        pool.strangers = order.strangers
        for name, recipe in order.recipes.items():
            if name not in pool.kept:
                pool.keep(name, recipe)
        jobs = iter([order.job])
        answers = [answer for _, answer in pool.work(lambda: next(jobs, None), feeds=lambda _: order.feeds)]
    return pickle.dumps(answers, pickle.HIGHEST_PROTOCOL)


def describe(run: RemoteRun, _number: int) -> Surroundings:
    """Return what a process of the run has there; calls with other numbers are meant for other workers."""
    with _IDLE.pool(run) as pool:
        time.sleep(_SPREAD)
        return _described(pool)


def _described(pool: ProcessPool) -> Surroundings:
    answer: Surroundings | WorkerDied = pool.ask(DescribeSurroundings())
    if isinstance(answer, WorkerDied):
        raise RuntimeError(answer.failure.reason)  # noqa: TRY004 - it is an answer
    return answer


def end_run(run: str, _number: int) -> None:
    """End the processes of a run here."""
    _IDLE.end(run)
    time.sleep(_SPREAD)
