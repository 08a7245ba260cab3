"""The plugin that registers the executor ``dask``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tokbench.plugin import ExecutorSpec, hookimpl

if TYPE_CHECKING:
    from tokbench.plugin import Limits, Progress, WorkerPool


@hookimpl
def register_executors(register: Callable[[ExecutorSpec], None]) -> None:
    """Register one."""
    register(
        ExecutorSpec(
            name="dask",
            summary="the workers of a dask cluster, joined or started on this machine",
            open=_open,
            joins=True,
        )
    )


def _open(scheduler: str, workers: int, limits: Limits, progress: Progress) -> WorkerPool:
    from tokbench_cluster.pool import DaskPool  # every process imports this module, and few need the pool

    return DaskPool(scheduler, workers, limits, progress)
