"""The family ``prompts``: cut prompts, text that streams, and ids that no text gives."""

from __future__ import annotations

import random
import zlib
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin import HasTokenBytes, decode_batch, from_lists, metrics
from tokbench_research import Counts, encoded_again

_TWO: Final = 2
_DRAWN: Final = 4
"""Ids in the sequence that is drawn from each document."""
_SEED: Final = 1


class PromptCut(NamedTuple):
    """The number of a document, and the characters before the cut."""

    document: int
    characters: int


def random_cuts(texts: Sequence[str]) -> list[PromptCut]:
    """Return a cut of each text of two characters and more, which depends only on the text.

    >>> [cut.document for cut in random_cuts(["a", "ab", "abc"])]
    [1, 2]
    >>> random_cuts(["ab"])[0].characters
    1
    """
    drawn = []
    for k, text in enumerate(texts):
        if len(text) >= _TWO:
            draw = random.Random(f"{_SEED}:{zlib.crc32(text.encode())}")  # noqa: S311 - no secret
            drawn.append(PromptCut(k, draw.randrange(1, len(text))))
    return drawn


def count_prompts(encoded: metrics.EncodedShard, _: object) -> Counts:
    """Count by document what its prompt, its stream, and ids drawn from it show."""
    return {**_prompts(encoded), **_stream(encoded), **_drawn(encoded)}


def _prompts(encoded: metrics.EncodedShard) -> dict[str, NDArray[np.int64]]:
    texts, count = encoded.shard.texts, len(encoded.shard)
    cuts = random_cuts(texts)
    prompts = encoded_again(encoded.tokenizer, [texts[cut.document][: cut.characters] for cut in cuts])
    ends, aligned, first = _ends_by_document(encoded)
    names = "prompts broken_prompts tokens_back laid_prompts bytes_back"
    sums = {name: np.zeros(count, dtype=np.int64) for name in names.split()}
    for number, (k, characters) in enumerate(cuts):
        prompt = prompts.ids[prompts.offsets[number] : prompts.offsets[number + 1]]
        whole = encoded.ids[encoded.offsets[k] : encoded.offsets[k + 1]]
        shared = _shared(prompt, whole)
        sums["prompts"][k] += 1
        sums["broken_prompts"][k] += shared < len(prompt)
        sums["tokens_back"][k] += len(prompt) - shared
        if aligned[k]:
            kept = ends[first[k] + shared - 1] - encoded.shard.byte_offsets[k] if shared else 0
            sums["laid_prompts"][k] += 1
            sums["bytes_back"][k] += max(len(texts[k][:characters].encode()) - int(kept), 0)
    return sums


def _drawn(encoded: metrics.EncodedShard) -> dict[str, NDArray[np.int64]]:
    drawn: list[list[int]] = []
    documents = np.flatnonzero(encoded.tokens)
    for k in documents.tolist():
        ids = encoded.ids[encoded.offsets[k] : encoded.offsets[k + 1]].tolist()
        text = encoded.shard.texts[k].encode()
        draw = random.Random(f"{_SEED}:ids:{zlib.crc32(text)}")  # noqa: S311 - no secret
        drawn.append(draw.choices(ids, k=_DRAWN))
    sequences, canonical = (np.zeros(len(encoded.shard), dtype=np.int64) for _ in range(2))
    again = encoded_again(encoded.tokenizer, decode_batch(encoded.tokenizer, from_lists(drawn)))
    for k, ids, (start, end) in zip(documents.tolist(), drawn, pairwise(again.offsets.tolist()), strict=True):
        sequences[k] = 1
        canonical[k] = again.ids[start:end].tolist() == ids
    return {"sequences": sequences, "canonical": canonical}


def _shared(prompt: NDArray[np.uint32], whole: NDArray[np.uint32]) -> int:
    most = min(len(prompt), len(whole))
    different = np.flatnonzero(prompt[:most] != whole[:most])
    return int(different[0]) if len(different) else most


