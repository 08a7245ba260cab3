"""The family ``strr``: the share of words that are one token (single token retention rate)."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.measuring.counted import TOKEN_PLACES
from tokbench.measuring.encoded_shard import EncodedShard
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import Metric
from tokbench.measuring.word_units import AlignedWords, WordOptions, WordsOnTokens, unknown_tokens
from tokbench.plugin.metrics import Shard, token_ends


def kept_whole(shard: Shard, laid: WordsOnTokens, unknown: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Find words in one token without other text but white space; ``laid`` words are not cut."""
    words, token, ends = laid
    first, last = shard.byte_offsets[words.documents], shard.byte_offsets[words.documents + 1]
    # One more at either side: nothing before the first token, and no token where a document's end is swallowed.
    padded = np.concatenate([[0], ends, [shard.byte_offsets[-1] + 1]])
    starts, stops = np.maximum(padded[token], first), padded[token + 1]
    covered: NDArray[np.bool_] = (stops <= last) & ~np.append(unknown, True)[token]
    ink = shard.ink_before
    alone: NDArray[np.bool_] = (ink[words.starts] == ink[starts]) & (ink[np.minimum(stops, last)] == ink[words.ends])
    return covered & alone


def _single(encoded: EncodedShard, laid: WordsOnTokens) -> NDArray[np.bool_]:
    unknown = unknown_tokens(encoded)[np.repeat(token_ends(encoded).aligned, encoded.tokens)]
    kept = ~laid.cut()
    kept[kept] = kept_whole(encoded.shard, laid.where(kept), unknown)
    return kept


_METRIC: Final = Metric(
    "strr", "share of words", "higher", of=("whole", "words"), headline=True, needs=TOKEN_PLACES
).means(
    "words that one token covers with nothing else but white space / words",
    "Single token retention rate: share of words that are one token, found in running text by byte positions, never "
    "by encoding a word alone. The token may hold white space next to the word (the space before it, in most "
    "vocabularies) and nothing else: 'dog.' as one token does not keep 'dog' whole, and the unknown token keeps no "
    "word. Words as in fertility. Documents that do not round-trip count only where the tokenizer says itself where "
    "its tokens lie.",
)


def _make(options: WordOptions) -> AlignedWords:
    return AlignedWords(_single, _METRIC, options)


SPEC: Final = MetricFamily(
    name="strr",
    summary="share of words kept whole as one token, in running text",
    text=_make,
    options=WordOptions,
    subject=("fertility", "strr"),
    values=(_METRIC,),
)
