"""Registers the report formats of this folder: every module with ``SPEC`` or ``SPECS``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tokbench import formats
from tokbench.plugin import BrokenPart, ReporterSpec, hookimpl, parts_of

_PARTS: Final = parts_of(formats)


@hookimpl
def register_reporters(register: Callable[[ReporterSpec], None]) -> None:
    """Register the pages, the tables, and the files for other programs."""
    for spec in _PARTS.specs():
        register(spec)


@hookimpl
def register_broken(register: Callable[[BrokenPart], None]) -> None:
    """Register the modules that cannot be imported."""
    for part in _PARTS.broken:
        register(part)
