"""Registers the built-in timed and isolated metrics."""

from __future__ import annotations

from collections.abc import Callable

from tokbench.measuring.family import MetricFamily
from tokbench.metrics.speed.measure import RATIO, VALUES, Speed, SpeedOptions
from tokbench.registry.hookspecs import hookimpl
from tokbench.report.section import SectionSpec
from tokbench_engines.speed import appending, counting, footprint, growth, latency, threads


@hookimpl
def register_metrics(register: Callable[[MetricFamily], None]) -> None:
    """Register the families of this folder."""
    register(
        MetricFamily(
            name="speed",
            summary="MB/s of encoding and decoding: one thread, unseen text, interleaved rounds",
            values=(*VALUES, RATIO),
            timed=Speed,
            options=SpeedOptions,
        )
    )
    for module in (counting, appending, latency, threads, growth, footprint):
        register(module.SPEC)


@hookimpl
def register_sections(register: Callable[[SectionSpec], None]) -> None:
    """Register the sections on speed, and on compression against speed."""
    from tokbench.metrics.speed.section import SPEED
    from tokbench.metrics.speed.tradeoff import TRADEOFF

    register(SPEED)
    register(TRADEOFF)
