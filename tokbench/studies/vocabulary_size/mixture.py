"""Mixes the lines of all corpora."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import and_

import numpy as np
from numpy.typing import NDArray

from tokbench.studies.vocabulary_size.lines import Line
from tokbench.studies.vocabulary_size.rows import TextTotals


@dataclass(frozen=True)
class Mixture:
    """The text of a model, mixed of corpora."""

    weights: Mapping[str, float]
    """By corpus, the share of the bytes, above 0; they add up to 1."""

    texts: Mapping[str, TextTotals]

    @classmethod
    def of(cls, texts: Mapping[str, TextTotals], given: Mapping[str, float]) -> Mixture:
        known = {name: text for name, text in texts.items() if text.n_bytes.sum()}
        raw = {name: given.get(name, 0.0) for name in known}
        total = sum(raw.values())
        weights = {name: weight / total for name, weight in raw.items() if weight > 0}
        return cls(weights, {name: texts[name] for name in weights})

    @cached_property
    def n_bytes(self) -> Mapping[str, float]:
        return {corpus: float(text.n_bytes.sum()) for corpus, text in self.texts.items()}


@dataclass(frozen=True)
class MixedLine:
    """A line over all corpora together.

    Attributes:
        every: int64[s], every known size, rising.
        mixed: float64[s], the tokens of a byte of the mixed text at each.
        whole: every size from the first to the last is known.
    """

    every: NDArray[np.int64]
    mixed: NDArray[np.float64]
    whole: bool


def mix(lines: Mapping[str, Line], mixture: Mixture) -> MixedLine:
    """Return a line over all corpora together."""
    lines = {corpus: lines[corpus] for corpus in mixture.weights}
    every = np.array(sorted(reduce(and_, (set(line.sizes.tolist()) for line in lines.values()))))
    per_byte, whole = {}, False
    for corpus, line in lines.items():
        if line.curve is None:
            tokens = line.tokens[[line.at(size) for size in every.tolist()]].sum(axis=1)
        else:
            every, whole = line.curve.order.base + np.arange(len(line.curve.tokens)), True
            tokens = line.curve.tokens
        per_byte[corpus] = tokens / mixture.n_bytes[corpus]
    mixed = np.sum([mixture.weights[corpus] * tokens for corpus, tokens in per_byte.items()], axis=0)
    return MixedLine(every, mixed, whole)
