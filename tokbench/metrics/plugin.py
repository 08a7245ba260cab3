"""Registers each module and package of this folder that has a ``SPEC``."""

from __future__ import annotations

from collections.abc import Callable

from tokbench import metrics
from tokbench.measuring.family import MetricFamily
from tokbench.registry.hookspecs import hookimpl
from tokbench.registry.parts import BrokenPart, parts_of
from tokbench.report.section import SectionSpec
from tokbench.results.reporter import ReporterSpec


@hookimpl
def register_metrics(register: Callable[[MetricFamily], None]) -> None:
    """Register the families of this folder."""
    for spec in parts_of(metrics).specs():
        register(spec)


@hookimpl
def register_sections(register: Callable[[SectionSpec], None]) -> None:
    """Register their sections."""
    for module in parts_of(metrics).modules:
        if load_section := getattr(module, "load_section", None):
            register(load_section())


@hookimpl
def register_reporters(register: Callable[[ReporterSpec], None]) -> None:
    """Register their tables."""
    for module in parts_of(metrics).modules:
        if load_formats := getattr(module, "load_formats", None):
            for spec in load_formats():
                register(spec)


@hookimpl
def register_broken(register: Callable[[BrokenPart], None]) -> None:
    """Register modules that cannot be imported."""
    for part in parts_of(metrics).broken:
        register(part)
