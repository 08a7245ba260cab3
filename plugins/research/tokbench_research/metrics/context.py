"""The family ``context``: how predictable a token is, and how many neighbours it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tokbench.measuring.token_counts import DEPENDS_ON_AMOUNT
from tokbench.plugin import Options, vocab_size_of
from tokbench.plugin.metrics import (
    Basis,
    EncodedShard,
    Measured,
    Metric,
    MetricFamily,
    NotApplicable,
    SummedMetric,
    Sums,
    declared,
)
from tokbench_research.document_sample import document_hashes, first_by_hash

_LEAST: Final = 3

_KEY_BITS: Final = 64
_NO_BOUND: Final = 2**64 - 1

_WAITING: Final = 8


class ContextOptions(Options):
    """Options of ``context``."""

    window: int = Field(default=2000, ge=1, description="tokens of a window of the moving type-token ratio")
    stride: int = Field(default=1000, ge=1, description="tokens from the start of one window to that of the next")
    sample: int = Field(
        default=1 << 20,
        ge=1,
        description="bytes of text of a group whose n-grams are counted; of more text the documents are drawn by hash",
    )


class NgramCounts(NamedTuple):
    """Occurrences of each n-gram of ids."""

    bits: int
    keys: NDArray[np.uint64]
    """Rising; the first id in the highest bits."""
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, documents: DocumentIds, length: int, vocab_size: int) -> NgramCounts | None:
        """Count the n-grams inside documents; ``None`` if one does not fit into 64 bits."""
        bits = int(vocab_size - 1).bit_length() or 1
        if length * bits > _KEY_BITS:
            return None
        ids, count = documents.ids, max(0, len(documents.ids) - length + 1)
        keys = np.zeros(count, dtype=np.uint64)
        for k in range(length):
            keys = (keys << np.uint64(bits)) | ids[k : k + count]
        document = np.repeat(np.arange(len(documents.lengths)), documents.lengths)
        inside = document[:count] == document[length - 1 : length - 1 + count]
        distinct, counts = np.unique(keys[inside], return_counts=True)
        return cls(bits, distinct, counts.astype(np.int64))

    def successor_entropy(self) -> float | None:
        """Return how evenly successors follow contexts, 0 … 1; ``None`` without a frequent context.

        For a context t (all ids but the last) with n_t ≥ 3: η_t = H(successors) / log2(different successors), or 0
        for one. The value is Σ n_t η_t / Σ n_t (Poelman and others 2025).

        In "a b a c a b", b, c, b follow a: entropy 0.918 of at most log2(2) = 1.

        >>> counts = NgramCounts(2, np.array([0b0001, 0b0010, 0b0100, 0b1000], dtype=np.uint64), np.array([2, 1, 1, 1]))
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
        """Return the mean accessor variety of the ids in bigrams; ``None`` if there are none.

        The smaller of the numbers of different ids before and after an id (Feng and others 2004, "Accessor variety
        criteria for Chinese word extraction"). In "a b a c a b", a has 2 and 2; b has 1 and 1; c has 1 and 1.

        >>> counts = NgramCounts(2, np.array([0b0001, 0b0010, 0b0100, 0b1000], dtype=np.uint64), np.array([2, 1, 1, 1]))
        >>> round(counts.accessor_variety(), 4)
        1.3333
        """
        if not len(self.keys):
            return None
        sides = self.keys >> np.uint64(self.bits), self.keys & np.uint64((1 << self.bits) - 1)
        ids = np.union1d(*sides)
        varieties = [np.bincount(np.searchsorted(ids, side), minlength=len(ids)) for side in sides]
        return float(np.minimum(*varieties).mean())


class DocumentIds(NamedTuple):
    """The ids of some documents."""

    hashes: NDArray[np.uint64]
    sizes: NDArray[np.int64]
    lengths: NDArray[np.int64]
    ids: NDArray[np.unsignedinteger[Any]]

    @classmethod
    def of(cls, encoded: EncodedShard, most: int) -> DocumentIds:
        """Keep at most the first ``most`` ids of a document."""
        ids, lengths = encoded.ids, np.minimum(encoded.tokens, most)
        if (encoded.tokens > most).any():
            place = np.arange(len(ids)) - np.repeat(encoded.offsets[:-1], encoded.tokens)
            ids = ids[place < most]
        small = np.min_scalar_type(vocab_size_of(encoded.tokenizer) - 1)
        return cls(document_hashes(encoded.shard), encoded.shard.n_bytes, lengths, ids.astype(small))

    @classmethod
    def joined(cls, parts: Sequence[DocumentIds]) -> DocumentIds:
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    def chosen(self, mask: NDArray[np.bool_]) -> DocumentIds:
        if mask.all():
            return self
        inside = np.repeat(mask, self.lengths)
        return DocumentIds(self.hashes[mask], self.sizes[mask], self.lengths[mask], self.ids[inside])

    def first(self, sample: int) -> DocumentIds:
        mask = np.zeros(len(self.hashes), dtype=np.bool_)
        mask[first_by_hash(self.hashes, self.sizes, sample)] = True
        return self.chosen(mask)

    def by_hash(self) -> DocumentIds:
        """Sort by hash; equal hashes are the same text."""
        order = np.argsort(self.hashes, kind="stable")
        ends = np.cumsum(self.lengths)
        spans = [self.ids[end - length : end] for end, length in zip(ends[order], self.lengths[order], strict=True)]
        ids = np.concatenate(spans) if spans else self.ids
        return DocumentIds(self.hashes[order], self.sizes[order], self.lengths[order], ids)


