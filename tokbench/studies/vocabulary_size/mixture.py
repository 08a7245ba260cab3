"""Mixes the lines of all corpora."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import and_
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.statistics.jackknife import Spread, spread, too_few
from tokbench.studies.vocabulary_size.block import SizeChoice
from tokbench.studies.vocabulary_size.compute import flops_per_byte, training_tokens
from tokbench.studies.vocabulary_size.lines import Line
from tokbench.studies.vocabulary_size.options import Model
from tokbench.studies.vocabulary_size.rows import TextTotals

FEW: Final = 100
"""Gowda and May 2020, "Finding the Optimal Vocabulary Size for Neural Machine Translation" (Findings of EMNLP): use the
largest vocabulary of which at least 95 % of ids have 100 examples or more in training."""

_SHOWN: Final = 10
"""An id with fewer occurrences has an unknown rate."""


@dataclass(frozen=True)
class Mixture:
    """The text of a model, mixed of corpora."""

    weights: Mapping[str, float]
    """By corpus, the share of the bytes, above 0; they add up to 1."""

    texts: Mapping[str, TextTotals]

    @classmethod
    def of(cls, texts: Mapping[str, TextTotals], given: Mapping[str, float]) -> Mixture:
        known = {name: text for name, text in texts.items() if text.n_bytes.sum()}
        raw = {name: given.get(name, 0.0) if given else 1.0 for name in known}
        total = sum(raw.values())
        weights = {name: weight / total for name, weight in raw.items() if weight > 0}
        return cls(weights, {name: texts[name] for name in weights})

    @cached_property
    def n_bytes(self) -> Mapping[str, float]:
        return {corpus: float(text.n_bytes.sum()) for corpus, text in self.texts.items()}

    def of_ids(self, counts: Mapping[str, NDArray[np.int64]]) -> NDArray[np.float64]:
        shares = (self.weights[corpus] / self.n_bytes[corpus] * of_corpus for corpus, of_corpus in counts.items())
        return np.asarray(sum(shares), dtype=np.float64)

    def too_rare(self, per_byte: NDArray[np.float64], size: int, training_tokens: float) -> float | None:
        """Return the share of the ids of a size that occur fewer than 100 times in training.

        It is unknown if ids count that occur fewer than 10 times in the text. The text is as large as one in which each
        id would vary as much as here (Kish 1965, "Survey Sampling", on the effective size of a sample).
        """
        n_bytes = 1 / sum(weight**2 / self.n_bytes[corpus] for corpus, weight in self.weights.items())
        counts = np.rint(per_byte * n_bytes)
        limit = FEW * counts.sum() / training_tokens
        if limit < _SHOWN:
            return 0.0 if np.count_nonzero(counts >= _SHOWN) == size else None
        return 1 - np.count_nonzero(counts >= limit) / size

    def tokens_per_byte(self, tokens: Mapping[str, NDArray[np.float64]]) -> float:
        """Return the tokens of a byte of the mixed text, from tokens by corpus and jackknife group."""
        return sum(
            weight * float(tokens[name].sum()) / float(self.texts[name].n_bytes.sum())
            for name, weight in self.weights.items()
        )

    def more(
        self, one: Mapping[str, NDArray[np.float64]], two: Mapping[str, NDArray[np.float64]]
    ) -> tuple[float, float, float] | str:
        """Return the tokens of the second beyond the first's as a share, with its 95 % interval, or why there is none.

        Corpora are strata: each has its own jackknife, and the variances are added (Cochran 1977, "Sampling
        Techniques", section 5.3).
        """
        first, second = self.tokens_per_byte(one), self.tokens_per_byte(two)
        variance, freedom = 0.0, 10**6
        for name, weight in self.weights.items():
            text = self.texts[name]
            kept = text.n_bytes > 0
            rest = text.n_bytes.sum() - text.n_bytes[kept]
            if not (rest > 0).all():
                return f"{name} has one group of documents"
            a, b = (
                total + weight * ((by_group.sum() - by_group[kept]) / rest - by_group.sum() / text.n_bytes.sum())
                for total, by_group in ((first, one[name]), (second, two[name]))
            )
            estimate = spread(b / a)
            if estimate is None:
                return f"{name} has {too_few(int(kept.sum()))}"
            variance += estimate.error**2
            freedom = min(freedom, estimate.freedom)
        quotient = second / first
        low, high = Spread(variance**0.5, freedom).around(quotient)
        return quotient - 1, low - 1, high - 1


@dataclass(frozen=True)
class MixedLine:
    """A line over all corpora together.

    Attributes:
        tokens: by size and corpus float64[BUCKETS], by jackknife group.
        every: int64[s], every known size, rising.
        per_byte, mixed: float64[s], the tokens of a byte at each, by corpus and mixed.
    """

    choices: Sequence[SizeChoice]
    tokens: Mapping[int, Mapping[str, NDArray[np.float64]]]
    every: NDArray[np.int64]
    per_byte: Mapping[str, NDArray[np.float64]]
    mixed: NDArray[np.float64]


def mix(name: str, lines: Mapping[str, Line], mixture: Mixture, model: Model | None) -> MixedLine:
    """Return a line over all corpora together."""
    lines = {corpus: lines[corpus] for corpus in mixture.weights}
    sizes = sorted(reduce(and_, (set(line.sizes.tolist()) for line in lines.values())))
    tokens = {size: {corpus: line.tokens[line.at(size)] for corpus, line in lines.items()} for size in sizes}
    every, per_byte = np.array(sizes), {}
    for corpus, line in lines.items():
        n_bytes = mixture.texts[corpus].n_bytes.sum()
        if line.curve is None:
            per_byte[corpus] = line.tokens[[line.at(size) for size in sizes]].sum(axis=1) / n_bytes
        else:
            every = line.curve.order.base + np.arange(len(line.curve.tokens))
            per_byte[corpus] = line.curve.tokens / n_bytes
    mixed = np.sum([mixture.weights[corpus] * tokens for corpus, tokens in per_byte.items()], axis=0)
    choices = [_choice(name, size, lines, mixture, model) for size in sizes]
    return MixedLine(choices, tokens, every, per_byte, mixed)


def _choice(name: str, size: int, lines: Mapping[str, Line], mixture: Mixture, model: Model | None) -> SizeChoice:
    tokens = {corpus: line.tokens[line.at(size)] for corpus, line in lines.items()}
    ratio = 1 / mixture.tokens_per_byte(tokens)
    counts = mixture.of_ids({corpus: line.counts(line.at(size)) for corpus, line in lines.items()})
    choice = SizeChoice(
        line=name,
        vocab_size=size,
        compression_ratio=ratio,
    )
    if model is None:
        return choice
    cost, length = float(flops_per_byte(model, size, ratio)), training_tokens(model, ratio)
    return replace(
        choice,
        flops_per_byte=cost,
        share=model.vocabulary_share(size),
        too_rare=None if length is None else mixture.too_rare(counts[counts > 0], size, length),
    )
