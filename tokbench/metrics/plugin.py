"""Registers the built-in text metrics, corpus metrics, probes and metrics of models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tokbench.metrics import (
    agreement,
    bits_per_byte,
    composition,
    compression,
    context,
    continued_words,
    curve,
    fertility,
    morphology,
    nsl,
    numbers,
    overlap,
    pairs,
    probes,
    prompts,
    robustness,
    same_ids,
    special_tokens,
    strr,
    token_lengths,
    transformer,
    usage,
    utf8,
    vocabulary,
    worst_documents,
)
from tokbench.metrics.code import code
from tokbench.metrics.fairness import fairness
from tokbench.metrics.roundtrip import roundtrip
from tokbench.plugin import MetricFamily, hookimpl

_WORDS: Final = (fertility, continued_words, strr, utf8, morphology)
_COMPARISONS: Final = (fairness, nsl, pairs, overlap, agreement)
_SUBJECTS: Final = (code, numbers, probes, prompts, robustness, special_tokens)
_FAMILIES: Final = (
    *(compression, *_WORDS, roundtrip, worst_documents, vocabulary, usage, composition, token_lengths, context),
    *(*_COMPARISONS, *_SUBJECTS, bits_per_byte, transformer, curve, same_ids),
)


@hookimpl
def register_metrics(register: Callable[[MetricFamily], None]) -> None:
    """Register the families of this folder."""
    for module in _FAMILIES:
        register(module.SPEC)
