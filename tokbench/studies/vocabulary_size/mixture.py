"""Mixes the lines of all corpora."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import and_

import numpy as np
from numpy.typing import NDArray

from tokbench.measuring.plan import Plan
from tokbench.studies.vocabulary_size.lines import Line
from tokbench.studies.vocabulary_size.rows import TextTotals


@dataclass(frozen=True)
class Mixture:
    """The text of a model, mixed of corpora."""

    weights: Mapping[str, float]
    """By corpus, the share of the bytes, above 0; they add up to 1."""

    texts: Mapping[str, TextTotals]

    @cached_property
    def n_bytes(self) -> Mapping[str, float]:
        return {corpus: float(self.texts[corpus].n_bytes.sum()) for corpus in self.weights}


def shares(plan: Plan, corpora: Iterable[str]) -> dict[str, float]:
    """Return the share of each corpus in the text of the model; the texts of a designed one have none."""
    drawn = [name for name in corpora if not plan.design(name).designed]
    weights = plan.config.weights or {name: float(len(plan.surveys[name].groups)) for name in drawn}
    total = sum(weights.get(name, 0.0) for name in drawn)
    return {name: weights[name] / total for name in drawn if weights.get(name)}


def training_bytes(plan: Plan, train_on: Sequence[str], weights: Mapping[str, float]) -> dict[str, float]:
    """Return the bytes of training text of each corpus of the mixture; designed texts do not count."""
    sizes = {}
    for name in (name for name in train_on if not plan.design(name).designed):
        survey, held = plan.surveys[name], bool(plan.corpora[name].holdout)
        sizes[name] = float(survey.bytes - held * survey.evaluated_bytes)
    if sizes.keys() & weights.keys():
        return sizes
    return {name: weight * sum(sizes.values()) for name, weight in weights.items()}  # another text, of which all counts


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
