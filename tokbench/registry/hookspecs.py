"""The hooks of tokbench, all of them.

A plugin is a module, or any object, that an entry point of the group ``tokbench`` names. It marks its functions with
``tokbench.plugin.hookimpl``. tokbench calls each of them with a function ``register``, which the plugin calls once for
everything that it adds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from tokbench.corpus.contract import CorpusSpec
    from tokbench.measuring.executor import ExecutorSpec
    from tokbench.measuring.family import MetricFamily
    from tokbench.measuring.study import StudySpec
    from tokbench.report.section import SectionSpec
    from tokbench.results.reporter import ReporterSpec
    from tokbench.tokenizers.backend import BackendSpec

GROUP = "tokbench"

hookspec = pluggy.HookspecMarker(GROUP)
hookimpl = pluggy.HookimplMarker(GROUP)


@hookspec
def register_backends(register: Callable[[BackendSpec], None]) -> None:
    """Add tokenizer backends: ``register(BackendSpec(...))`` for each."""


@hookspec
def register_metrics(register: Callable[[MetricFamily], None]) -> None:
    """Add metric families: ``register(MetricFamily(...))`` for each."""


@hookspec
def register_studies(register: Callable[[StudySpec], None]) -> None:
    """Add studies: ``register(StudySpec(...))`` for each."""


@hookspec
def register_sections(register: Callable[[SectionSpec], None]) -> None:
    """Add sections of the report: ``register(SectionSpec(...))`` for each."""


@hookspec
def register_corpora(register: Callable[[CorpusSpec], None]) -> None:
    """Add corpus sources: ``register(CorpusSpec(...))`` for each."""


@hookspec
def register_reporters(register: Callable[[ReporterSpec], None]) -> None:
    """Add report formats: ``register(ReporterSpec(...))`` for each."""


@hookspec
def register_executors(register: Callable[[ExecutorSpec], None]) -> None:
    """Add executors, ways to do the jobs of a run: ``register(ExecutorSpec(...))`` for each."""
