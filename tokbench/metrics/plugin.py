"""The text metrics that tokbench brings."""

from __future__ import annotations

from collections.abc import Callable

from tokbench.hookspecs import hookimpl
from tokbench.metrics import compression, continued_words, fertility, nsl, pairs, usage, vocabulary
from tokbench.metrics.contract import MetricSpec
from tokbench.metrics.fairness import family as fairness
from tokbench.metrics.fidelity import roundtrip

__all__ = ["register_metrics"]


@hookimpl
def register_metrics(register: Callable[[MetricSpec], None]) -> None:
    """Bring the families of this folder."""
    for module in (compression, fertility, continued_words, roundtrip, vocabulary, usage, fairness, nsl, pairs):
        register(module.SPEC)
