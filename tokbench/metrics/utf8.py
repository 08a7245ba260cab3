"""The family ``utf8``: characters that token boundaries split."""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.shards import Shard
from tokbench.corpus.words.unicode_tables import GRAPHEME_RULES
from tokbench.measuring.counted import Basis, Counts, counted
from tokbench.measuring.encoded_shard import EncodedShard
from tokbench.measuring.metric import Metric
from tokbench.measuring.spans import shard_bytes
from tokbench.measuring.word_units import token_ends
from tokbench.tokenizers.contract import HasTokenBytes

_MOST_CONTINUING: Final = 3

_TOKENS: Final = 1 << 18
"""Per batch, to bound memory."""


def count_split(encoded: EncodedShard, _: object) -> Counts:
    """Count characters, tokens and clusters that are split; leave out documents whose tokens have other bytes."""
    shard = encoded.shard
    ends, aligned = token_ends(encoded)
    # Offsets of a tokenizer that changes the text need not tell bytes of one character apart.
    counted = aligned & encoded.exact if isinstance(encoded.tokenizer, HasTokenBytes) else np.zeros_like(aligned)
    if not counted[aligned].all():
        ends = ends[np.repeat(counted[aligned], encoded.tokens[aligned])]
    tokens = encoded.tokens * counted
    clusters = shard.clusters
    split = _Split(shard, tokens, clusters.inside)
    for first in range(0, len(ends), _TOKENS):
        split.add(first, ends[first : first + _TOKENS])
    return {
        "characters": shard.n_chars * counted,
        "split_characters": split.characters,
        "tokens": tokens,
        "partial_tokens": split.tokens,
        "grapheme_clusters": clusters.counts * counted,
        "split_clusters": split.clusters,
        "counted": counted.astype(np.int64),
    }


class _Split:
    """Counts by document what the rising ends of tokens split; ``inside`` are places inside a grapheme cluster."""

    def __init__(self, shard: Shard, tokens: NDArray[np.int64], inside: NDArray[np.bool_]) -> None:
        self._data = shard_bytes(shard)
        self._plain = shard.data.isascii()  # every byte is a character
        self._inside = inside
        self._starts = shard.byte_offsets[:-1]
        self._with_tokens = np.flatnonzero(tokens)
        self._firsts = (np.cumsum(tokens) - tokens)[self._with_tokens]  # the numbers of their first tokens
        self._end = 0
        self._last_character = self._last_cut = -1
        self.characters, self.tokens, self.clusters = (np.zeros(len(shard), dtype=np.int64) for _ in range(3))

    def add(self, first: int, ends: NDArray[np.int64]) -> None:
        if not self._plain:
            self._add_characters(first, ends)
        self._add_clusters(ends)

    def _add_characters(self, first: int, ends: NDArray[np.int64]) -> None:
        starts = np.concatenate([[self._end], ends[:-1]])
        self._end = int(ends[-1])
        here = slice(*np.searchsorted(self._firsts, [first, first + len(ends)]))
        starts[self._firsts[here] - first] = self._starts[self._with_tokens[here]]
        ends_inside = self._continues(ends)
        partial = np.flatnonzero(self._continues(starts) | ends_inside)
        cutting = np.flatnonzero(ends_inside)
        characters = ends[cutting]
        for _ in range(_MOST_CONTINUING):
            characters = characters - self._continues(characters)
        # Of the boundaries inside one character the first counts.
        new = np.diff(characters, prepend=self._last_character) != 0
        self._last_character = int(characters[-1]) if len(characters) else self._last_character
        self.tokens += self._by_document(first + partial)
        self.characters += self._by_document(first + cutting[new])

    def _continues(self, positions: NDArray[np.int64]) -> NDArray[np.bool_]:
        here = self._data[np.minimum(positions, len(self._data) - 1)]
        continues: NDArray[np.bool_] = (here & 0xC0) == 0x80  # noqa: PLR2004 - 10xxxxxx
        return continues & (positions < len(self._data))

    def _by_document(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        documents = self._with_tokens[np.searchsorted(self._firsts, numbers, side="right") - 1]
        return np.bincount(documents, minlength=len(self.tokens))

    def _add_clusters(self, ends: NDArray[np.int64]) -> None:
        inside = self._inside
        cutting = ends[inside[ends]]
        if not len(cutting):
            return
        low, high = int(cutting[0]), int(cutting[-1])
        # Two boundaries are in the same cluster if all positions from the one to the other are inside it.
        cluster = np.cumsum(~inside[low : high + 1])[cutting - low]
        new = np.diff(cluster, prepend=-1) != 0
        new[0] = self._last_cut < 0 or not inside[self._last_cut : low + 1].all()
        self._last_cut = high
        documents = np.searchsorted(self._starts, cutting[new], side="right") - 1
        self.clusters += np.bincount(documents, minlength=len(self.clusters))


_COUNTED: Final = (
    "Counted are the documents that come back exactly, where the bytes of the tokens are those of the text."
)

_lower = partial(Metric, direction="lower", needs=(HasTokenBytes,))

SPEC: Final = counted(
    "utf8",
    "characters and grapheme clusters that token boundaries split, tokens that are not whole characters",
    count_split,
    _lower("chars_split", "share of characters", of=("split_characters", "characters")).means(
        "code points with a token boundary inside their bytes / code points",
        f"Share of characters that are spread over several tokens. {_COUNTED}",
    ),
    _lower("partial_tokens", "share of tokens", of=("partial_tokens", "tokens")).means(
        "tokens that begin or end inside the bytes of a code point / tokens",
        "Share of tokens that are not whole characters: nobody can show one of them by itself, and a model "
        f"that stops after one has written invalid UTF-8. {_COUNTED}",
    ),
    _lower("graphemes_split", "share of grapheme clusters", of=("split_clusters", "grapheme_clusters")).means(
        "grapheme clusters with a token boundary inside / grapheme clusters",
        f"Share of extended grapheme clusters (UAX #29, rules of Unicode {GRAPHEME_RULES}; white space left "
        "out) that a token boundary crosses: letters parted from their marks, emoji from their modifiers, and "
        f"characters that are split. {_COUNTED}",
    ),
    basis=Basis("counted", "no document came back exactly"),
    by_script=True,
)
