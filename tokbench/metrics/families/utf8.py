"""The family ``utf8``: characters that token boundaries split."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin import (
    EncodedShard,
    HasTokenBytes,
    Measured,
    Metric,
    MetricFamily,
    NotApplicable,
    Spans,
    SummedMetric,
    Sums,
    count_by_document,
    shard_bytes,
    token_ends,
)

_SHARES: Final = {
    "chars_split": ("split_characters", "characters"),
    "partial_tokens": ("partial_tokens", "tokens"),
    "graphemes_split": ("split_clusters", "grapheme_clusters"),
}


_MOST_CONTINUING: Final = 3
"""The bytes of a character after its first, at most."""

_SPANS: Final = 1 << 20
"""The number of spans that are compared at the same time."""


class Utf8(SummedMetric):
    """The text metric: sums of characters, tokens and grapheme clusters, and of those that are split."""

    state = Sums

    def map(self, encoded: EncodedShard) -> Sums:
        """Return the sums of one shard, over the documents whose bytes are the bytes of their tokens."""
        shard = encoded.shard
        ends, aligned = token_ends(encoded)
        # Offsets of a tokenizer that changes the text need not tell bytes of one character apart.
        counted = aligned & encoded.exact if isinstance(encoded.tokenizer, HasTokenBytes) else np.zeros_like(aligned)
        ends = ends[np.repeat(counted[aligned], encoded.tokens[aligned])]
        documents = np.repeat(np.flatnonzero(counted), encoded.tokens[counted])
        data = shard_bytes(shard)
        # Whether a position is inside a character: the byte there continues one.
        inside = np.append((data & 0xC0) == 0x80, False)  # noqa: PLR2004 - 10xxxxxx
        starts = np.maximum(np.concatenate([[0], ends[:-1]])[: len(ends)], shard.byte_offsets[documents])
        partial = inside[starts] | inside[ends]
        # Of the boundaries inside one character the first counts.
        cutting = np.flatnonzero(inside[ends])
        character = ends[cutting]
        for _ in range(_MOST_CONTINUING):
            character = character - inside[character]
        _, first = np.unique(character, return_index=True)
        clusters = shard.words("grapheme")
        cut = _cut(ends, clusters)
        return Sums.of(
            shard,
            characters=shard.n_chars * counted,
            split_characters=count_by_document(shard, documents[cutting[first]]),
            tokens=encoded.tokens * counted,
            partial_tokens=count_by_document(shard, documents[partial]),
            grapheme_clusters=count_by_document(shard, clusters.documents) * counted,
            split_clusters=count_by_document(shard, clusters.documents[cut]),
            counted=counted.astype(np.int64),
        )

    def finish(self, state: Sums) -> Mapping[str, Measured | NotApplicable]:
        """Return ratios of sums; ``n`` is the number of documents that came back exactly."""
        counted = int(state.columns["counted"].sum())
        if not counted:
            return dict.fromkeys(_SHARES, NotApplicable("no document came back exactly"))
        return {name: state.share(part, whole, n=counted) for name, (part, whole) in _SHARES.items()}


def _cut(ends: NDArray[np.int64], spans: Spans) -> NDArray[np.bool_]:
    """Return bool[s], ``True`` for spans with one of the rising ends inside; many spans are compared in turns."""
    cut = np.empty(len(spans.ends), dtype=np.bool_)
    for k in range(0, len(cut), _SPANS):
        turn = slice(k, k + _SPANS)
        before = np.searchsorted(ends, spans.starts[turn], side="right")
        cut[turn] = np.searchsorted(ends, spans.ends[turn], side="left") > before
    return cut


_COUNTED: Final = (
    "Counted are the documents that come back exactly, where the bytes of the tokens are those of the text."
)

SPEC: Final = MetricFamily(
    name="utf8",
    summary="characters and grapheme clusters that token boundaries split, tokens that are not whole characters",
    text=Utf8,
    by_script=True,
    values=(
        Metric(
            id="chars_split",
            unit="share of characters",
            direction="lower",
            formula="code points with a token boundary inside their bytes / code points",
            definition=f"Share of characters that are spread over several tokens. {_COUNTED}",
            needs=(HasTokenBytes,),
        ),
        Metric(
            id="partial_tokens",
            unit="share of tokens",
            direction="lower",
            formula="tokens that begin or end inside the bytes of a code point / tokens",
            definition=(
                "Share of tokens that are not whole characters: nobody can show one of them by itself, and a model "
                f"that stops after one has written invalid UTF-8. {_COUNTED}"
            ),
            needs=(HasTokenBytes,),
        ),
        Metric(
            id="graphemes_split",
            unit="share of grapheme clusters",
            direction="lower",
            formula="grapheme clusters with a token boundary inside / grapheme clusters",
            definition=(
                "Share of extended grapheme clusters (UAX #29; white space left out) that a token boundary "
                "crosses: letters parted from their marks, emoji from their modifiers, and characters that are "
                f"split. {_COUNTED}"
            ),
            needs=(HasTokenBytes,),
        ),
    ),
)
