"""The family ``context``: how predictable a token is, and how many neighbours it has."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin import metrics, vocab_size_of
from tokbench_research.document_sample import SAMPLE, DocumentSample

_LEAST: Final = 3
_WINDOW: Final = 2000
_STRIDE: Final = 1000


class SuccessorCounts(NamedTuple):
    """Occurrences of each id with the one after it."""

    bits: int
    keys: NDArray[np.uint64]
    """Rising; the first id in the highest bits."""
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, documents: DocumentSample, vocab_size: int) -> SuccessorCounts:
        """Count the pairs inside documents."""
        bits = int(vocab_size - 1).bit_length() or 1
        ids, document = documents.data.astype(np.uint64), documents.document
        inside = document[:-1] == document[1:]
        keys, counts = np.unique(((ids[:-1] << np.uint64(bits)) | ids[1:])[inside], return_counts=True)
        return cls(bits, keys, counts.astype(np.int64))

    def successor_entropy(self) -> float | None:
        """Return how evenly successors follow contexts, 0 … 1; ``None`` without a frequent context.

        For an id t with n_t ≥ 3: η_t = H(successors) / log2(different successors), or 0
        for one. The value is Σ n_t η_t / Σ n_t (Poelman and others 2025).

        In "a b a c a b", b, c, b follow a: entropy 0.918 of at most log2(2) = 1.

        >>> pairs = np.array([0b0001, 0b0010, 0b0100, 0b1000], dtype=np.uint64)
        >>> counts = SuccessorCounts(2, pairs, np.array([2, 1, 1, 1]))
        >>> round(counts.successor_entropy(), 4)
        0.9183
        """
        if not len(self.keys):
            return None
        context = self.keys >> np.uint64(self.bits)
        starts = np.flatnonzero(np.concatenate([[True], context[1:] != context[:-1]]))
        kinds = np.diff(np.append(starts, len(context)))
        totals = np.add.reduceat(self.counts, starts).astype(np.float64)
        entropy = np.log2(totals) - np.add.reduceat(self.counts * np.log2(self.counts), starts) / totals
        even = np.divide(entropy, np.log2(kinds), out=np.zeros_like(entropy), where=kinds > 1)
        frequent = totals >= _LEAST
        if not frequent.any():
            return None
        return float((totals * even)[frequent].sum() / totals[frequent].sum())

    def accessor_variety(self) -> float | None:
        """Return the mean accessor variety; ``None`` if there are none.

        The smaller of the numbers of different ids before and after an id (Feng and others 2004, "Accessor variety
        criteria for Chinese word extraction"). In "a b a c a b", a has 2 and 2; b has 1 and 1; c has 1 and 1.

        >>> pairs = np.array([0b0001, 0b0010, 0b0100, 0b1000], dtype=np.uint64)
        >>> counts = SuccessorCounts(2, pairs, np.array([2, 1, 1, 1]))
        >>> round(counts.accessor_variety(), 4)
        1.3333
        """
        if not len(self.keys):
            return None
        sides = self.keys >> np.uint64(self.bits), self.keys & np.uint64((1 << self.bits) - 1)
        ids = np.union1d(*sides)
        varieties = [np.bincount(np.searchsorted(ids, side), minlength=len(ids)) for side in sides]
        return float(np.minimum(*varieties).mean())


class ContextState(NamedTuple):
    """The state of a group."""

    vocab_size: int
    sample: DocumentSample
    """At most the first million ids of each document."""
    windows: metrics.Sums

    def __add__(self, other: ContextState) -> ContextState:  # type: ignore[override]
        return ContextState(self.vocab_size, self.sample + other.sample, self.windows + other.windows)


class ContextMetric(metrics.SummedMetric):
    """The text metric."""

    def map(self, encoded: metrics.EncodedShard) -> ContextState:
        vocab_size, offsets = vocab_size_of(encoded.tokenizer), encoded.offsets
        small = encoded.ids.astype(np.min_scalar_type(vocab_size - 1))

        def ids(number: int) -> NDArray[np.unsignedinteger[Any]]:
            return small[offsets[number] : offsets[number + 1]][:SAMPLE]

        everything = np.ones(len(encoded.shard), dtype=np.bool_)
        return ContextState(vocab_size, DocumentSample.of(encoded.shard, everything, ids), self._windows(encoded))

    def _windows(self, encoded: metrics.EncodedShard) -> metrics.Sums:
        kinds, tokens = (np.zeros(len(encoded.shard), dtype=np.int64) for _ in range(2))
        for k in np.flatnonzero(encoded.tokens >= _WINDOW).tolist():
            ids = encoded.ids[encoded.offsets[k] : encoded.offsets[k + 1]]
            starts = range(0, len(ids) - _WINDOW + 1, _STRIDE)
            kinds[k] = sum(len(np.unique(ids[start : start + _WINDOW])) for start in starts)
            tokens[k] = _WINDOW * len(starts)
        with_window = (encoded.tokens >= _WINDOW).astype(np.int64)
        return metrics.Sums.of(encoded.shard, kinds=kinds, tokens=tokens, documents=with_window)

    def finish(self, state: ContextState) -> Mapping[str, metrics.Measured | metrics.NotApplicable]:
        pairs = SuccessorCounts.of(state.sample, state.vocab_size)
        entropy, variety, documents = pairs.successor_entropy(), pairs.accessor_variety(), len(state.sample.hashes)
        lacking = metrics.NotApplicable(f"no id occurs {_LEAST} times before another")
        alone = metrics.NotApplicable("no document has two tokens")
        values: dict[str, metrics.Measured | metrics.NotApplicable] = {
            "bigram_entropy": lacking if entropy is None else metrics.Measured(entropy, documents),
            "accessor_variety": alone if variety is None else metrics.Measured(variety, documents),
        }
        return values | metrics.declared(SPEC.values, state.windows)


_BASIS: Final = metrics.Basis("documents", f"no document has {_WINDOW:,} tokens")
_value = partial(metrics.Metric, direction="none", no_interval=metrics.DEPENDS_ON_AMOUNT)

_EVEN: Final = (
    "0 if every context has one successor, 1 if all its successors are equally frequent (Poelman and others 2025). "
    "Contexts that occur less than three times are left out; no n-gram reaches from one document into another. Little "
    "text has few frequent contexts; of more than 1 MB of a group, documents are drawn by hash."
)

SPEC: Final = metrics.MetricFamily(
    name="context",
    summary="entropy of what follows a token, accessor variety, moving type-token ratio",
    text=ContextMetric,
    values=(
        _value("bigram_entropy", "share of the maximum", label="bigram entropy").means(
            "Σ n_t H(successors of t) / log2(different successors of t) / Σ n_t, over ids t with n_t ≥ 3",
            f"Evenness of the ids that follow an id: {_EVEN}",
        ),
        _value("accessor_variety", "ids", label="accessor variety").means(
            "Σ over distinct ids of min(distinct ids before it, distinct ids after it) / distinct ids",
            "Different neighbours of an id, on the side where it has fewer (Feng and others 2004): pieces of words "
            "have few, words have many. It grows with the amount of text, up to 1 MB of a group.",
        ),
        metrics.Metric(
            "mattr", "share of tokens", "none", of=("kinds", "tokens"), label="moving type-token ratio", basis=_BASIS
        ).means(
            "Σ over windows of distinct ids / Σ over windows of tokens; windows of 2,000 tokens, one every 1,000",
            "Type-token ratio of windows of one size (Covington and McFall 2010), which does not depend on the "
            "amount of text. Windows lie inside documents, so that short documents have none.",
        ),
    ),
)
