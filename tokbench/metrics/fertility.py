"""The family ``fertility``: tokens per word, defined by language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from tokbench.corpus.words.units import UNIT_NAMES
from tokbench.measuring.encoded_shard import EncodedShard
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import Measured, Metric, NotApplicable, Role
from tokbench.measuring.sums import SummedMetric, Sums
from tokbench.measuring.word_units import UnitSums, WordOptions
from tokbench.plugin.metrics import word_counts_of


class Fertility(SummedMetric):
    """The text metric."""

    _options: WordOptions

    def map(self, encoded: EncodedShard) -> UnitSums:
        if encoded.shard.times is not None:
            chunks = np.ones(len(encoded.shard), dtype=np.int64)
            return UnitSums(frozenset({"pretoken"}), Sums.of(encoded.shard, tokens=encoded.tokens, words=chunks))
        unit, words, lacking = word_counts_of(self._options, encoded.shard)
        return UnitSums(frozenset({unit}), Sums.of(encoded.shard, tokens=encoded.tokens, words=words), lacking)

    def finish(self, state: UnitSums) -> Mapping[str, Measured | NotApplicable]:
        refusal = state.refusal()
        if refusal:
            return {"fertility": refusal, "words": refusal}
        [unit] = state.units
        return {
            "fertility": state.sums.ratio("tokens", "words", unit=f"tokens/{UNIT_NAMES[unit][0]}"),
            "words": state.sums.total("words")._replace(unit=UNIT_NAMES[unit][1]),
        }


SPEC: Final = MetricFamily(
    name="fertility",
    summary="tokens per word, the word defined language by language",
    text=Fertility,
    from_counts=True,
    options=WordOptions,
    values=(
        Metric("fertility", "tokens/word", "lower", headline=True, role=Role.TOKENS_PER_WORD).means(
            "Σ tokens / Σ words",
            "Tokens per word of running text, spaces and punctuation included in the tokens. The unit names the word: "
            "gold words if the configuration asks for them; else UAX #29 words; space-separated words for Korean; for "
            "Thai, Lao, Khmer, Burmese, Chinese and Japanese the words of ICU's dictionaries where the extra icu is "
            "installed, and without it a letter or digit with its combining marks; syllables for Tibetan and "
            "Dzongkha; pre-tokens in tables of counts. Not comparable between groups whose units differ.",
        ),
        Metric("words", "words", "none", loss_cannot_help="it is counted on the text alone").means(
            "Σ words", "Words of the text, in the unit of the fertility."
        ),
    ),
)
