"""Runs inside a dask worker, which sends each job to a worker process of tokbench."""

from __future__ import annotations

import hashlib
import os
import pickle
import runpy
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from tokbench.config.model import Limits
from tokbench.engine.workers.pool import WorkerDied
from tokbench.engine.workers.processes import ProcessPool
from tokbench.engine.workers.worker import Recipe, end_with_parent
from tokbench.foundation.progress import RunProgress
from tokbench.plugin import Failure, Progress, silent
from tokbench.plugin.metrics import Job
from tokbench_cluster.surroundings import DescribeSurroundings, Surroundings

LEASE: Final = 15
"""Seconds without a sign of life of a run after which all that it left is ended."""

_TICK: Final = 1.0


class RunKey(NamedTuple):
    """What the parts of a run on a cluster share."""

    run: str
    limits: Limits
    environment: Mapping[str, str]


class Order(NamedTuple):
    """A job for a dask worker; texts may have been sent before."""

    key: RunKey
    identity: str
    job: Job
    recipes: Mapping[str, str]
    """By tokenizer, the sha256 of its pickled recipe."""
    sent: Mapping[str, bytes]
    """By sha256, the recipes that the worker may lack."""
    feeds: Mapping[str, int]
    """By feed, the number of batches of text that were sent before."""
    strangers: frozenset[str] = frozenset()


class Lacking(NamedTuple):
    """The answer of a worker that lacks recipes, by sha256, and has not begun the job."""

    digests: tuple[str, ...]


@dataclass(frozen=True)
class Lapsed:
    """The answer of a worker that heard nothing of a run for too long: it ended the job, or lost its texts."""


class _RunEnded(Exception):  # noqa: N818 - the usual end of an abandoned job
    """The run has ended, or seems to have."""


@dataclass
class _Run:
    key: RunKey
    recipes: dict[str, bytes] = field(default_factory=dict)
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="tokbench-")))
    idle: list[ProcessPool] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)
    left: int = LEASE

    def watch(self) -> None:
        """Time in which this process was stopped does not count."""
        while not self.ended.wait(_TICK):
            self.left -= 1
            if self.left <= 0:
                end_run(self.key.run)

    def check(self) -> None:
        if self.ended.is_set():
            raise _RunEnded

    @contextmanager
    def pool(self, progress: Progress) -> Iterator[ProcessPool]:
        with _LOCK:
            waiting = self.idle.pop() if self.idle else None
        pool = waiting or ProcessPool(1, self.key.limits, silent, environment=self.key.environment)
        pool.progress = RunProgress.of(progress)
        try:
            yield pool
        except BaseException:
            pool.end()
            raise
        with _LOCK:
            kept = not self.ended.is_set()
            if kept:
                self.idle.append(pool)
        if not kept:
            pool.end()

    def has_texts(self, order: Order) -> bool:
        batches = [(name, batch) for name, number in order.feeds.items() for batch in range(number)]
        return all(_batch_path(self.folder, order.identity, name, batch).exists() for name, batch in batches)

    def feeds(self, order: Order) -> dict[str, Iterator[str]]:
        return {name: self._texts(order.identity, name, number) for name, number in order.feeds.items()}

    def _texts(self, identity: str, feed: str, number: int) -> Iterator[str]:
        for batch in range(number):
            yield from pickle.loads(_batch_path(self.folder, identity, feed, batch).read_bytes())  # noqa: S301 - sent by the run

    def end(self) -> None:
        with _LOCK:
            self.ended.set()
            idle, self.idle = self.idle, []
        for pool in idle:
            pool.end()
        shutil.rmtree(self.folder, ignore_errors=True)


_RUNS: Final[dict[str, _Run]] = {}
_LOCK: Final = threading.Lock()


def _run_of(key: RunKey) -> _Run:
    with _LOCK:
        run = _RUNS.get(key.run)
        if run is None:
            run = _RUNS[key.run] = _Run(key)
            threading.Thread(target=run.watch, daemon=True).start()
        run.left = LEASE
        return run


def renew(run: str) -> None:
    """Extend the lease of a run, if this dask worker knows it."""
    known = _RUNS.get(run)
    if known:
        known.left = LEASE


def _batch_path(folder: Path, identity: str, feed: str, number: int) -> Path:
    return folder / identity / f"{hashlib.sha256(feed.encode()).hexdigest()[:16]}-{number}"


def keep_texts(key: RunKey, identity: str, feed: str, number: int, texts: bytes) -> None:
    """Keep a pickled list of texts on disk, until the job that needs it has run; batches may come in any order."""
    path = _batch_path(_run_of(key).folder, identity, feed, number)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(texts)


def run_order(data: bytes) -> bytes:
    """Do a pickled :class:`Order`; return a pickled list of answers, :class:`Lacking` or :class:`Lapsed`."""
    order: Order = pickle.loads(data)  # noqa: S301 - sent by the run
    run = _run_of(order.key)
    run.recipes.update(order.sent)
    lacking = tuple(digest for digest in dict.fromkeys(order.recipes.values()) if digest not in run.recipes)
    if lacking:
        return pickle.dumps(Lacking(lacking))
    if not run.has_texts(order):
        return pickle.dumps(Lapsed())
    try:
        with run.pool(_shown(order.key.run)) as pool:
            pool.strangers = order.strangers
            for name, digest in order.recipes.items():
                if name not in pool.kept:
                    pool.keep(name, _recipe(run.recipes[digest]))
            waiting = iter([order.job])
            answers = [
                answer for _, answer in pool.work(lambda: next(waiting, None), run.check, lambda _: run.feeds(order))
            ]
    except _RunEnded:
        return pickle.dumps(Lapsed())
    finally:
        shutil.rmtree(run.folder / order.identity, ignore_errors=True)
    return pickle.dumps(answers, pickle.HIGHEST_PROTOCOL)


def _recipe(data: bytes) -> Recipe:
    recipe: Recipe = pickle.loads(data)  # noqa: S301 - sent by the run
    return recipe


def topic_of(run: str) -> str:
    """Return the topic of a run's progress."""
    return f"tokbench-{run}"


def _shown(run: str) -> Progress:
    def show(step: str, done: float, total: float | None) -> None:
        from distributed.worker import get_worker

        with suppress(ValueError):  # not in a task
            get_worker().log_event(topic_of(run), (step, float(done), None if total is None else float(total)))

    return show


def end_run(run: str) -> None:
    """End all of a run here; its running jobs end within a second or so."""
    with _LOCK:
        known = _RUNS.pop(run, None)
    if known:
        known.end()


def describe(key: RunKey) -> Surroundings | Failure:
    """Return what a process of the run here says of its surroundings."""
    with _run_of(key).pool(silent) as pool:
        answer: Surroundings | WorkerDied = pool.ask(DescribeSurroundings())
    return answer.failure if isinstance(answer, WorkerDied) else answer


def main(module: str, parent: str, *arguments: str) -> None:
    """Run a dask command in this process, which ends with the process id ``parent``."""
    end_with_parent(int(parent))
    sys.argv[:] = [module, *arguments]
    runpy.run_module(module, run_name="__main__")


def settings_for_workers(names: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of this environment that remote workers need, too."""
    return {
        name: os.environ[name] for name in (*names, "TOKBENCH_NO_THIRD_PARTY", "TOKBENCH_PLUGINS") if name in os.environ
    }
