"""The family ``agreement``: how alike two tokenizers cut text, and their common vocabulary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.measuring.sums import merged
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
    SummedMetric,
    Sums,
)
from tokbench.results.blocks import PairMatrix
from tokbench_research.document_sample import document_hashes, first_by_hash, hashes_of

_F1: Final = "boundary_agreement"
_TOKENS: Final = "token_overlap"
_VOCABULARY: Final = "vocabulary_overlap"

_SKETCH: Final = 1 << 13
"""Hashes kept of a vocabulary, for an error of at most 0.6 points."""

_SAMPLE: Final = 1 << 20
"""Bytes of text of a group whose boundaries are kept; of more text the documents are drawn by hash."""

_LARGEST: Final = 1 << 20

_MEAN: Final = "it is a mean over pairs of tokenizers; agreement.csv has the interval of each pair"
_BITS: Final = np.array([number.bit_count() for number in range(256)], dtype=np.int64)


class SampledBoundaries(NamedTuple):
    """Token boundaries of documents with the smallest hashes."""

    hashes: NDArray[np.uint64]
    """Rising."""
    sizes: NDArray[np.int64]
    keys: NDArray[np.int64]
    aligned: NDArray[np.bool_]
    bits: NDArray[np.uint8]
    """A bit for each byte, set where a token begins inside a document; documents begin at a new byte."""

    @classmethod
    def of(cls, encoded: EncodedShard) -> SampledBoundaries:
        shard = encoded.shard
        hashes = document_hashes(shard)
        marks = np.zeros(shard.total_bytes + 1, dtype=np.uint8)
        marks[encoded.boundaries] = 1
        marks[shard.byte_offsets] = 0
        taken = first_by_hash(hashes, shard.n_bytes, _SAMPLE, ties=shard.unit_keys)
        spans = [marks[shard.byte_offsets[k] : shard.byte_offsets[k + 1]] for k in taken.tolist()]
        bits = np.concatenate([np.packbits(span) for span in spans]) if spans else np.empty(0, dtype=np.uint8)
        aligned = encoded.token_ends.aligned[taken]
        return cls(hashes[taken], shard.n_bytes[taken], shard.unit_keys[taken], aligned, bits)

    def joined(self, other: SampledBoundaries) -> SampledBoundaries:
        """Return the first documents of both by hash."""
        hashes = np.concatenate([self.hashes, other.hashes])
        sizes = np.concatenate([self.sizes, other.sizes])
        keys = np.concatenate([self.keys, other.keys])
        aligned = np.concatenate([self.aligned, other.aligned])
        bits = np.concatenate([self.bits, other.bits])
        taken = first_by_hash(hashes, sizes, _SAMPLE, ties=keys)
        widths = -(-sizes // 8)
        starts = np.cumsum(widths) - widths
        kept = [bits[start : start + width] for start, width in zip(starts[taken], widths[taken], strict=True)]
        joined = np.concatenate(kept) if kept else bits[:0]
        return SampledBoundaries(hashes[taken], sizes[taken], keys[taken], aligned[taken], joined)

    def compared(self, other: SampledBoundaries) -> Sums:
        both = self.aligned & other.aligned
        widths = -(-self.sizes // 8)
        document = np.repeat(np.arange(len(self.sizes)), widths)

        def count(bits: NDArray[np.uint8]) -> NDArray[np.int64]:
            counted = np.bincount(document, weights=_BITS[bits], minlength=len(self.sizes)).astype(np.int64)
            return np.where(both, counted, 0)

        common, one, two = count(self.bits & other.bits), count(self.bits), count(other.bits)
        sums = Sums.by_key(self.keys, common=2 * common, all=one + two)
        return Sums(int(both.sum()), sums.columns, sums.units)


class AgreementState(NamedTuple):
    """The state of a group."""

    boundaries: SampledBoundaries
    tokens: NDArray[np.uint64]
    """Hashes of the tokens that occur; empty without bytes of tokens."""
    counts: NDArray[np.int64]
    vocabulary: NDArray[np.uint64]
    """The smallest hashes of all tokens, rising; empty if unknown."""

    def __add__(self, other: AgreementState) -> AgreementState:  # type: ignore[override]
        return AgreementState(
            self.boundaries.joined(other.boundaries),
            *add_counts(self.tokens, self.counts, other.tokens, other.counts),
            _joined_sketch(self.vocabulary, other.vocabulary),
        )


def _joined_sketch(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return one if np.array_equal(one, other) else np.union1d(one, other)[:_SKETCH]


class TokenTable(NamedTuple):
    """The tokens of a text."""

    tokens: NDArray[np.uint64]
    """Hashes, rising."""
    counts: NDArray[np.int64]


def shared_counts(one: TokenTable, other: TokenTable) -> float:
    """Return Σ min(p, q), which is 1 - the total variation distance.

    >>> one = TokenTable(np.array([1, 2, 3]), np.array([2, 1, 1]))
    >>> shared_counts(one, TokenTable(np.array([1, 2, 4]), np.array([1, 1, 2])))  # min(2/4, 1/4) + min(1/4, 1/4)
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
        tokenizer = encoded.tokenizer
        tokens, counts = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
        if isinstance(tokenizer, HasTokenBytes):
            ids, occurrences = np.unique(encoded.ids, return_counts=True)
            keys = hashes_of([tokenizer.token_bytes(token) for token in ids.tolist()])
            # Several ids may have the same bytes.
            tokens, at = np.unique(keys, return_inverse=True)
            counts = np.bincount(at, weights=occurrences, minlength=len(tokens)).astype(np.int64)
        vocabulary = encoded.loaded.cached("hashes of tokens", _vocabulary)
        return AgreementState(SampledBoundaries.of(encoded), tokens, counts, vocabulary)

    def finish_corpus(self, states: CorpusStates) -> CorpusOutcome:
        values: dict[tuple[str, str], Mapping[str, Measured | NotApplicable]] = {}
        matrices: list[PairMatrix] = []
        for group in [*states.groups, WHOLE]:
            of = {name: merged(states, name, group) for name in states.tokenizers}
            known = {name: state for name, state in of.items() if state}
            tables = {
                name: TokenTable(state.tokens, state.counts) for name, state in known.items() if len(state.tokens)
            }
            pairs: dict[tuple[str, str], _Numbers] = {}
            for one, other in combinations(known, 2):
                sums = known[one].boundaries.compared(known[other].boundaries)
                vocabulary = sketched_jaccard(known[one].vocabulary, known[other].vocabulary)
                pairs[one, other] = _compared(sums, tables.get(one), tables.get(other), vocabulary)
            matrices += _matrices(states.corpus, group, list(known), pairs)
            for name in states.tokenizers:
                own = [numbers for names, numbers in pairs.items() if name in names]
                values[name, group] = {metric: _mean(metric, own) for metric in _NAMES}
        return CorpusOutcome(values, matrices=matrices)


