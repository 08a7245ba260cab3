"""The family ``vocabulary``: the share of the vocabulary in use, and its evenness."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from tokbench.measuring.encoded_shard import EncodedShard
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import Measured, Metric, NotApplicable
from tokbench.measuring.sums import SummedMetric
from tokbench.measuring.token_counts import (
    DEPENDS_ON_AMOUNT,
    AnyCountTable,
    CountTable,
    add_tables,
    join_tables,
    renyi_entropy,
)
from tokbench.tokenizers.batch import vocab_size_of
from tokbench.tokenizers.options import Options

_STEPS: Final = 100
_CLOSE: Final = 1e-12


class VocabularyOptions(Options):
    """Options of ``vocabulary``."""

    alpha: float = Field(default=2.5, ge=0, description="order of the Rényi entropy; 1 is Shannon's")
    percentiles: tuple[float, float] = Field(
        default=(0.03, 0.83), description="the ranks of percentile_frequency, as shares of the distinct ids"
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        low, high = self.percentiles
        if not 0 <= low < high <= 1:
            raise ValueError(f"percentiles must rise from 0 to 1, such as [0.03, 0.83], and not [{low}, {high}]")
        return self


class Frequencies(NamedTuple):
    """Occurrences by id."""

    vocab_size: int
    documents: int
    tables: tuple[AnyCountTable, ...]

    def __add__(self, other: Frequencies) -> Frequencies:  # type: ignore[override]
        documents = self.documents + other.documents
        return Frequencies(self.vocab_size, documents, add_tables(self.tables, other.tables))

    def joined(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the ids that occur, rising, and their counts.

        >>> Frequencies(300, 1, (CountTable.of(np.array([97, 104]), np.array([2, 1])),)).joined()
        (array([ 97, 104]), array([2, 1]))
        """
        ids, counts = join_tables(self.tables)
        return ids.astype(np.int64), counts.astype(np.int64)


def zipf_fit(counts: NDArray[np.int64]) -> tuple[float, float]:
    """Return Zipf's exponent, and the distance of the fit.

    The exponent s of p(r) = r^-s / Σ k^-s over the ranks r = 1 … n, by maximum likelihood; the distance of Kolmogorov
    and Smirnov, the largest difference of the distribution functions: 0 is a perfect fit. ``counts`` are two or more,
    falling. Counts 12, 6, 4, 3 are 12 / r:

    >>> [round(number, 4) + 0.0 for number in zipf_fit(np.array([12, 6, 4, 3]))]
    [1.0, 0.0]
    >>> [round(number, 4) + 0.0 for number in zipf_fit(np.array([5, 5]))]
    [0.0, 0.0]
    """
    logs = np.log(np.arange(1, len(counts) + 1))
    p = counts / counts.sum()
    aim, exponent = float((p * logs).sum()), 1.0  # a sum: '@' depends on the number of processors
    for _ in range(_STEPS):  # Newton's method on a function that rises everywhere
        fitted = np.exp(-exponent * logs)
        fitted /= fitted.sum()
        mean = float((fitted * logs).sum())
        step = (mean - aim) / float((fitted * (logs - mean) ** 2).sum())
        exponent += step
        if abs(step) < _CLOSE:
            break
    fitted = np.exp(-exponent * logs)
    return exponent, float(np.abs(np.cumsum(p) - np.cumsum(fitted / fitted.sum())).max())


class VocabularyMetric(SummedMetric):
    """The text metric."""

    _options: VocabularyOptions

    def map(self, encoded: EncodedShard) -> Frequencies:
        table = CountTable.of(*encoded.id_counts)
        return Frequencies(vocab_size_of(encoded.tokenizer), len(encoded.shard), (table,))

    def finish(self, state: Frequencies) -> Mapping[str, Measured | NotApplicable]:
        ids, counts = state.joined()
        types = len(ids)
        values: dict[str, Measured | NotApplicable] = {
            "vocab_utilization": Measured(types / state.vocab_size, state.documents),
            "distinct_tokens": Measured(types, state.documents),
        }
        for name, alpha in (("renyi_efficiency", self._options.alpha), ("shannon_efficiency", 1.0)):
            if types < 2:  # noqa: PLR2004 - log2(1) = 0: nothing to divide by
                values[name] = NotApplicable(f"the text has {types} distinct tokens; evenness needs two")
            else:
                efficiency = renyi_entropy(counts, alpha) / np.log2(types)
                values[name] = Measured(float(efficiency), state.documents)
        shape = self._shape(np.sort(counts)[::-1], state.documents) if types else {}
        known = {name: Measured(value, state.documents) for name, value in shape.items()}
        nothing = NotApplicable(f"the text has {types} distinct tokens; a fit needs two")
        return values | dict.fromkeys(_SHAPE, nothing) | known

    def _shape(self, counts: NDArray[np.int64], documents: int) -> dict[str, float]:
        types, tokens = len(counts), int(counts.sum())
        low, high = (int(types * share) for share in self._options.percentiles)
        values = {
            "type_token_ratio": types / tokens,
            "token_entropy": renyi_entropy(counts, 1.0),
            "bits_per_text": tokens * float(np.log2(types)) / documents,
            "percentile_frequency": float(counts[low:high].sum() / tokens),
            "mean_token_rank": float(counts @ np.arange(1, types + 1) / tokens),
        }
        if types > 1:
            values["zipf_exponent"], values["zipf_distance"] = zipf_fit(counts)
        return values


