"""The family ``strr``: the share of words that are one token each (single token retention rate)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin import (
    EncodedShard,
    EncodesWithOffsets,
    HasTokenBytes,
    Measured,
    Metric,
    MetricFamily,
    NotApplicable,
    Shard,
    Spans,
    Sums,
    UnitSums,
    WordOptions,
    count_by_document,
    token_ends,
    unknown_tokens,
    words_of,
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


class SingleTokens:
    """Sums of words, and of words that are one token."""

    def __init__(self, options: WordOptions) -> None:
        self._options = options

    def map(self, encoded: EncodedShard) -> UnitSums:
        """Return the sums of one shard, over the documents whose tokens could be aligned with their bytes."""
        shard = encoded.shard
        unit, words, lacking = words_of(self._options, shard, placed=True)
        ends, aligned = token_ends(encoded)
        words = words.where(aligned[words.documents])
        whole = kept_whole(shard, words, ends, unknown_tokens(encoded)[np.repeat(aligned, encoded.tokens)])
        sums = Sums.of(
            shard,
            whole=count_by_document(shard, words.documents[whole]),
            words=count_by_document(shard, words.documents),
            aligned=aligned.astype(np.int64),
        )
        return UnitSums(frozenset({unit}), sums, lacking)

    def merge(self, one: UnitSums, other: UnitSums) -> UnitSums:
        """Return the sums of both."""
        return one.merged(other)

    def finish(self, state: UnitSums) -> Mapping[str, Measured | NotApplicable]:
        """Return the ratio of sums; ``n`` is the number of documents that were aligned."""
        return {"strr": state.aligned_share("whole")}

    def raw(self, state: UnitSums) -> Any:
        """Return the sums and their units."""
        return state.raw()


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
