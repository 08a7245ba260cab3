"""The bench metric that tokbench brings."""

from __future__ import annotations

from collections.abc import Callable

from tokbench.hookspecs import hookimpl
from tokbench.metrics.contract import MetricSpec
from tokbench.speed.measure import VALUES, Speed, SpeedOptions

__all__ = ["register_metrics"]


@hookimpl
def register_metrics(register: Callable[[MetricSpec], None]) -> None:
    """Bring ``speed``."""
    register(
        MetricSpec(
            name="speed",
            summary="MB/s of encoding and decoding: one thread, unseen text, interleaved rounds",
            values=VALUES,
            bench=Speed,
            options=SpeedOptions,
        )
    )
