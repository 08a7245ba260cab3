"""The family ``vocabulary``: the share of the vocabulary in use, and the evenness of its use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tokbench.plugin import (
    EncodedShard,
    Measured,
    Metric,
    MetricFamily,
    NotApplicable,
    Options,
    SummedMetric,
    add_counts,
    renyi_entropy,
)

_FEW: Final = 1000
"""Counting by id is faster than sorting up to about this many ids for each token."""


DEPENDS_ON_AMOUNT: Final = "no interval: the value depends on the amount of text, which leaving out documents changes"
"""The reason why shares and evenness of a vocabulary have no interval (see the README of the metrics)."""


class VocabularyOptions(Options):
    """Options of ``vocabulary``."""

    alpha: float = Field(default=2.5, ge=0, description="order of the Rényi entropy; 1 is Shannon's")


class Frequencies(NamedTuple):
    """The number of occurrences of each id, for the ids that occur.

    Attributes:
        vocab_size: the size of the vocabulary.
        documents: the number of documents counted.
        ids: int64[k], rising.
        counts: int64[k], positive.
    """

    vocab_size: int
    documents: int
    ids: NDArray[np.int64]
    counts: NDArray[np.int64]

    def __add__(self, other: Frequencies) -> Frequencies:  # type: ignore[override]
        ids, counts = add_counts(self.ids, self.counts, other.ids, other.counts)
        return Frequencies(self.vocab_size, self.documents + other.documents, ids, counts)

    def raw(self) -> dict[str, object]:
        """Return the counts as JSON data."""
        return self._asdict() | {"ids": self.ids.tolist(), "counts": self.counts.tolist()}

    @classmethod
    def restore(cls, raw: Mapping[str, Any], before: int = 0) -> Frequencies:
        """Return the counts of which :meth:`raw` gave the data."""
        del before  # counts do not number documents
        ids, counts = (np.array(raw[name], dtype=np.int64) for name in ("ids", "counts"))
        return cls(raw["vocab_size"], raw["documents"], ids, counts)


class VocabularyMetric(SummedMetric):
    """Frequencies of ids."""

    state = Frequencies
    _options: VocabularyOptions

    def map(self, encoded: EncodedShard) -> Frequencies:
        """Return the frequencies of one shard."""
        ids = encoded.ids
        if int(ids.max(initial=0)) < _FEW * (len(ids) + _FEW):
            counts = np.bincount(ids)
            found = np.flatnonzero(counts)
            counts = counts[found]
        else:  # ids up to 2**32, as a vocabulary of all byte strings may have: sort instead
            found, counts = np.unique(ids, return_counts=True)
        return Frequencies(encoded.tokenizer.vocab_size, len(encoded.shard), found.astype(np.int64), counts)

    def finish(self, state: Frequencies) -> Mapping[str, Measured | NotApplicable]:
        """Return use and efficiency. The entropies are divided by the entropy of equal use of the ids that occur."""
        types = len(state.ids)
        values: dict[str, Measured | NotApplicable] = {
            "vocab_utilization": Measured(types / state.vocab_size, state.documents, no_interval=DEPENDS_ON_AMOUNT),
            "distinct_tokens": Measured(types, state.documents),
        }
        for name, alpha in (("renyi_efficiency", self._options.alpha), ("shannon_efficiency", 1.0)):
            if types < 2:  # noqa: PLR2004 - log2(1) = 0: nothing to divide by
                values[name] = NotApplicable(f"the text has {types} distinct tokens; evenness needs two")
            else:
                efficiency = renyi_entropy(state.counts, alpha) / np.log2(types)
                values[name] = Measured(float(efficiency), state.documents, no_interval=DEPENDS_ON_AMOUNT)
        return values


SPEC: Final = MetricFamily(
    name="vocabulary",
    summary="share of the vocabulary in use, Rényi and Shannon efficiency",
    text=VocabularyMetric,
    options=VocabularyOptions,
    values=(
        Metric(
            id="vocab_utilization",
            unit="share of ids",
            direction="higher",
            label="vocabulary used",
            formula="distinct ids in the text / vocab_size",
            definition="Share of the vocabulary that occurs in the text; it grows with the amount of text.",
        ),
        Metric(
            id="distinct_tokens",
            unit="ids",
            direction="none",
            formula="distinct ids in the text",
            definition="How many different ids occur in the text.",
        ),
        Metric(
            id="renyi_efficiency",
            unit="share of the maximum",
            direction="higher",
            formula="H_α / log2(distinct ids), H_α = log2(Σ p^α) / (1 - α), α = 2.5 unless set",
            definition=(
                "Evenness of the use of the tokens that occur; a few very frequent tokens lower it. Zouhar et al. 2023 "
                "found that it correlates with the quality of translation models."
            ),
        ),
        Metric(
            id="shannon_efficiency",
            unit="share of the maximum",
            direction="higher",
            formula="-Σ p log2 p / log2(distinct ids)",
            definition="As renyi_efficiency, but with Shannon's entropy.",
        ),
    ),
)
