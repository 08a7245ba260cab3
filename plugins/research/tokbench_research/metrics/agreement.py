"""The family ``agreement``: how alike two tokenizers cut text, and their common vocabulary."""

from __future__ import annotations

from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin import HasTokenBytes, Tokenizer, metrics
from tokbench_research.document_sample import DocumentSample, hashes_of
from tokbench_research.pairs import Numbers, pair_means

_SKETCH: Final = 1 << 13
"""Hashes kept of a vocabulary, for an error of at most 0.6 points."""

_LARGEST: Final = 1 << 20

_NO_BYTES: Final = "a tokenizer of the pair does not list the bytes of its tokens"
_MEAN: Final = "it is a mean over pairs of tokenizers"
_ALONE: Final = metrics.NotApplicable("no other tokenizer to compare with")
_BITS: Final = np.array([number.bit_count() for number in range(256)], dtype=np.int64)


def _boundaries(encoded: metrics.EncodedShard) -> DocumentSample:
    """Keep a bit for each byte, set where a token begins inside a document; marked where tokens could be aligned."""
    shard = encoded.shard
    starts = np.zeros(shard.total_bytes + 1, dtype=np.uint8)
    starts[encoded.boundaries] = 1
    starts[shard.byte_offsets] = 0

    def bits(number: int) -> NDArray[np.uint8]:
        return np.packbits(starts[shard.byte_offsets[number] : shard.byte_offsets[number + 1]])

    return DocumentSample.of(shard, encoded.token_ends.aligned, bits)


class AgreementState(NamedTuple):
    """The state of a group."""

    boundaries: DocumentSample
    tokens: NDArray[np.uint64]
    """Hashes of the tokens that occur, rising; empty without bytes of tokens."""
    counts: NDArray[np.int64]
    vocabulary: NDArray[np.uint64]
    """The smallest hashes of all tokens, rising; empty if unknown."""

    @classmethod
    def of(cls, encoded: metrics.EncodedShard) -> AgreementState:
        tokenizer = encoded.tokenizer
        tokens, counts = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
        if isinstance(tokenizer, HasTokenBytes):
            ids, occurrences = np.unique(encoded.ids, return_counts=True)
            # Several ids may have the same bytes.
            tokens, at = np.unique(hashes_of(map(tokenizer.token_bytes, ids.tolist())), return_inverse=True)
            counts = np.bincount(at, weights=occurrences, minlength=len(tokens)).astype(np.int64)
        return cls(_boundaries(encoded), tokens, counts, encoded.loaded.cached("hashes of tokens", _vocabulary))

    def __add__(self, other: AgreementState) -> AgreementState:  # type: ignore[override]
        tokens, at = np.unique(np.concatenate([self.tokens, other.tokens]), return_inverse=True)
        counts = np.zeros(len(tokens), dtype=np.int64)
        np.add.at(counts, at, np.concatenate([self.counts, other.counts]))
        return AgreementState(self.boundaries + other.boundaries, tokens, counts, self.vocabulary)


def _vocabulary(tokenizer: Tokenizer) -> NDArray[np.uint64]:
    if not isinstance(tokenizer, HasTokenBytes) or tokenizer.vocab_size > _LARGEST:
        return np.empty(0, dtype=np.uint64)
    return np.unique(hashes_of(filter(None, map(tokenizer.token_bytes, range(tokenizer.vocab_size)))))[:_SKETCH]


def _compared(one: AgreementState, other: AgreementState) -> Numbers:
    """Compare boundaries in documents that are aligned in both, then tokens, then vocabularies."""
    both = one.boundaries.marks & other.boundaries.marks
    kept, n = both[one.boundaries.document], int(both.sum())
    bits, others = one.boundaries.data[kept], other.boundaries.data[kept]
    common, total = 2 * _BITS[bits & others].sum(), _BITS[bits].sum() + _BITS[others].sum()
    f1 = metrics.Measured(float(common / total), n) if total else metrics.NotApplicable("there are no boundaries")
    tokens: metrics.Measured | metrics.NotApplicable = metrics.NotApplicable(_NO_BYTES)
    if len(one.tokens) and len(other.tokens):
        tokens = metrics.Measured(shared_counts(one, other), n)
    entries = sketched_jaccard(one.vocabulary, other.vocabulary)
    large = metrics.NotApplicable(f"{_NO_BYTES}, or has more than {_LARGEST:,} of them")
    vocabulary = large if entries is None else metrics.Measured(entries, n)
    return {"boundary_agreement": f1, "token_overlap": tokens, "vocabulary_overlap": vocabulary}


