"""The executors: the ways in which a run's jobs can be done, and the pool of each."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, get_args

from tokbench.config.model import Limits
from tokbench.engine.workers.pool import InProcessPool, WorkerPool
from tokbench.engine.workers.processes import ProcessPool
from tokbench.foundation.errors import InputError, Problem, did_you_mean
from tokbench.foundation.progress import Progress

ExecutorName = Literal["inprocess", "workers", "dask"]

EXECUTORS: Final[tuple[str, ...]] = get_args(ExecutorName)


class Executor(NamedTuple):
    """A way to do the jobs of a run; no number depends on it.

    Attributes:
        workers: the number of processes that measure side by side; 0 for none but this one.
        name: ``inprocess``, ``workers`` or ``dask``; empty for ``workers``, or ``inprocess`` if there are 0.
        scheduler: with ``dask`` the address of a scheduler, such as ``tcp://10.0.0.5:8786``; empty to start a cluster
            on this machine.

    >>> Executor(2).kind, Executor(0).kind, Executor(name="dask").kind
    ('workers', 'inprocess', 'dask')
    """

    workers: int = 1
    name: str = ""
    scheduler: str = ""

    @property
    def kind(self) -> str:
        """Its name, if it was not given, from the number of workers."""
        return self.name or ("workers" if self.workers else "inprocess")

    def problems(self) -> list[str]:
        """Return what is wrong with it, and what to type instead.

        >>> Executor(0, "dask").problems()
        ['--executor dask needs a worker; write --workers 1 or more']
        """
        found = []
        if self.name and self.name not in EXECUTORS:
            return [f"unknown executor {self.name!r}; {did_you_mean(self.name, EXECUTORS)}"]
        if self.workers < 0:
            found.append(f"{self.workers} is too few; give 0 or more")
        if self.scheduler and self.name != "dask":
            found.append(f"a scheduler is for dask; write --executor dask --scheduler {self.scheduler}")
        elif self.scheduler and self.workers != 1:
            found.append(f"the workers are those of {self.scheduler}; leave out --workers {self.workers}")
        elif self.name == "inprocess" and self.workers > 1:
            found.append(f"--executor inprocess has no workers; leave out --workers {self.workers}")
        elif self.name in {"workers", "dask"} and not self.workers:
            found.append(f"--executor {self.name} needs a worker; write --workers 1 or more")
        return found

    def pool(self, limits: Limits, progress: Progress) -> WorkerPool:
        """Return a pool that does jobs in this way.

        Args:
            limits: limits of the jobs in time, and of each process in memory.
            progress: called with every step that a job reports.

        Raises:
            InputError: what was given does not go together, or dask is not installed, or does not answer.
        """
        if wrong := self.problems():
            raise InputError([Problem("executor" if self.name else "workers", each) for each in wrong])
        if self.kind == "dask":
            from tokbench.engine.workers.dask import DaskPool

            return DaskPool(self.scheduler, self.workers, limits, progress)
        return ProcessPool(self.workers, limits, progress) if self.kind == "workers" else InProcessPool(progress)
