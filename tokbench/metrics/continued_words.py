"""The family ``continued_words``: how often a word is cut."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from tokbench.corpus.words import UNIT_NAMES
from tokbench.metrics.contract import Measured, MetricSpec, NotApplicable, ValueSpec
from tokbench.metrics.fertility import FertilityOptions, UnitSums, mixed, unit_of
from tokbench.metrics.sums import Sums
from tokbench.metrics.view import View
from tokbench.protocol import EncodesWithOffsets, HasTokenBytes

__all__ = ["SPEC"]


class ContinuedWords:
    """Sums of words, and of words with a token boundary inside them."""

    def __init__(self, options: FertilityOptions) -> None:
        self._options = options

    def map(self, view: View) -> UnitSums:
        """The sums of one shard, over the documents whose tokens could be laid onto their bytes."""
        unit = unit_of(self._options, view.shard.group)
        words = view.shard.words(unit)
        documents = len(view.shard)
        if isinstance(view.tokenizer, HasTokenBytes | EncodesWithOffsets):
            ends, aligned = view.token_ends
        else:
            ends, aligned = np.empty(0, dtype=np.int64), np.zeros(documents, dtype=np.bool_)
        # A token that ends strictly inside a word continues it in the next token.
        inside = np.searchsorted(ends, words.ends, side="left") - np.searchsorted(ends, words.starts, side="right")
        cut = (inside > 0) & aligned[words.documents]
        counted = np.bincount(words.documents, minlength=documents) * aligned
        sums = Sums.of(
            view.shard,
            continued=np.bincount(words.documents[cut], minlength=documents),
            words=counted,
            aligned=aligned.astype(np.int64),
        )
        return UnitSums(frozenset({unit}), sums)

    def merge(self, one: UnitSums, other: UnitSums) -> UnitSums:
        """The sums of both."""
        return one.merged(other)

    def finish(self, state: UnitSums) -> Mapping[str, Measured | NotApplicable]:
        """The ratio of sums; ``n`` is the number of documents that were aligned."""
        reason = mixed(state.units)
        if reason:
            return {"continued_word_rate": reason}
        aligned = int(state.sums.columns["aligned"].sum())
        if not aligned:
            return {"continued_word_rate": NotApplicable("no document's tokens could be laid onto its bytes")}
        [unit] = state.units
        ratio = state.sums.share("continued", "words", unit=f"share of {UNIT_NAMES[unit][1]}")
        return {"continued_word_rate": ratio._replace(n=aligned) if isinstance(ratio, Measured) else ratio}

    def raw(self, state: UnitSums) -> Any:
        """The sums and their units."""
        return state.raw()


SPEC: Final = MetricSpec(
    name="continued_words",
    summary="share of words that are cut into several tokens, in running text",
    text=ContinuedWords,
    options=FertilityOptions,
    values=(
        ValueSpec(
            id="continued_word_rate",
            unit="share of words",
            direction="lower",
            formula="words with a token boundary inside / words",
            definition=(
                "Share of words that are cut, found in running text by byte positions, never by encoding a word "
                "alone. Words as in fertility. Documents that do not come back exactly count only where the "
                "tokenizer says itself where its tokens lie."
            ),
            needs=(HasTokenBytes, EncodesWithOffsets),
        ),
    ),
)