_of_use = partial(Metric, no_interval=DEPENDS_ON_AMOUNT)
_of_shape = partial(_of_use, direction="none")

_SHAPE_VALUES: Final = (
    _of_shape("type_token_ratio", "share of tokens", label="type-token ratio").means(
        "distinct ids / tokens",
        "Different tokens of a token of text. It falls with the amount of text; mattr of the family context does not.",
    ),
    _of_shape("token_entropy", "bits/token", label="token entropy").means(
        "-Σ p log2 p, p the shares of the ids", "Shannon entropy of the tokens of the text, each on its own."
    ),
    _of_shape("bits_per_text", "bits/document", label="bits per text").means(
        "tokens × log2(distinct ids) / documents",
        "Bits of a document whose tokens are all written with as many bits. With the sign changed and summed over all "
        "documents it is the score bits of tokenization-scorer.",
    ),
    _of_shape("percentile_frequency", "share of tokens", label="percentile frequency").means(
        "Σ p of the ids from rank ⌊0.03 n⌋ to ⌊0.83 n⌋, the most frequent first, n = distinct ids; shares can be set",
        "Share of the tokens that are neither of the most frequent nor of the rarest ids (Zouhar et al. 2023).",
    ),
    _of_shape("mean_token_rank", "rank", label="mean token rank").means(
        "Σ over tokens of the rank of their id / tokens; the most frequent id has rank 1",
        "Mean rank of a token. It grows with the vocabulary that the text uses.",
    ),
    _of_shape("zipf_exponent", "exponent", label="Zipf exponent").means(
        "the s of p(r) ∝ r^-s over the ranks of the distinct ids, by maximum likelihood",
        "Steepness of the frequencies by rank: 0 if all ids are equally frequent, about 1 for words.",
    ),
    _of_shape("zipf_distance", "share of tokens", label="distance from Zipf").means(
        "max over ranks of the difference of the distribution functions of the text and of the fit",
        "Distance of Kolmogorov and Smirnov between the frequencies and Zipf's law with that exponent; 0 is a "
        "perfect fit.",
    ),
)
_SHAPE: Final = tuple(value.id for value in _SHAPE_VALUES)

SPEC: Final = MetricFamily(
    name="vocabulary",
    summary="share of the vocabulary in use, Rényi and Shannon efficiency, entropy, Zipf's law, type-token ratio",
    version=2,
    text=VocabularyMetric,
    options=VocabularyOptions,
    values=(
        _of_use("vocab_utilization", "share of ids", "higher", label="vocabulary used").means(
            "distinct ids in the text / vocab_size",
            "Share of the vocabulary that occurs in the text; it grows with the amount of text.",
        ),
        _of_use("distinct_tokens", "ids", "none").means(
            "distinct ids in the text", "How many different ids occur in the text."
        ),
        _of_use("renyi_efficiency", "share of the maximum", "higher").means(
            "H_α / log2(distinct ids), H_α = log2(Σ p^α) / (1 - α), α = 2.5 unless set",
            "Evenness of the use of the tokens that occur; a few very frequent tokens lower it. Zouhar et al. 2023 "
            "found that it correlates with the quality of translation models.",
        ),
        _of_use("shannon_efficiency", "share of the maximum", "higher").means(
            "-Σ p log2 p / log2(distinct ids)", "As renyi_efficiency, but with Shannon's entropy."
        ),
        *_SHAPE_VALUES,
    ),
)
