"""The plugin that registers the executor ``dask``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokbench.plugin import ExecutorSpec

if TYPE_CHECKING:
    from tokbench.config.model import Limits
    from tokbench.engine.workers.pool import WorkerPool
    from tokbench.plugin import Progress


def _open(scheduler: str, workers: int, limits: Limits, progress: Progress) -> WorkerPool:
    from tokbench_cluster.pool import DaskPool  # every process imports this module, and few need the pool

    return DaskPool(scheduler, workers, limits, progress)


SPEC = ExecutorSpec(
    name="dask",
    summary="the workers of a dask cluster, joined or started on this machine",
    open=_open,
    joins=True,
)
