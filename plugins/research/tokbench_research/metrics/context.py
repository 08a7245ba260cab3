"""The family ``context``: how predictable a token is, and how many neighbours it has."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin import metrics, vocab_size_of
from tokbench_research.document_sample import SAMPLE, DocumentSample

_LEAST: Final = 3
_WINDOW: Final = 2000
_STRIDE: Final = 1000
_BITS: Final = np.uint64(32)


class ContextState(NamedTuple):
    """The state of a group: at most the first million ids of each document, and sums over windows."""

    sample: DocumentSample
    windows: metrics.Sums

    def __add__(self, other: ContextState) -> ContextState:  # type: ignore[override]
        return ContextState(self.sample + other.sample, self.windows + other.windows)


def successor_entropy(first: NDArray[np.uint64], counts: NDArray[np.int64]) -> float | None:
    """Return how evenly successors follow the ids of rising pairs, 0 … 1; ``None`` without a frequent id.

    In "a b a c a b", b, c, b follow a: entropy 0.918 of at most log2(2) = 1.

    >>> round(successor_entropy(np.array([0, 0, 1, 2], dtype=np.uint64), np.array([2, 1, 1, 1])), 4)
    0.9183
    """
    starts = np.flatnonzero(np.diff(first, prepend=np.uint64(1 << 63)))
    kinds, totals = np.diff(np.append(starts, len(first))), np.add.reduceat(counts, starts).astype(np.float64)
    entropy = np.log2(totals) - np.add.reduceat(counts * np.log2(counts), starts) / totals
    even = np.divide(entropy, np.log2(kinds), out=np.zeros_like(entropy), where=kinds > 1)
    frequent = totals >= _LEAST
    return float((totals * even)[frequent].sum() / totals[frequent].sum()) if frequent.any() else None


class ContextMetric(metrics.SummedMetric):
    """The text metric."""

    def map(self, encoded: metrics.EncodedShard) -> ContextState:
        small = encoded.ids.astype(np.min_scalar_type(vocab_size_of(encoded.tokenizer) - 1))
        parts = np.split(small, encoded.offsets[1:-1])
        every = np.ones(len(parts), dtype=np.bool_)
        starts = [range(0, len(ids) - _WINDOW + 1, _STRIDE) for ids in parts]
        windows = np.array([len(some) for some in starts])
        kinds = [
            sum(len(np.unique(ids[at : at + _WINDOW])) for at in some) for ids, some in zip(parts, starts, strict=True)
        ]
        columns = {"kinds": np.array(kinds), "tokens": windows * _WINDOW, "documents": windows.astype(np.bool_)}
        sample = DocumentSample.of(encoded.shard, every, lambda number: parts[number][:SAMPLE])
        return ContextState(sample, metrics.Sums.of(encoded.shard, **columns))

    def finish(self, state: ContextState) -> Mapping[str, metrics.Measured | metrics.NotApplicable]:
        ids, document = state.sample.data.astype(np.uint64), state.sample.document
        inside = document[:-1] == document[1:]
        pairs, counts = np.unique((ids[:-1] << _BITS | ids[1:])[inside], return_counts=True)
        first, second = pairs >> _BITS, pairs & np.uint64((1 << 32) - 1)
        _, side = np.unique(np.concatenate([first, second]), return_inverse=True)
        varieties = [np.bincount(some, minlength=side.max(initial=0) + 1) for some in np.split(side, 2)]
        entropy = successor_entropy(first, counts.astype(np.int64)) if len(pairs) else None
        values = metrics.declared(SPEC.values, state.windows)
        values["bigram_entropy"] = metrics.NotApplicable(f"no id occurs {_LEAST} times before another")
        values["accessor_variety"] = metrics.NotApplicable("no document has two tokens")
        if entropy is not None:
            values["bigram_entropy"] = metrics.Measured(entropy, len(state.sample.hashes))
        if len(pairs):
            variety = float(np.minimum(*varieties).mean())
            values["accessor_variety"] = metrics.Measured(variety, len(state.sample.hashes))
        return values


_value = partial(metrics.Metric, direction="none", no_interval=metrics.DEPENDS_ON_AMOUNT)
_mattr = partial(metrics.Metric, basis=metrics.Basis("documents", f"no document has {_WINDOW:,} tokens"))

SPEC: Final = metrics.MetricFamily(
    name="context",
    summary="entropy of what follows a token, accessor variety, moving type-token ratio",
    text=ContextMetric,
    values=(
        _value("bigram_entropy", "share of the maximum", label="bigram entropy").means(
            "Σ n_t H(successors of t) / log2(different successors of t) / Σ n_t, over ids t with n_t ≥ 3",
            "Evenness of the ids that follow an id: 0 if every context has one successor, 1 if all its successors are "
            "equally frequent (Poelman and others 2025). Contexts that occur less than three times are left out; no "
            "n-gram reaches from one document into another. Little text has few frequent contexts; of more than 1 MB "
            "of a group, documents are drawn by hash.",
        ),
        _value("accessor_variety", "ids", label="accessor variety").means(
            "Σ over distinct ids of min(distinct ids before it, distinct ids after it) / distinct ids",
            "Different neighbours of an id, on the side where it has fewer (Feng and others 2004): pieces of words "
            "have few, words have many. It grows with the amount of text, up to 1 MB of a group.",
        ),
        _mattr("mattr", "share of tokens", "none", of=("kinds", "tokens"), label="moving type-token ratio").means(
            "Σ over windows of distinct ids / Σ over windows of tokens; windows of 2,000 tokens, one every 1,000",
            "Type-token ratio of windows of one size (Covington and McFall 2010), which does not depend on the "
            "amount of text. Windows lie inside documents, so that short documents have none.",
        ),
    ),
)