_Numbers = Mapping[str, Measured | NotApplicable]
_Pairs = Mapping[tuple[str, str], _Numbers]


def _vocabulary(tokenizer: Tokenizer) -> NDArray[np.uint64]:
    if not isinstance(tokenizer, HasTokenBytes) or tokenizer.vocab_size > _LARGEST:
        return np.empty(0, dtype=np.uint64)
    data = filter(None, (tokenizer.token_bytes(token) for token in range(tokenizer.vocab_size)))
    return np.unique(hashes_of(data))[:_SKETCH]


def _compared(sums: Sums, one: TokenTable | None, other: TokenTable | None, vocabulary: float | None) -> _Numbers:
    numbers: dict[str, Measured | NotApplicable] = {
        _F1: sums.share("common", "all"),
        _TOKENS: NotApplicable(_NO_BYTES),
        _VOCABULARY: NotApplicable(f"{_NO_BYTES}, or has more than {_LARGEST:,} of them"),
    }
    if one and other:
        numbers[_TOKENS] = Measured(shared_counts(one, other), sums.documents)
    if vocabulary is not None:
        numbers[_VOCABULARY] = Measured(vocabulary, sums.documents)
    return numbers


_NO_BYTES: Final = "a tokenizer of the pair does not list the bytes of its tokens"


def _mean(metric: str, pairs: Sequence[_Numbers]) -> Measured | NotApplicable:
    measured = [number for pair in pairs if isinstance(number := pair[metric], Measured)]
    if measured:
        value = sum(number.value for number in measured) / len(measured)
        return Measured(value, min(number.n for number in measured))
    reasons = [number.reason for pair in pairs if isinstance(number := pair[metric], NotApplicable)]
    return NotApplicable(reasons[0] if reasons else "no other tokenizer to compare with")


def _matrices(corpus: str, group: str, names: list[str], pairs: _Pairs) -> list[PairMatrix]:
    matrix = partial(PairMatrix, corpus=corpus, of="tokenizers", within=group, names=names, likeness=True)
    matrices = []
    for metric in _NAMES if pairs else ():
        rows = [[pairs[names[column], names[row]][metric] for column in range(row)] for row in range(len(names))]
        known = [[number if isinstance(number, Measured) else None for number in row] for row in rows]
        if any(number for row in known for number in row):
            values: list[list[float | None]] = [[*(number and number.value for number in row), 1.0] for row in known]
            low: list[list[float | None]] = [[*(number and number.ci_low for number in row), None] for row in known]
            high: list[list[float | None]] = [[*(number and number.ci_high for number in row), None] for row in known]
            bounded = any(end is not None for row in low for end in row)
            matrices.append(
                matrix(metric=metric, values=values, ci_low=low if bounded else [], ci_high=high if bounded else [])
            )
    return matrices


_PAIRS: Final = (
    "The value of a tokenizer is the mean over the others of the run; the report has a map of the pairs, and "
    "agreement.csv every pair."
)
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
_NAMES: Final = tuple(value.id for value in VALUES)

SPEC: Final = MetricFamily(
    name="agreement",
    summary="how alike two tokenizers cut the same text, and the part of their vocabularies in common, by pair",
    text=AgreementMetric,
    values=VALUES,
)
