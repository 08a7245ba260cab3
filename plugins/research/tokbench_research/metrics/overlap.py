"""The family ``overlap``: the part of a vocabulary that groups share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.shards import BUCKETS
from tokbench.measuring.token_counts import DEPENDS_ON_AMOUNT, TokenCounts
from tokbench.plugin.metrics import (
    WHOLE,
    CorpusOutcome,
    CorpusStates,
    EncodedShard,
    Measured,
    Metric,
    MetricFamily,
    NotApplicable,
    SummedMetric,
    interval,
)
from tokbench.results.blocks import PairMatrix

_DIVERGENCE: Final = "language_divergence"
_NOISE: Final = "language_divergence_noise"
_SHARED: Final = "shared_ids"
_GROUPS: Final = "groups_per_id"

_ALONE: Final = (
    "the corpus has one group with tokens; a comparison needs two: make the texts groups of one corpus, for example "
    "with path: 'texts/*.txt' and group: '{stem}'"
)
_MEAN: Final = "it is a mean over pairs of groups; overlap.csv has the interval of each pair"


def jensen_shannon(
    one: NDArray[np.float64], other: NDArray[np.float64], n_one: NDArray[np.float64], n_other: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the Jensen-Shannon divergence in bits: 0 for equal distributions, 1 if they share nothing.

    JSD = H((p + q) / 2) - (H(p) + H(q)) / 2 (Lin 1991, "Divergence measures based on the Shannon entropy")
    = 1 - (Σ p log2(1 + q / p) + q log2(1 + p / q)) / 2 over the common ids alone, whose counts are float64[..., k];
    ``n_one`` and ``n_other`` count all ids.

    Of "a a b c" and "a b b d", p and q of a and b are (2/4, 1/4) and (1/4, 2/4):

    >>> jensen_shannon(np.array([2.0, 1]), np.array([1.0, 2]), np.array(4.0), np.array(4.0)).round(4).item()
    0.3113
    >>> jensen_shannon(np.array([3.0, 1]), np.array([6.0, 2]), np.array(4.0), np.array(8.0)).item()
    0.0
    """
    p, q = one / n_one[..., None], other / n_other[..., None]

    def share(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
        ratio = np.divide(b, a, out=np.zeros_like(a), where=a > 0)
        return np.asarray((a * np.log2(1 + ratio)).sum(axis=-1))

    return np.clip(1 - (share(p, q) + share(q, p)) / 2, 0.0, 1.0)


class _Group:
    def __init__(self, state: TokenCounts) -> None:
        self.documents = state.documents
        table = state.joined()
        ids, self._buckets = np.divmod(table.keys.astype(np.int64), BUCKETS)
        self.ids, self._entry = np.unique(ids, return_inverse=True)
        self._counts = table.counts.astype(np.float64)
        self.by_bucket = np.bincount(self._buckets, weights=self._counts, minlength=BUCKETS)
        self.tokens = float(self.by_bucket.sum())

    def table(self, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return float64[BUCKETS, k]."""
        column = np.full(len(self.ids), -1)
        column[places] = np.arange(len(places))
        at = column[self._entry]
        kept = at >= 0
        cells = self._buckets[kept] * len(places) + at[kept]
        flat = np.bincount(cells, weights=self._counts[kept], minlength=BUCKETS * len(places))
        return flat.reshape(BUCKETS, len(places)).astype(np.float64)

    @cached_property
    def noise(self) -> float | None:
        table = self.table(np.arange(len(self.ids)))
        halves = [(table[k::2].sum(axis=0), np.asarray(self.by_bucket[k::2].sum())) for k in (0, 1)]
        (one, n_one), (other, n_other) = halves
        return float(jensen_shannon(one, other, n_one, n_other)) if n_one and n_other else None


class _Pair(NamedTuple):
    divergence: float
    low: float | None
    high: float | None
    shared: float

    @classmethod
    def of(cls, one: _Group, other: _Group) -> _Pair:
        _, at_one, at_other = np.intersect1d(one.ids, other.ids, assume_unique=True, return_indices=True)
        shared = len(at_one) / (len(one.ids) + len(other.ids) - len(at_one))
        tables = one.table(at_one), other.table(at_other)
        totals = [table.sum(axis=0) for table in tables]
        value = float(jensen_shannon(totals[0], totals[1], np.array(one.tokens), np.array(other.tokens)))
        used = (one.by_bucket > 0) | (other.by_bucket > 0)
        rest = [np.asarray(group.tokens - group.by_bucket, dtype=np.float64) for group in (one, other)]
        used &= (rest[0] > 0) & (rest[1] > 0)
        without = [total - table[used] for total, table in zip(totals, tables, strict=True)]
        left_out = jensen_shannon(without[0], without[1], rest[0][used], rest[1][used])
        ends = interval(value, left_out)
        high = None if ends.high is None else min(1.0, ends.high)
        return cls(value, ends.low, high, shared)


class OverlapMetric(SummedMetric):
    """The corpus metric."""

    def map(self, encoded: EncodedShard) -> TokenCounts:
        return TokenCounts.of(encoded)

    def finish_corpus(self, states: CorpusStates) -> CorpusOutcome:
        values: dict[tuple[str, str], Mapping[str, Measured | NotApplicable]] = {}
        matrices: list[PairMatrix] = []
        for name in states.tokenizers:
            known = {group: states.states[name, group] for group in states.groups if (name, group) in states.states}
            filled = {group: state for group, state in known.items() if len(state.joined().counts)}
            if len(filled) < 2:  # noqa: PLR2004 - there is nothing to compare with
                for group in [*states.groups, WHOLE]:
                    values[name, group] = _nothing(_ALONE if group in (WHOLE, *filled) else f"{group} has no tokens")
                continue
            compared = _Compared(filled)
            matrices += compared.matrices(states.corpus, name)
            for group in [*states.groups, WHOLE]:
                values[name, group] = compared.values(group)
        return CorpusOutcome(values, matrices=matrices)


def _nothing(reason: str) -> Mapping[str, Measured | NotApplicable]:
    return {value.id: NotApplicable(reason) for value in VALUES}


class _Compared:
    def __init__(self, states: Mapping[str, TokenCounts]) -> None:
        groups = {group: _Group(state) for group, state in states.items()}
        self._groups = groups
        self._pairs = {(a, b): _Pair.of(groups[a], groups[b]) for a, b in combinations(groups, 2)}
        every = [tokens.ids for tokens in groups.values()]
        self._ids, self._spread = np.unique(np.concatenate(every), return_counts=True)

    def values(self, group: str) -> Mapping[str, Measured | NotApplicable]:
        if group != WHOLE and group not in self._groups:
            return _nothing(f"{group} has no tokens")
        documents = sum(tokens.documents for tokens in self._groups.values())
        pairs = [pair for names, pair in self._pairs.items() if group in (WHOLE, *names)]
        some = self._groups.values() if group == WHOLE else [self._groups[group]]
        noises = [tokens.noise for tokens in some if tokens.noise is not None]
        spread = self._spread if group == WHOLE else self._spread[np.searchsorted(self._ids, self._groups[group].ids)]
        values: dict[str, Measured | NotApplicable] = {
            _DIVERGENCE: Measured(_mean([pair.divergence for pair in pairs]), documents),
            _NOISE: NotApplicable("the documents cannot be halved: all are in one half of the jackknife groups"),
            _SHARED: Measured(_mean([pair.shared for pair in pairs]), documents),
            _GROUPS: Measured(float(spread.mean()), documents),
        }
        if noises:
            values[_NOISE] = Measured(_mean(noises), documents)
        return values

    def matrices(self, corpus: str, tokenizer: str) -> list[PairMatrix]:
        names = list(self._groups)
        rows = [[self._pairs[names[column], names[row]] for column in range(row)] for row in range(len(names))]
        own = [self._groups[name].noise for name in names]
        matrix = partial(PairMatrix, corpus=corpus, of="groups", within=tokenizer, names=names)
        divergence: list[list[float | None]] = [
            [*(pair.divergence for pair in row), noise] for row, noise in zip(rows, own, strict=True)
        ]
        return [
            matrix(
                metric=_DIVERGENCE,
                values=divergence,
                ci_low=[[*(pair.low for pair in row), None] for row in rows],
                ci_high=[[*(pair.high for pair in row), None] for row in rows],
            ),
            matrix(metric=_SHARED, values=[[*(pair.shared for pair in row), 1.0] for row in rows], likeness=True),
        ]


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)


_PAIRS: Final = (
    "The value of a group is the mean over the other groups, and of the whole corpus the mean over all pairs; the "
    "report has a map of the pairs, and overlap.csv every pair."
)

VALUES: Final = (
    Metric(_DIVERGENCE, "bits", "none", label="divergence from others", no_interval=_MEAN).means(
        "mean over pairs of groups of H((p + q) / 2) - (H(p) + H(q)) / 2, p and q the shares of ids, H in bits",
        "Jensen-Shannon divergence (Lin 1991) of the tokens of two groups: 0 if they use the same ids equally "
        "often, 1 if they have no id in common. Little text makes it larger, as rare ids are in one of two samples "
        f"by chance; {_NOISE} says by how much. {_PAIRS}",
    ),
    Metric(_NOISE, "bits", "none", label="divergence from itself", no_interval=DEPENDS_ON_AMOUNT).means(
        "H((p + q) / 2) - (H(p) + H(q)) / 2, p and q the shares of ids in two halves of the documents",
        "Jensen-Shannon divergence of two halves of one group, drawn by the hash of the documents: 0 with unlimited "
        "text. Two groups that do not diverge by more may be samples of one. Halves have half the text, so it is "
        "rather too high. It is the diagonal of the map.",
    ),
    Metric(_SHARED, "share of ids", "none", label="ids shared with others", no_interval=DEPENDS_ON_AMOUNT).means(
        "mean over pairs of groups of ids in both / ids in either",
        f"Share of the ids of two groups that both use, often or once; it grows with the text. {_PAIRS}",
    ),
    Metric(_GROUPS, "groups/id", "none", label="groups an id serves", no_interval=DEPENDS_ON_AMOUNT).means(
        "Σ over ids in the text of groups in which the id occurs / ids in the text",
        "Groups in which an id occurs, from 1 to all of them, as a mean over the ids that the group or the corpus "
        "uses. Where groups are languages, these are languages per token.",
    ),
)

SPEC: Final = MetricFamily(
    name="overlap",
    summary="which groups share a vocabulary: divergence of their tokens, shared ids, groups per id, by pair",
    text=OverlapMetric,
    values=VALUES,
)
