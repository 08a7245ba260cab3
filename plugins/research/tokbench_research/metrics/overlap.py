"""The family ``overlap``: the part of a vocabulary that groups share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.shards import BUCKETS
from tokbench.plugin.metrics import (
    DEPENDS_ON_AMOUNT,
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
    TokenCounts,
    interval,
)
from tokbench_research.pairs import Numbers, PairPlace, Pairs

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


def _compared(one: _Group, other: _Group, documents: int) -> Numbers:
    _, at_one, at_other = np.intersect1d(one.ids, other.ids, assume_unique=True, return_indices=True)
    shared = len(at_one) / (len(one.ids) + len(other.ids) - len(at_one))
    tables = one.table(at_one), other.table(at_other)
    totals = [table.sum(axis=0) for table in tables]
    value = float(jensen_shannon(totals[0], totals[1], np.array(one.tokens), np.array(other.tokens)))
    used = (one.by_bucket > 0) | (other.by_bucket > 0)
    rest = [np.asarray(group.tokens - group.by_bucket, dtype=np.float64) for group in (one, other)]
    used &= (rest[0] > 0) & (rest[1] > 0)
    without = [total - table[used] for total, table in zip(totals, tables, strict=True)]
    ends = interval(value, jensen_shannon(without[0], without[1], rest[0][used], rest[1][used]))
    high = None if ends.high is None else min(1.0, ends.high)
    return {_DIVERGENCE: Measured(value, documents, ends.low, high), _SHARED: Measured(shared, documents)}


class OverlapMetric(SummedMetric):
    """The corpus metric."""

    def map(self, encoded: EncodedShard) -> TokenCounts:
        return TokenCounts.of(encoded)

    def finish_corpus(self, states: CorpusStates) -> CorpusOutcome:
        values: dict[tuple[str, str], Mapping[str, Measured | NotApplicable]] = {}
        matrices: list[PairMatrix] = []
        for name in states.tokenizers:
            known = {group: states.states[name, group] for group in states.groups if (name, group) in states.states}
            groups = {group: _Group(state) for group, state in known.items() if len(state.joined().counts)}
            for group in [*states.groups, WHOLE]:
                reason = _ALONE if group in (WHOLE, *groups) else f"{group} has no tokens"
                values[name, group] = {value.id: NotApplicable(reason) for value in VALUES}
            if len(groups) > 1:
                documents = sum(group.documents for group in groups.values())
                pairs = Pairs.of(groups, partial(_compared, documents=documents))
                values |= {(name, group): _values(groups, pairs, group) for group in [*groups, WHOLE]}
                place = PairPlace(states.corpus, "groups", name)
                matrices += pairs.matrix(_DIVERGENCE, place, [group.noise for group in groups.values()])
                matrices += pairs.matrix(_SHARED, place, [1.0] * len(groups))
        return CorpusOutcome(values, matrices=matrices)


def _values(groups: Mapping[str, _Group], pairs: Pairs, group: str) -> Numbers:
    documents = sum(each.documents for each in groups.values())
    some = groups.values() if group == WHOLE else [groups[group]]
    noises = [each.noise for each in some if each.noise is not None]
    ids, spread = np.unique(np.concatenate([each.ids for each in groups.values()]), return_counts=True)
    spread = spread if group == WHOLE else spread[np.searchsorted(ids, groups[group].ids)]
    halved = NotApplicable("the documents cannot be halved: all are in one half of the jackknife groups")
    one = "" if group == WHOLE else group
    return {
        _DIVERGENCE: pairs.mean(_DIVERGENCE, one),
        _NOISE: Measured(sum(noises) / len(noises), documents) if noises else halved,
        _SHARED: pairs.mean(_SHARED, one),
        _GROUPS: Measured(float(spread.mean()), documents),
    }


_PAIRS: Final = (
    "The value of a group is the mean over the other groups, and of the whole corpus the mean over all pairs; "
    "overlap.csv has every pair."
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
        "rather too high.",
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
