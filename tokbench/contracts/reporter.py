"""What a plugin registers for one report format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tokbench.results.model import Results

__all__ = ["ReporterSpec"]


@dataclass(frozen=True, kw_only=True)
class ReporterSpec:
    """One format.

    Attributes:
        name: the word under ``report: formats:`` in a configuration.
        summary: one line for ``tokbench list``.
        filename: what the file is called in the run's folder.
        render: ``render(results) -> text of the file``, a pure function; it measures nothing.
    """

    name: str
    summary: str
    filename: str
    render: Callable[[Results], str]
