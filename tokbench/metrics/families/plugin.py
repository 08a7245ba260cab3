"""Registers the built-in text metrics, corpus metrics and probes."""

from __future__ import annotations

from collections.abc import Callable

from tokbench.metrics.families import (
    compression,
    continued_words,
    curve,
    fertility,
    morphology,
    nsl,
    numbers,
    pairs,
    probes,
    same_ids,
    strr,
    usage,
    utf8,
    vocabulary,
)
from tokbench.metrics.families.code import code
from tokbench.metrics.families.fairness import fairness
from tokbench.metrics.families.roundtrip import roundtrip
from tokbench.plugin import MetricFamily, hookimpl


@hookimpl
def register_metrics(register: Callable[[MetricFamily], None]) -> None:
    """Register the families of this folder."""
    words = (fertility, continued_words, strr, utf8, morphology)
    comparisons = (fairness, nsl, pairs)
    for module in (
        compression,
        *words,
        roundtrip,
        vocabulary,
        usage,
        *comparisons,
        code,
        numbers,
        probes,
        curve,
        same_ids,
    ):
        register(module.SPEC)