def shared_counts(one: AgreementState, other: AgreementState) -> float:
    """Return Σ min(p, q) over tokens, p and q their shares: 1 - the total variation distance.

    >>> one = AgreementState(None, np.array([1, 2, 3]), np.array([2, 1, 1]), None)
    >>> other = AgreementState(None, np.array([1, 2, 4]), np.array([1, 1, 2]), None)
    >>> shared_counts(one, other)  # min(2/4, 1/4) + min(1/4, 1/4)
    0.5
    """
    _, own, others = np.intersect1d(one.tokens, other.tokens, assume_unique=True, return_indices=True)
    shares = one.counts[own] / one.counts.sum(), other.counts[others] / other.counts.sum()
    return float(sum(np.minimum(*shares).tolist()))


def sketched_jaccard(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> float | None:
    """Estimate the Jaccard index from the smallest hashes of the union (Broder 1997); smaller ones are exact.

    ``None`` if one of the two is unknown.

    >>> sketched_jaccard(np.array([1, 2, 3], dtype=np.uint64), np.array([2, 3, 4, 5], dtype=np.uint64))
    0.4
    """
    if not len(one) or not len(other):
        return None
    union = np.union1d(one, other)[:_SKETCH]
    both = np.isin(union, one, assume_unique=True) & np.isin(union, other, assume_unique=True)
    return float(both.mean())


class AgreementMetric(metrics.SummedMetric):
    """The corpus metric."""

    def map(self, encoded: metrics.EncodedShard) -> AgreementState:
        return AgreementState.of(encoded)

    def finish_corpus(self, states: metrics.CorpusStates) -> metrics.CorpusOutcome:
        values: dict[tuple[str, str], Numbers] = {}
        for group in [*states.groups, metrics.WHOLE]:
            known = {name: state for name in states.tokenizers if (state := states.merged(name, group))}
            means = pair_means(known, _compared)
            for name in states.tokenizers:
                values[name, group] = {value.id: means.get(name, {}).get(value.id, _ALONE) for value in SPEC.values}
        return metrics.CorpusOutcome(values)


_PAIRS: Final = (
    "The value of a tokenizer is the mean over the others of the run: with one other, as --only chooses, it is that of "
    "the pair."
)
_value = partial(metrics.Metric, direction="none", no_interval=_MEAN, needs=(HasTokenBytes,))

SPEC: Final = metrics.MetricFamily(
    name="agreement",
    summary="how alike two tokenizers cut the same text, and the part of their vocabularies in common",
    text=AgreementMetric,
    values=(
        _value(
            "boundary_agreement", "share of boundaries", label="boundaries shared (F1)", needs=metrics.TOKEN_PLACES
        ).means(
            "mean over the other tokenizers of 2 × boundaries of both / (boundaries of one + boundaries of the other)",
            "Agreement of two tokenizers on where tokens end: 1 if they always cut at the same places, 0 if they never "
            "do. Boundaries are byte positions strictly inside documents. Only documents whose tokens could be aligned "
            f"under both count, up to a megabyte of a group. {_PAIRS}",
        ),
        _value("token_overlap", "share of tokens", label="tokens shared").means(
            "mean over the other tokenizers of Σ over byte strings of min(p, q), p and q their shares of the tokens",
            f"Part of the tokens of the text that two tokenizers have in common, weighted by frequency. {_PAIRS}",
        ),
        _value("vocabulary_overlap", "share of entries", label="vocabulary shared").means(
            "mean over the other tokenizers of byte strings in both vocabularies / byte strings in either",
            "Jaccard index of two vocabularies, whatever the text; entries are compared by their bytes. A union of "
            f"more than {_SKETCH:,} entries is estimated from a sample of that size (Broder 1997), to 0.6 points "
            f"(standard error). {_PAIRS}",
        ),
    ),
)
