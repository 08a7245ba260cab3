"""The contract of an executor: a way to do the jobs of a run, which a plugin brings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # every process registers executors, and few open one
    from tokbench.config.model import Limits
    from tokbench.foundation.progress import Progress


@dataclass(frozen=True, kw_only=True)
class ExecutorSpec:
    """The description of an executor, which a plugin registers."""

    name: str
    """The word after ``--executor``."""
    summary: str
    open: Callable[[str, int, Limits, Progress], Any]
    """``open(scheduler, workers, limits, progress)`` returns a :data:`tokbench.plugin.WorkerPool`.

    ``scheduler`` is the address of a cluster to join, or empty; ``progress`` is called with every step of a job. It
    raises :class:`~tokbench.foundation.errors.InputError` if there can be no pool.
    """
    joins: bool = False
    """``True`` if ``--scheduler`` may give the address of a cluster, whose workers then do the work."""
    requires: tuple[str, ...] = ()
    """The distributions that must be installed."""
    install: str = ""
    """The command that installs them; empty for ``pip install`` and their names."""
