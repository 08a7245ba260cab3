"""The ways in which a run's jobs can be done, and the pool of each."""

from __future__ import annotations

import os
from typing import Final, NamedTuple

from tokbench.config.model import Limits
from tokbench.engine.workers.pool import InProcessPool, WorkerPool
from tokbench.foundation.errors import InputError, Problem
from tokbench.foundation.progress import Progress
from tokbench.measuring.executor import ExecutorSpec
from tokbench.registry.plugins import OWN_EXECUTORS, load_registry, missing

_MOST_WORKERS: Final = 8
"""More than this are started only if they are asked for, because each holds all tokenizers in memory."""


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def default_workers() -> int:
    """Return the number of workers of a run that names none."""
    return min(usable_cores(), _MOST_WORKERS)


class Executor(NamedTuple):
    """A way to do the jobs of a run; no number depends on it.

    >>> Executor(2).kind, Executor(0).kind, Executor(name="futures").kind, Executor().workers
    ('workers', 'inprocess', 'futures', 1)
    """

    workers: int = 1
    """The processes that measure side by side; 0 for none but this one."""
    name: str = ""
    """``inprocess``, ``workers`` or an executor of a plugin, such as ``futures``; empty to choose by ``workers``."""
    scheduler: str = ""
    """What the executor joins, such as ``loky:ProcessPoolExecutor(4)``; empty to start workers on this machine."""

    @property
    def kind(self) -> str:
        return self.name or ("workers" if self.workers else "inprocess")

    def problems(self) -> list[str]:
        """Return what is wrong with it, and what to type instead."""
        try:
            spec = self._spec()
        except InputError as error:
            return [problem.message for problem in error.problems]
        wrong = []
        if self.workers < 0:
            wrong.append(f"{self.workers} is too few; give 0 or more")
        if self.scheduler and not (spec and spec.joins):
            wrong.append(_joins_nothing(self.scheduler))
        elif self.scheduler and self.workers != 1:
            wrong.append(f"{self.scheduler} has its own workers; leave out --workers {self.workers}")
        elif self.name == "inprocess" and self.workers > 1:
            wrong.append(f"--executor inprocess has no workers; leave out --workers {self.workers}")
        elif self.kind != "inprocess" and not self.workers:
            wrong.append(f"--executor {self.name} needs a worker; write --workers 1 or more")
        return wrong

    def check(self) -> None:
        """Raise InputError with all that does not go together."""
        if wrong := self.problems():
            raise InputError([Problem("executor" if self.name else "workers", message) for message in wrong])

    def pool(self, limits: Limits, progress: Progress) -> WorkerPool:
        """Return a pool that does jobs in this way, or raise InputError."""
        self.check()
        spec = self._spec()
        if spec is None:
            if self.kind == "inprocess":
                return InProcessPool(progress)
            from tokbench.engine.workers.processes import ProcessPool

            return ProcessPool(self.workers, limits, progress)
        if absent := missing(spec):
            raise InputError(f"the executor {spec.name!r} {absent}")
        pool: WorkerPool = spec.open(self.scheduler, self.workers, limits, progress)
        return pool

    def _spec(self) -> ExecutorSpec | None:
        """Return the executor of a plugin; ``None`` for one of tokbench itself."""
        return None if self.kind in OWN_EXECUTORS else load_registry().executors.get(self.kind)


def _joins_nothing(scheduler: str) -> str:
    names = [spec.name for spec in load_registry().executors if spec.joins]
    if not names:
        return f"no executor that is installed can join a cluster; leave out --scheduler {scheduler}"
    return f"a scheduler is for {' or '.join(names)}; write --executor {names[0]} --scheduler {scheduler}"
