"""The hooks of tokbench, all of them.

A plugin is a module (or any object) named by an entry point of the group ``tokbench``. It marks its
functions with ``tokbench.plugin.hookimpl``; each is handed a ``register`` function and calls it once for
every thing it brings.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from tokbench.contracts.backend import BackendSpec
    from tokbench.contracts.corpus import CorpusSpec
    from tokbench.contracts.metric import MetricFamily
    from tokbench.contracts.reporter import ReporterSpec

__all__ = ["GROUP", "hookimpl", "hookspec"]

GROUP = "tokbench"

hookspec = pluggy.HookspecMarker(GROUP)
hookimpl = pluggy.HookimplMarker(GROUP)


@hookspec
def register_backends(register: Callable[[BackendSpec], None]) -> None:
    """Bring tokenizer backends: ``register(BackendSpec(...))`` for each."""


@hookspec
def register_metrics(register: Callable[[MetricFamily], None]) -> None:
    """Bring metric families: ``register(MetricFamily(...))`` for each."""


@hookspec
def register_corpora(register: Callable[[CorpusSpec], None]) -> None:
    """Bring corpus sources: ``register(CorpusSpec(...))`` for each."""


@hookspec
def register_reporters(register: Callable[[ReporterSpec], None]) -> None:
    """Bring report formats: ``register(ReporterSpec(...))`` for each."""
