"""The family ``continued_words``: the share of words that are cut."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.measuring.counted import TOKEN_PLACES
from tokbench.measuring.encoded_shard import EncodedShard
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import Metric
from tokbench.measuring.word_units import AlignedWords, WordOptions, WordsOnTokens

_METRIC: Final = Metric(
    "continued_word_rate",
    "share of words",
    "lower",
    of=("continued", "words"),
    label="continued words",
    needs=TOKEN_PLACES,
).means(
    "words with a token boundary inside / words",
    "Share of words that are cut, found in running text by byte positions, never by encoding a word "
    "alone. Words as in fertility. Documents that do not round-trip count only if the tokenizer "
    "itself says where its tokens lie.",
)


def _cut(_: EncodedShard, laid: WordsOnTokens) -> NDArray[np.bool_]:
    return laid.cut()


def _make(options: WordOptions) -> AlignedWords:
    return AlignedWords(_cut, _METRIC, options)


SPEC: Final = MetricFamily(
    name="continued_words",
    summary="share of words that are cut into several tokens, in running text",
    text=_make,
    options=WordOptions,
    values=(_METRIC,),
)
