"""Registers the text and corpus metrics of this folder: each module and package that has a ``SPEC``."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pkgutil import iter_modules

from tokbench import metrics
from tokbench.plugin import MetricFamily, SectionSpec, hookimpl


@hookimpl
def register_metrics(register: Callable[[MetricFamily], None]) -> None:
    """Register the families of this folder."""
    for name in sorted(module.name for module in iter_modules(metrics.__path__)):
        spec = getattr(importlib.import_module(f"tokbench.metrics.{name}"), "SPEC", None)
        if spec:
            register(spec)


@hookimpl
def register_sections(register: Callable[[SectionSpec], None]) -> None:
    """Register the section on fairness."""
    from tokbench.metrics.fairness.section import FAIRNESS

    register(FAIRNESS)
