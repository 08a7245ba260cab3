"""The family ``agreement``: how alike two tokenizers cut text, and their common vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.measuring.token_counts import add_counts
from tokbench.plugin import HasTokenBytes, Tokenizer
from tokbench.plugin.metrics import (
    TOKEN_PLACES,
    WHOLE,
    CorpusOutcome,
    CorpusStates,
    EncodedShard,
    Measured,
    Metric,
    MetricFamily,
    NotApplicable,
    PairMatrix,
    SummedMetric,
    Sums,
)
from tokbench_research.document_sample import DocumentSample, hashes_of
from tokbench_research.pairs import Numbers, PairPlace, Pairs

_F1: Final = "boundary_agreement"
_TOKENS: Final = "token_overlap"
_VOCABULARY: Final = "vocabulary_overlap"

_SKETCH: Final = 1 << 13
"""Hashes kept of a vocabulary, for an error of at most 0.6 points."""

_LARGEST: Final = 1 << 20

_NO_BYTES: Final = "a tokenizer of the pair does not list the bytes of its tokens"
_MEAN: Final = "it is a mean over pairs of tokenizers; agreement.csv has the interval of each pair"
_BITS: Final = np.array([number.bit_count() for number in range(256)], dtype=np.int64)


def _boundaries(encoded: EncodedShard) -> DocumentSample:
    """Keep a bit for each byte, set where a token begins inside a document; marked where tokens could be aligned."""
    shard = encoded.shard
    starts = np.zeros(shard.total_bytes + 1, dtype=np.uint8)
    starts[encoded.boundaries] = 1
    starts[shard.byte_offsets] = 0

    def bits(number: int) -> NDArray[np.uint8]:
        return np.packbits(starts[shard.byte_offsets[number] : shard.byte_offsets[number + 1]])

    return DocumentSample.of(shard, encoded.token_ends.aligned, bits)


def _common(one: DocumentSample, other: DocumentSample) -> Sums:
    both = one.marks & other.marks

    def count(bits: NDArray[np.unsignedinteger]) -> NDArray[np.int64]:
        return np.where(both, np.bincount(one.document, weights=_BITS[bits], minlength=len(both)), 0).astype(np.int64)

    sums = Sums.by_key(one.keys, common=2 * count(one.data & other.data), all=count(one.data) + count(other.data))
    return Sums(int(both.sum()), sums.columns, sums.units)


class AgreementState(NamedTuple):
    """The state of a group."""

    boundaries: DocumentSample
    tokens: NDArray[np.uint64]
    """Hashes of the tokens that occur, rising; empty without bytes of tokens."""
    counts: NDArray[np.int64]
    vocabulary: NDArray[np.uint64]
    """The smallest hashes of all tokens, rising; empty if unknown."""

    @classmethod
    def of(cls, encoded: EncodedShard) -> AgreementState:
        tokenizer = encoded.tokenizer
        tokens, counts = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
        if isinstance(tokenizer, HasTokenBytes):
            ids, occurrences = np.unique(encoded.ids, return_counts=True)
            # Several ids may have the same bytes.
            tokens, at = np.unique(hashes_of(map(tokenizer.token_bytes, ids.tolist())), return_inverse=True)
            counts = np.bincount(at, weights=occurrences, minlength=len(tokens)).astype(np.int64)
        return cls(_boundaries(encoded), tokens, counts, encoded.loaded.cached("hashes of tokens", _vocabulary))

    def __add__(self, other: AgreementState) -> AgreementState:  # type: ignore[override]
        counts = add_counts(self.tokens, self.counts, other.tokens, other.counts)
        return AgreementState(self.boundaries + other.boundaries, *counts, self.vocabulary)

    def compared(self, other: AgreementState) -> Numbers:
        sums = _common(self.boundaries, other.boundaries)
        tokens = shared_counts(self, other) if len(self.tokens) and len(other.tokens) else None
        entries = sketched_jaccard(self.vocabulary, other.vocabulary)
        large = f"{_NO_BYTES}, or has more than {_LARGEST:,} of them"
        return {
            _F1: sums.share("common", "all"),
            _TOKENS: NotApplicable(_NO_BYTES) if tokens is None else Measured(tokens, sums.documents),
            _VOCABULARY: NotApplicable(large) if entries is None else Measured(entries, sums.documents),
        }


def _vocabulary(tokenizer: Tokenizer) -> NDArray[np.uint64]:
    if not isinstance(tokenizer, HasTokenBytes) or tokenizer.vocab_size > _LARGEST:
        return np.empty(0, dtype=np.uint64)
    return np.unique(hashes_of(filter(None, map(tokenizer.token_bytes, range(tokenizer.vocab_size)))))[:_SKETCH]


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


class AgreementMetric(SummedMetric):
    """The corpus metric."""

    def map(self, encoded: EncodedShard) -> AgreementState:
        return AgreementState.of(encoded)

    def finish_corpus(self, states: CorpusStates) -> CorpusOutcome:
        values: dict[tuple[str, str], Mapping[str, Measured | NotApplicable]] = {}
        matrices: list[PairMatrix] = []
        for group in [*states.groups, WHOLE]:
            known = {name: state for name in states.tokenizers if (state := states.merged(name, group))}
            pairs = Pairs.of(known, AgreementState.compared)
            place = PairPlace(states.corpus, "tokenizers", group)
            for value in VALUES:
                matrices += pairs.matrix(value.id, place, [1.0] * len(known))
            for name in states.tokenizers:
                values[name, group] = {value.id: pairs.mean(value.id, name) for value in VALUES}
        return CorpusOutcome(values, matrices=matrices)


_PAIRS: Final = "The value of a tokenizer is the mean over the others of the run; agreement.csv has every pair."
_PLACES: Final = (
    "Boundaries are byte positions strictly inside documents. Only documents whose tokens could be aligned under "
    f"both count, up to a megabyte of a group. {_PAIRS}"
)


_value = partial(Metric, direction="none", no_interval=_MEAN, needs=(HasTokenBytes,))

VALUES: Final = (
    _value(_F1, "share of boundaries", label="boundaries shared (F1)", needs=TOKEN_PLACES).means(
        "mean over the other tokenizers of 2 × boundaries of both / (boundaries of one + boundaries of the other)",
        "Agreement of two tokenizers on where tokens end: 1 if they always cut at the same places, 0 if they never "
        f"do. {_PLACES}",
    ),
    _value(_TOKENS, "share of tokens", label="tokens shared").means(
        "mean over the other tokenizers of Σ over byte strings of min(p, q), p and q their shares of the tokens",
        f"Part of the tokens of the text that two tokenizers have in common, weighted by frequency. {_PAIRS}",
    ),
    _value(_VOCABULARY, "share of entries", label="vocabulary shared").means(
        "mean over the other tokenizers of byte strings in both vocabularies / byte strings in either",
        "Jaccard index of two vocabularies, whatever the text; entries are compared by their bytes. A union of more "
        f"than {_SKETCH:,} entries is estimated from a sample of that size (Broder 1997), to 0.6 points (standard "
        f"error). {_PAIRS}",
    ),
)
SPEC: Final = MetricFamily(
    name="agreement",
    summary="how alike two tokenizers cut the same text, and the part of their vocabularies in common, by pair",
    text=AgreementMetric,
    values=VALUES,
)
