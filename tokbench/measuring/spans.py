"""Spans of text in a shard, found once for all tokenizers, and the tokens in them.

All positions count UTF-8 bytes of the shard, whose documents are joined end to end, as in
:attr:`EncodedShard.token_ends`.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.shards import Shard
from tokbench.corpus.words.find import Spans
from tokbench.measuring.encoded_shard import EncodedShard


def shard_bytes(shard: Shard) -> NDArray[np.uint8]:
    """Return uint8[n], the UTF-8 bytes of all documents, joined."""
    return np.frombuffer(shard.data, dtype=np.uint8)


def find_spans(shard: Shard, pattern: re.Pattern[bytes]) -> Spans:
    r"""Find the matches of a pattern in the UTF-8 bytes of a shard. The pattern must not match a line feed.

    >>> from tokbench.corpus.contract import Document
    >>> shard = Shard("c", "en", 0, [Document(text, "en", text, text) for text in ("né 1", "22")], by_key=False)
    >>> spans = find_spans(shard, re.compile(rb"[0-9]+"))
    >>> spans.starts.tolist(), spans.ends.tolist(), spans.documents.tolist()
    ([4, 5], [5, 7], [0, 1])
    """
    # With a line feed between documents a line begins where a document does.
    joined = shard.cached("joined bytes", lambda: "\n".join(shard.texts).encode())
    places = np.array([match.span() for match in pattern.finditer(joined)], dtype=np.int64).reshape(-1, 2)
    documents = np.searchsorted(np.cumsum(shard.n_bytes + 1), places[:, 0], side="right")
    return Spans(places[:, 0] - documents, places[:, 1] - documents, documents)


def _inside(encoded: EncodedShard, spans: Spans) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    first = np.searchsorted(encoded.boundaries, spans.starts, side="right").astype(np.int64)
    return first, (np.searchsorted(encoded.boundaries, spans.ends, side="left") - first).clip(min=0)


def cuts(encoded: EncodedShard, spans: Spans) -> NDArray[np.int64]:
    """Return int64[s], the token boundaries strictly inside each span, which one token more touches."""
    return _inside(encoded, spans)[1]


def cut_places(encoded: EncodedShard, spans: Spans) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return int64[c] twice for the token boundaries inside spans: which span, and how many bytes into it."""
    first, counts = _inside(encoded, spans)
    which = np.repeat(np.arange(len(counts)), counts)
    before = np.cumsum(counts) - counts
    boundary = np.arange(len(which)) + (first - before)[which]
    return which, encoded.boundaries[boundary] - spans.starts[which]


def tokens_within(encoded: EncodedShard, spans: Spans) -> NDArray[np.int64]:
    """Return int64[s], the number of tokens that lie entirely inside each span."""
    before_start = np.searchsorted(encoded.boundaries, spans.starts, side="left").astype(np.int64)
    return (np.searchsorted(encoded.boundaries, spans.ends, side="right") - before_start - 1).clip(min=0)


def touches(encoded: EncodedShard, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return bool[s], ``True`` where a token boundary lies from ``starts`` to ``ends``, both included."""
    return np.searchsorted(encoded.boundaries, starts, side="left") < np.searchsorted(
        encoded.boundaries, ends, side="right"
    )


def sum_by_document(encoded: EncodedShard, spans: Spans, values: NDArray[Any] | None = None) -> NDArray[np.float64]:
    """Return float64[d], the sum of a value of each document's spans, or their number; 0 if unaligned."""
    counted = np.bincount(spans.documents, weights=values, minlength=len(encoded.shard))
    return np.where(encoded.token_ends.aligned, counted, 0.0)


def cut_patterns(encoded: EncodedShard, runs: Spans) -> NDArray[np.int64]:
    """Return int64[r], the cuts of each run of at most 62 bytes: bit ``k - 1`` is a boundary after byte ``k``."""
    inside, places = cut_places(encoded, runs)
    # Each place of a run is there once, so that the sum of bits sets each of them.
    return np.bincount(inside, weights=1 << (places - 1), minlength=len(runs.starts)).astype(np.int64)