def _ends_by_document(encoded: metrics.EncodedShard) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64]]:
    ends, aligned = metrics.token_ends(encoded)
    laid = np.where(aligned, encoded.tokens, 0)
    return ends, aligned, np.cumsum(laid) - laid


def _stream(encoded: metrics.EncodedShard) -> dict[str, NDArray[np.int64]]:
    """Count tokens, and after which the text is UTF-8, of documents that round-trip."""
    shard, count = encoded.shard, len(encoded.shard)
    ends, aligned, _ = _ends_by_document(encoded)
    streamed = aligned & encoded.exact if isinstance(encoded.tokenizer, HasTokenBytes) else np.zeros_like(aligned)
    documents = np.repeat(np.flatnonzero(aligned), encoded.tokens[aligned])
    inside = np.append((metrics.shard_bytes(shard) & 0xC0) == 0x80, False)[ends] & streamed[documents]  # noqa: PLR2004 - 10xxxxxx
    inner = np.bincount(documents[inside], minlength=count)
    positions = np.where(streamed, encoded.tokens, 0)
    return {
        "streamed": streamed.astype(np.int64),
        "positions": positions,
        "partial_positions": inner,
        "whole_positions": positions - inner,
    }


_CUT: Final = "A document is cut at random characters, and the text before the cut is the prompt."
_HEALING: Final = (
    "Removing them and letting the model write them again is called token healing (Lundberg, The Art of Prompt "
    "Design: Prompt Boundaries and Token Healing, 2023)."
)

_LAID: Final = metrics.Basis("laid_prompts", metrics.NOT_ALIGNED)
_BASIS: Final = metrics.Basis("streamed", "no document round-trips")
_stream_metric = partial(metrics.Metric, direction="lower", needs=(HasTokenBytes,), basis=_BASIS)
_STREAMED: Final = (
    _stream_metric("stream_partial", "share of tokens", of=("partial_positions", "positions")).means(
        "tokens that end inside the bytes of a code point / tokens",
        "The share of tokens after which the text so far is not valid UTF-8, so that a program that streams must hold "
        "bytes back. Only documents that round-trip are counted.",
    ),
    _stream_metric("stream_tokens", "tokens/output", of=("positions", "whole_positions")).means(
        "tokens / tokens after which the text so far is valid UTF-8",
        "How many tokens a program that streams waits, on average, until all text so far can be shown; 1 if every "
        "token can. Only documents that round-trip are counted.",
    ),
)

SPEC: Final = metrics.counted(
    "prompts",
    "prompts that end in the middle (token healing), streams that are not valid UTF-8, ids that no text produces",
    count_prompts,
    metrics.Metric("prompt_broken", "share of prompts", "lower", of=("broken_prompts", "prompts")).means(
        "prompts whose ids are not the first ids of the document / prompts",
        f"{_CUT} The share of prompts whose tokens the document does not begin with, so that the text cannot go on as "
        "in training.",
    ),
    metrics.Metric("prompt_tokens_back", "tokens/prompt", "lower", of=("tokens_back", "prompts")).means(
        "Σ tokens after the ids that prompt and document begin with / prompts",
        f"{_CUT} The tokens that must be removed before the text can go on. {_HEALING}",
    ),
    metrics.Metric(
        "prompt_bytes_back",
        "bytes/prompt",
        "lower",
        of=("bytes_back", "laid_prompts"),
        needs=metrics.TOKEN_PLACES,
        basis=_LAID,
    ).means(
        "Σ bytes of the prompt after the end of the last shared token / prompts",
        f"{_CUT} The text that must be written again, measured at the places where the tokens of the whole "
        "document end.",
    ),
    *_STREAMED,
    metrics.Metric("canonical_ids", "share of sequences", "higher", of=("canonical", "sequences")).means(
        "sequences for which encode(decode(ids)) = ids / sequences of ids drawn from the document's own",
        "The share of random sequences of ids that encoding could produce. From each document a few ids are drawn at "
        "random, with replacement. A model, too, may write ids that no text produces (Vieira et al., Language Models "
        "over Canonical Byte-Pair Encodings, 2025).",
    ),
    by_script=True,
)