class ContextState(NamedTuple):
    """The state of a group."""

    documents: int
    vocab_size: int
    sample: int
    """Bytes of text, at most, but for the last document."""
    bound: int
    """The largest hash of the sample."""
    parts: tuple[DocumentIds, ...]
    windows: Sums

    def __add__(self, other: ContextState) -> ContextState:  # type: ignore[override]
        bound = np.uint64(min(self.bound, other.bound))
        parts = self.parts + tuple(part.chosen(part.hashes <= bound) for part in other.parts)
        if len(parts) > _WAITING:
            parts = (DocumentIds.joined(parts).first(self.sample),)
            if parts[0].sizes.sum() >= self.sample:
                bound = parts[0].hashes.max()
        documents, windows = self.documents + other.documents, self.windows + other.windows
        return ContextState(documents, self.vocab_size, self.sample, int(bound), parts, windows)

    def drawn(self) -> DocumentIds:
        return DocumentIds.joined(self.parts).first(self.sample)


class ContextMetric(SummedMetric):
    """The text metric."""

    _options: ContextOptions

    def map(self, encoded: EncodedShard) -> ContextState:
        sample = self._options.sample
        drawn = DocumentIds.of(encoded, sample).first(sample)
        vocab_size = vocab_size_of(encoded.tokenizer)
        return ContextState(len(encoded.shard), vocab_size, sample, _NO_BOUND, (drawn,), self._windows(encoded))

    def _windows(self, encoded: EncodedShard) -> Sums:
        window, stride = self._options.window, self._options.stride
        kinds, tokens = (np.zeros(len(encoded.shard), dtype=np.int64) for _ in range(2))
        for k in np.flatnonzero(encoded.tokens >= window).tolist():
            ids = encoded.ids[encoded.offsets[k] : encoded.offsets[k + 1]]
            starts = range(0, len(ids) - window + 1, stride)
            kinds[k] = sum(len(np.unique(ids[start : start + window])) for start in starts)
            tokens[k] = window * len(starts)
        with_window = (encoded.tokens >= window).astype(np.int64)
        return Sums.of(encoded.shard, kinds=kinds, tokens=tokens, documents=with_window)

    def finish(self, state: ContextState) -> Mapping[str, Measured | NotApplicable]:
        drawn = state.drawn()
        pairs, triples = (NgramCounts.of(drawn, length, state.vocab_size) for length in (2, 3))
        statistics = {
            "bigram_entropy": pairs.successor_entropy() if pairs else None,
            "trigram_entropy": triples.successor_entropy() if triples else None,
            "accessor_variety": pairs.accessor_variety() if pairs else None,
        }
        lacking = NotApplicable(f"no context occurs {_LEAST} times")
        values: dict[str, Measured | NotApplicable] = {
            name: lacking if value is None else Measured(value, len(drawn.hashes)) for name, value in statistics.items()
        }
        if triples is None:
            values["trigram_entropy"] = NotApplicable("three ids of so large a vocabulary do not fit into a key")
        if statistics["accessor_variety"] is None:
            values["accessor_variety"] = NotApplicable("no document has two tokens")
        short = f"no document has {self._options.window:,} tokens; set 'window' of context to fewer"
        return values | declared(SPEC.values, state.windows, Basis("documents", short))


_value = partial(Metric, direction="none", no_interval=DEPENDS_ON_AMOUNT)

_EVEN: Final = (
    "0 if every context has one successor, 1 if all its successors are equally frequent (Poelman and others 2025). "
    "Contexts that occur less than three times are left out; no n-gram reaches from one document into another. Little "
    "text has few frequent contexts; of more than 1 MB of a group, documents are drawn by hash ('sample')."
)

SPEC: Final = MetricFamily(
    name="context",
    summary="entropy of what follows a token, accessor variety, moving type-token ratio",
    text=ContextMetric,
    options=ContextOptions,
    values=(
        _value("bigram_entropy", "share of the maximum", label="bigram entropy").means(
            "Σ n_t H(successors of t) / log2(different successors of t) / Σ n_t, over ids t with n_t ≥ 3",
            f"Evenness of the ids that follow an id: {_EVEN}",
        ),
        _value("trigram_entropy", "share of the maximum", label="trigram entropy").means(
            "Σ n_t H(successors of t) / log2(different successors of t) / Σ n_t, over pairs of ids t with n_t ≥ 3",
            f"Evenness of the ids that follow two ids: {_EVEN}",
        ),
        _value("accessor_variety", "ids", label="accessor variety").means(
            "Σ over distinct ids of min(distinct ids before it, distinct ids after it) / distinct ids",
            "Different neighbours of an id, on the side where it has fewer (Feng and others 2004): pieces of words "
            "have few, words have many. It grows with the amount of text, up to 1 MB of a group ('sample').",
        ),
        Metric("mattr", "share of tokens", "none", of=("kinds", "tokens"), label="moving type-token ratio").means(
            "Σ over windows of distinct ids / Σ over windows of tokens; windows of 2,000 tokens, one every 1,000",
            "Type-token ratio of windows of one size (Covington and McFall 2010), which does not depend on the "
            "amount of text. Windows lie inside documents, so that short documents have none.",
        ),
    ),
)
