"""The family ``vocabulary``: the share of the vocabulary in use, and its evenness."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tokbench.measuring.encoded_shard import EncodedShard
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import Measured, Metric, NotApplicable
from tokbench.measuring.sums import SummedMetric
from tokbench.measuring.token_counts import CountTable, add_tables, join_tables, renyi_entropy
from tokbench.plugin.metrics import DEPENDS_ON_AMOUNT
from tokbench.tokenizers.batch import vocab_size_of
from tokbench.tokenizers.options import Options


class VocabularyOptions(Options):
    """Options of ``vocabulary``."""

    alpha: float = Field(default=2.5, ge=0, description="order of the Rényi entropy; 1 is Shannon's")


class Frequencies(NamedTuple):
    """Occurrences by id."""

    vocab_size: int
    documents: int
    tables: tuple[CountTable, ...]

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
        if types:
            values["type_token_ratio"] = Measured(types / int(counts.sum()), state.documents)
            values["token_entropy"] = Measured(renyi_entropy(np.sort(counts)[::-1], 1.0), state.documents)
        else:
            values |= dict.fromkeys(("type_token_ratio", "token_entropy"), NotApplicable("the text has no tokens"))
        return values


_of_use = partial(Metric, no_interval=DEPENDS_ON_AMOUNT)

SPEC: Final = MetricFamily(
    name="vocabulary",
    summary="share of the vocabulary in use, Rényi and Shannon efficiency, entropy, type-token ratio",
    version=2,
    text=VocabularyMetric,
    from_counts=True,
    options=VocabularyOptions,
    values=(
        _of_use("vocab_utilization", "share of ids", "higher", label="vocabulary used").means(
            "distinct ids in the text / vocab_size",
            "Share of the vocabulary that occurs in the text; it grows with the amount of text.",
        ),
        _of_use("distinct_tokens", "ids", "none").means(
            "distinct ids in the text", "Number of different tokens that occur in the text."
        ),
        _of_use("renyi_efficiency", "share of the maximum", "higher").means(
            "H_α / log2(distinct ids), H_α = log2(Σ p^α) / (1 - α), α = 2.5 unless set",
            "Evenness of the use of the tokens that occur; a few very frequent tokens lower it. Zouhar et al. 2023 "
            "found that it correlates with the quality of translation models.",
        ),
        _of_use("shannon_efficiency", "share of the maximum", "higher").means(
            "-Σ p log2 p / log2(distinct ids)", "As renyi_efficiency, but with Shannon's entropy."
        ),
        _of_use("type_token_ratio", "share of tokens", "none", label="type-token ratio").means(
            "distinct ids / tokens", "Different tokens per token of text. It falls with the amount of text."
        ),
        _of_use("token_entropy", "bits/token", "none", label="token entropy").means(
            "-Σ p log2 p, p the shares of the ids", "Shannon entropy of the tokens of the text, each on its own."
        ),
    ),
)
