"""The family ``continued_words``: the share of words that are cut."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin import (
    TOKEN_PLACES,
    AlignedWords,
    EncodedShard,
    LaidWords,
    Metric,
    MetricFamily,
    WordOptions,
)


class ContinuedWords(AlignedWords):
    """The text metric."""

    value, column = "continued_word_rate", "continued"

    def chosen(self, encoded: EncodedShard, laid: LaidWords) -> NDArray[np.bool_]:
        """Return the words inside which a token ends."""
        del encoded
        return laid.cut()


SPEC: Final = MetricFamily(
    name="continued_words",
    summary="share of words that are cut into several tokens, in running text",
    text=ContinuedWords,
    options=WordOptions,
    values=(
        Metric("continued_word_rate", "share of words", "lower", label="continued words", needs=TOKEN_PLACES).means(
            "words with a token boundary inside / words",
            "Share of words that are cut, found in running text by byte positions, never by encoding a word "
            "alone. Words as in fertility. Documents that do not come back exactly count only if the tokenizer "
            "itself says where its tokens lie.",
        ),
    ),
)
