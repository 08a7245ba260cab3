"""The plugin that registers the executor ``futures``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokbench.plugin import ExecutorSpec

if TYPE_CHECKING:
    from tokbench.config.model import Limits
    from tokbench.engine.workers.pool import WorkerPool
    from tokbench.plugin import Progress


def _open(scheduler: str, workers: int, limits: Limits, progress: Progress) -> WorkerPool:
    from tokbench_executors.made import maker  # every process imports this module, and few need the pool
    from tokbench_executors.pool import FuturesPool

    return FuturesPool(maker(scheduler, workers), limits, progress)


SPEC = ExecutorSpec(
    name="futures",
    summary="any concurrent.futures.Executor: of Python, loky, Dask, Ray, parsl, or your own",
    open=_open,
    joins=True,
)
