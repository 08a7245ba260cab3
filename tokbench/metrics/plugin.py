"""The text metrics that tokbench brings."""

from __future__ import annotations

from collections.abc import Callable

from tokbench.hookspecs import hookimpl
from tokbench.metrics import compression, continued_words, fertility, numbers, usage, vocabulary
from tokbench.metrics.code import family as code
from tokbench.metrics.contract import MetricSpec
from tokbench.metrics.fidelity import roundtrip
from tokbench.metrics.probes import family as probes

__all__ = ["register_metrics"]


@hookimpl
def register_metrics(register: Callable[[MetricSpec], None]) -> None:
    """Bring the families of this folder."""
    for module in (compression, fertility, continued_words, roundtrip, vocabulary, usage, code, numbers, probes):
        register(module.SPEC)
