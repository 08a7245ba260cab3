"""Registers the built-in timed metric."""

from __future__ import annotations

from collections.abc import Callable

from tokbench.metrics.families.speed.measure import RATIO, VALUES, Speed, SpeedOptions
from tokbench.plugin import MetricFamily, hookimpl


@hookimpl
def register_metrics(register: Callable[[MetricFamily], None]) -> None:
    """Register ``speed``."""
    register(
        MetricFamily(
            name="speed",
            summary="MB/s of encoding and decoding: one thread, unseen text, interleaved rounds",
            values=(*VALUES, RATIO),
            timed=Speed,
            options=SpeedOptions,
        )
    )
