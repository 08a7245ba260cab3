"""The family ``utf8``: characters that token boundaries split."""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.words.unicode_tables import GRAPHEME_RULES
from tokbench.measuring.counted import Basis, Counts, counted
from tokbench.measuring.encoded_shard import EncodedShard
from tokbench.measuring.metric import Metric
from tokbench.plugin.metrics import Shard, shard_bytes, token_ends
from tokbench.tokenizers.contract import HasTokenBytes

_MOST_CONTINUING: Final = 3


def count_split(encoded: EncodedShard, _: object) -> Counts:
    """Count characters, tokens and clusters that are split; leave out documents whose tokens have other bytes."""
    shard = encoded.shard
    ends, aligned = token_ends(encoded)
    # Offsets of a tokenizer that changes the text need not separate the bytes of one character.
    counted = aligned & encoded.exact if isinstance(encoded.tokenizer, HasTokenBytes) else np.zeros_like(aligned)
    if not counted[aligned].all():
        ends = ends[np.repeat(counted[aligned], encoded.tokens[aligned])]
    tokens = encoded.tokens * counted
    clusters = shard.clusters

    def by_document(places: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.bincount(np.searchsorted(shard.byte_offsets, places, side="right") - 1, minlength=len(shard))

    split, partial = _split_characters(shard, ends)
    partial_documents = np.searchsorted(np.cumsum(tokens), np.flatnonzero(partial), side="right")
    return {
        "characters": shard.n_chars * counted,
        "split_characters": by_document(split),
        "tokens": tokens,
        "partial_tokens": np.bincount(partial_documents, minlength=len(shard)),
        "grapheme_clusters": clusters.counts * counted,
        "split_clusters": by_document(_split_clusters(clusters.inside, ends)),
        "counted": counted.astype(np.int64),
    }


def _split_characters(shard: Shard, ends: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the first bytes of characters inside which a token ends, and which tokens begin or end there."""
    if shard.data.isascii():  # every byte is a character
        return ends[:0], np.zeros(len(ends), dtype=np.bool_)
    continues = np.append((shard_bytes(shard) & 0xC0) == 0x80, False)  # noqa: PLR2004 - 10xxxxxx
    inside = continues[ends]
    characters = ends[inside]
    for _ in range(_MOST_CONTINUING):
        characters = characters - continues[characters]
    # The token before begins where this one ends, or in another document, and no document ends inside a character.
    partial = inside | np.append(False, inside[:-1])[: len(inside)]
    return characters[np.diff(characters, prepend=-1) != 0], partial


def _split_clusters(inside: NDArray[np.bool_], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first place in each cluster at which a token ends; ``inside`` has all places inside a cluster."""
    cutting = np.unique(ends[inside[ends]])
    if len(cutting) < 2:  # noqa: PLR2004 - no place has one before it
        return cutting
    # Two places are in the same cluster if all places from the one to the other are inside it.
    parted = np.logical_or.reduceat(~inside[: cutting[-1] + 1], cutting[:-1] + 1)
    first: NDArray[np.int64] = cutting[np.append(True, parted)]
    return first


_COUNTED: Final = "Only documents that round-trip are counted: there the bytes of the tokens are the bytes of the text."

_BASIS: Final = Basis("counted", "no document round-trips")
_lower = partial(Metric, direction="lower", needs=(HasTokenBytes,), basis=_BASIS)

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
        "Share of tokens that are not whole characters: none of them can be shown by itself, and a model that stops "
        f"after one has written invalid UTF-8. {_COUNTED}",
    ),
    _lower("graphemes_split", "share of grapheme clusters", of=("split_clusters", "grapheme_clusters")).means(
        "grapheme clusters with a token boundary inside / grapheme clusters",
        f"Share of extended grapheme clusters (UAX #29, rules of Unicode {GRAPHEME_RULES}; white space left out) that "
        "a token boundary crosses: letters from their marks, emoji from their modifiers, and characters from their "
        f"own bytes. {_COUNTED}",
    ),
    by_script=True,
)
