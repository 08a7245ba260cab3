"""The text metrics that tokbench brings."""

from __future__ import annotations

from collections.abc import Callable

from tokbench.hookspecs import hookimpl
from tokbench.metrics import (
    compression,
    continued_words,
    curve,
    fertility,
    morphology,
    nsl,
    pairs,
    strr,
    usage,
    utf8,
    vocabulary,
)
from tokbench.metrics.code import family as code
from tokbench.metrics.contract import MetricSpec
from tokbench.metrics.fairness import family as fairness
from tokbench.metrics.fidelity import roundtrip
from tokbench.metrics.numbers import family as numbers
from tokbench.metrics.probes import family as probes

__all__ = ["register_metrics"]


@hookimpl
def register_metrics(register: Callable[[MetricSpec], None]) -> None:
    """Bring the families of this folder."""
    words = (fertility, continued_words, strr, utf8, morphology)
    across = (fairness, nsl, pairs)
    for module in (compression, *words, roundtrip, vocabulary, usage, *across, code, numbers, probes, curve):
        register(module.SPEC)
