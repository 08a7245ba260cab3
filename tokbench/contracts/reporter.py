"""The contract of a report format: what a plugin registers for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokbench.results.model import Results


@dataclass(frozen=True, kw_only=True)
class ReporterSpec:
    """The description of a report format, which a plugin registers.

    Attributes:
        name: the word under ``report: formats:`` in a configuration.
        summary: one line for ``tokbench list``.
        filename: the name of the file in the folder of the run.
        render: ``render(results)`` returns the text of the file. It is a pure function and measures nothing.
    """

    name: str
    summary: str
    filename: str
    render: Callable[[Results], str]
