"""Mixes the lines of all corpora."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import and_

import numpy as np
from numpy.typing import NDArray

from tokbench.measuring.plan import Plan
from tokbench.results.cells import WHOLE
from tokbench.studies.vocabulary_size.lines import Line, TextTotals


@dataclass(frozen=True)
class Mixture:
    """The text of a model, mixed of corpora, with as many bytes of each group of a corpus as of the others."""

    weights: Mapping[str, float]
    """By corpus, the share of the bytes, above 0; they add up to 1."""

    texts: Mapping[tuple[str, str], TextTotals]
    """By corpus and group."""

    @cached_property
    def parts(self) -> Mapping[tuple[str, str], float]:
        """By corpus and group, what each of its bytes counts."""
        n_bytes = {place: float(text.n_bytes.sum()) for place, text in self.texts.items()}
        places = {
            corpus: [place for place in n_bytes if place[0] == corpus and place[1] != WHOLE and n_bytes[place]]
            or [(corpus, WHOLE)]
            for corpus in self.weights
        }
        return {
            place: self.weights[corpus] / len(of_corpus) / n_bytes[place]
            for corpus, of_corpus in places.items()
            for place in of_corpus
        }


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


def mix(lines: Mapping[tuple[str, str], Line], mixture: Mixture) -> MixedLine:
    """Return a line over all corpora and groups together."""
    parts = [(lines[place], each_byte) for place, each_byte in mixture.parts.items()]
    every = np.array(sorted(reduce(and_, (set(line.sizes.tolist()) for line, _ in parts))))
    mixed, whole = np.zeros(()), False
    for line, each_byte in parts:
        if line.curve is None:
            tokens = line.tokens[[line.at(size) for size in every.tolist()]].sum(axis=1)
        else:
            every, whole = line.curve.order.base + np.arange(len(line.curve.tokens)), True
            tokens = line.curve.tokens
        mixed = mixed + each_byte * tokens
    return MixedLine(every, mixed, whole)
