"""Registers each source of this folder that has a ``SPEC``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tokbench import sources
from tokbench.plugin import BrokenPart, CorpusSpec, hookimpl, parts_of

_PARTS: Final = parts_of(sources)


@hookimpl
def register_corpora(register: Callable[[CorpusSpec], None]) -> None:
    """Register the sources."""
    for spec in _PARTS.specs():
        register(spec)


@hookimpl
def register_broken(register: Callable[[BrokenPart], None]) -> None:
    """Register the modules that cannot be imported."""
    for part in _PARTS.broken:
        register(part)
