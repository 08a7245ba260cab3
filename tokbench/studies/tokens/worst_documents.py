"""The family ``worst_documents``: the documents with the most tokens per byte."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from tokbench.corpus.excerpts import cut_excerpt
from tokbench.measuring.encoded_shard import EncodedShard
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import DocumentExample, Measured, Metric, NotApplicable
from tokbench.measuring.sums import SummedMetric
from tokbench.tokenizers.contract import HasDummyPrefix, HasTokenBytes

LEAST_BYTES: Final = 32
"""One emoji says little of a text."""

_KEPT: Final = 3

_WINDOW: Final = 160


def _order(example: DocumentExample) -> tuple[float, int]:
    return -example.tokens_per_byte, example.number


class WorstState(NamedTuple):
    """The documents with the most tokens per byte, and the number that count."""

    documents: int
    worst: tuple[DocumentExample, ...]

    def __add__(self, other: WorstState) -> WorstState:  # type: ignore[override]
        worst = sorted((*self.worst, *other.worst), key=_order)
        return WorstState(self.documents + other.documents, tuple(worst[:_KEPT]))


class WorstDocuments(SummedMetric):
    """Keeps the documents that need the most tokens per byte."""

    def map(self, encoded: EncodedShard) -> WorstState:
        shard = encoded.shard
        counts = shard.n_bytes >= LEAST_BYTES
        documents = int(np.count_nonzero(counts))
        ratios = np.where(counts, encoded.tokens / np.maximum(shard.n_bytes, 1), -1.0)
        chosen = []
        for _ in range(min(_KEPT, documents)):
            chosen.append(int(ratios.argmax()))  # the first of equals
            ratios[chosen[-1]] = -1.0
        return WorstState(documents, tuple(_example(encoded, k) for k in chosen))

    def finish(self, state: WorstState) -> Mapping[str, Measured | NotApplicable]:
        if not state.worst:
            return {"worst_compression": NotApplicable(f"no document has {LEAST_BYTES} bytes")}
        first = state.worst[0]
        value = first.bytes / first.tokens if first.tokens else 0.0
        return {"worst_compression": Measured(value, state.documents)}

    def worst(self, state: WorstState) -> Sequence[DocumentExample]:
        return state.worst


def _example(encoded: EncodedShard, k: int) -> DocumentExample:
    shard = encoded.shard
    return DocumentExample(
        number=shard.first + k,
        origin=shard.origins[k],
        tokens=int(encoded.tokens[k]),
        bytes=int(shard.n_bytes[k]),
        excerpt=cut_excerpt(shard.texts[k], _densest(encoded, k)),
    )


def _densest(encoded: EncodedShard, k: int) -> int:
    size = int(encoded.shard.n_bytes[k])
    if size <= _WINDOW or not isinstance(encoded.tokenizer, HasTokenBytes):
        return 0
    prefix = encoded.tokenizer.dummy_prefix if isinstance(encoded.tokenizer, HasDummyPrefix) else b""
    ids = encoded.ids[encoded.offsets[k] : encoded.offsets[k + 1]]
    ends = np.cumsum(encoded.loaded.byte_lengths(ids), dtype=np.int64) - len(prefix)
    if not len(ends) or ends[-1] != size:  # a part of the text is lost
        return 0
    starts = np.concatenate([[0], ends[:-1]])
    starts = starts[starts <= size - _WINDOW]
    inside = np.searchsorted(ends, starts + _WINDOW, side="right") - np.arange(len(starts))
    return len(encoded.shard.texts[k].encode()[: int(starts[inside.argmax()])].decode(errors="ignore"))


SPEC: Final = MetricFamily(
    name="worst_documents",
    summary="the documents of which each tokenizer makes the most tokens by their size, with text and tokens",
    text=WorstDocuments,
    values=(
        Metric(
            id="worst_compression",
            unit="bytes/token",
            direction="higher",
            label="worst document",
            formula=f"min over documents x of at least {LEAST_BYTES} bytes: bytes of x / tokens of x",
            definition=(
                "Compression of the document that needs the most tokens for its size: what the unluckiest text costs. "
                "The report shows this document and its tokens, and the same text under the tokenizer that needs the "
                "fewest tokens for it."
            ),
            no_interval="it is the number of one document",
        ),
    ),
)
