"""The family ``continued_words``: the share of words that are cut."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from tokbench.plugin import (
    EncodedShard,
    EncodesWithOffsets,
    HasTokenBytes,
    Measured,
    Metric,
    MetricFamily,
    NotApplicable,
    Sums,
    UnitSums,
    WordOptions,
    count_by_document,
    token_ends,
    words_of,
)


class ContinuedWords:
    """Sums of words, and of words with a token boundary inside them."""

    def __init__(self, options: WordOptions) -> None:
        self._options = options

    def map(self, encoded: EncodedShard) -> UnitSums:
        """Return the sums of one shard, over the documents whose tokens could be aligned with their bytes."""
        unit, words, lacking = words_of(self._options, encoded.shard, placed=True)
        ends, aligned = token_ends(encoded)
        # A token that ends strictly inside a word continues it in the next token.
        inside = np.searchsorted(ends, words.ends, side="left") - np.searchsorted(ends, words.starts, side="right")
        cut = (inside > 0) & aligned[words.documents]
        sums = Sums.of(
            encoded.shard,
            continued=count_by_document(encoded.shard, words.documents[cut]),
            words=count_by_document(encoded.shard, words.documents) * aligned,
            aligned=aligned.astype(np.int64),
        )
        return UnitSums(frozenset({unit}), sums, lacking)

    def merge(self, one: UnitSums, other: UnitSums) -> UnitSums:
        """Return the sums of both."""
        return one.merged(other)

    def finish(self, state: UnitSums) -> Mapping[str, Measured | NotApplicable]:
        """Return the ratio of sums; ``n`` is the number of documents that were aligned."""
        return {"continued_word_rate": state.aligned_share("continued")}

    def raw(self, state: UnitSums) -> Any:
        """Return the sums and their units."""
        return state.raw()


SPEC: Final = MetricFamily(
    name="continued_words",
    summary="share of words that are cut into several tokens, in running text",
    text=ContinuedWords,
    options=WordOptions,
    values=(
        Metric(
            id="continued_word_rate",
            unit="share of words",
            direction="lower",
            label="continued words",
            loss_looks_better=True,
            formula="words with a token boundary inside / words",
            definition=(
                "Share of words that are cut, found in running text by byte positions, never by encoding a word "
                "alone. Words as in fertility. Documents that do not come back exactly count only if the tokenizer "
                "itself says where its tokens lie."
            ),
            needs=(HasTokenBytes, EncodesWithOffsets),
        ),
    ),
)
