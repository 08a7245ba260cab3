"""The family ``strr``: the share of words that are one token each (single token retention rate)."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin import (
    AlignedWords,
    EncodedShard,
    EncodesWithOffsets,
    HasTokenBytes,
    Metric,
    MetricFamily,
    Shard,
    Spans,
    TokenEnds,
    WordOptions,
    unknown_tokens,
)


def kept_whole(shard: Shard, words: Spans, ends: NDArray[np.int64], unknown: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return bool[w], ``True`` for words that lie in one token which has nothing else but white space.

    Args:
        shard: the documents.
        words: some words of them.
        ends: where tokens end, of every document that has a word among these.
        unknown: for each token, ``True`` if it is the unknown token.
    """
    first, last = shard.byte_offsets[words.documents], shard.byte_offsets[words.documents + 1]
    token = np.searchsorted(ends, words.starts, side="right")
    # One more at either side: nothing before the first token, and no token where a document's end is swallowed.
    padded = np.concatenate([[0], ends, [shard.byte_offsets[-1] + 1]])
    starts, stops = np.maximum(padded[token], first), padded[token + 1]
    covered: NDArray[np.bool_] = (stops >= words.ends) & (stops <= last) & ~np.append(unknown, True)[token]
    ink = shard.ink_before
    alone: NDArray[np.bool_] = (ink[words.starts] == ink[starts]) & (ink[np.minimum(stops, last)] == ink[words.ends])
    return covered & alone


class SingleTokens(AlignedWords):
    """Sums of words, and of words that are one token."""

    value, column = "strr", "whole"

    def chosen(self, encoded: EncodedShard, words: Spans, laid: TokenEnds) -> NDArray[np.bool_]:
        """Return the words that one token keeps whole."""
        unknown = unknown_tokens(encoded)[np.repeat(laid.aligned, encoded.tokens)]
        return kept_whole(encoded.shard, words, laid.ends, unknown)


SPEC: Final = MetricFamily(
    name="strr",
    summary="share of words kept whole as one token, in running text",
    text=SingleTokens,
    options=WordOptions,
    values=(
        Metric(
            id="strr",
            unit="share of words",
            direction="higher",
            formula="words that one token covers with nothing else but white space / words",
            definition=(
                "Single token retention rate: share of words that are one token, found in running text by byte "
                "positions, never by encoding a word alone. The token may hold white space beside the word (the "
                "space before it, in most vocabularies) and nothing else: 'dog.' as one token does not keep 'dog' "
                "whole, and the unknown token keeps no word. Words as in fertility. Documents that do not come back "
                "exactly count only where the tokenizer says itself where its tokens lie."
            ),
            needs=(HasTokenBytes, EncodesWithOffsets),
        ),
    ),
)
