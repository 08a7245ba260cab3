"""The family ``overlap``: the part of a vocabulary that groups share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.shards import BUCKETS
from tokbench.plugin import metrics
from tokbench_research.pairs import Numbers, pair_means

_ALONE: Final = (
    "the corpus has one group with tokens; a comparison needs two: make the texts groups of one corpus, for example "
    "with path: 'texts/*.txt' and group: '{stem}'"
)
_MEAN: Final = "it is a mean over pairs of groups"


def jensen_shannon(one: NDArray[np.float64], other: NDArray[np.float64], n_one: float, n_other: float) -> float:
    """Return the Jensen-Shannon divergence in bits: 0 for equal distributions, 1 if they share nothing.

    JSD = H((p + q) / 2) - (H(p) + H(q)) / 2 (Lin 1991, "Divergence measures based on the Shannon entropy")
    = 1 - (Σ p log2(1 + q / p) + q log2(1 + p / q)) / 2 over the common ids alone, whose counts are float64[k];
    ``n_one`` and ``n_other`` count all ids.

    Of "a a b c" and "a b b d", p and q of a and b are (2/4, 1/4) and (1/4, 2/4):

    >>> round(jensen_shannon(np.array([2.0, 1]), np.array([1.0, 2]), 4, 4), 4)
    0.3113
    >>> jensen_shannon(np.array([3.0, 1]), np.array([6.0, 2]), 4, 8)
    0.0
    """
    p, q = one / n_one, other / n_other
    shares = [
        (a * np.log2(1 + np.divide(b, a, out=np.zeros_like(a), where=a > 0))).sum(axis=-1) for a, b in ((p, q), (q, p))
    ]
    return float(np.clip(1 - (shares[0] + shares[1]) / 2, 0.0, 1.0))


class GroupIds(NamedTuple):
    """The ids that occur in a group, and how often in either half of its documents."""

    documents: int
    ids: NDArray[np.int64]
    halves: NDArray[np.float64]

    @classmethod
    def of(cls, state: metrics.TokenCounts) -> GroupIds:
        table = state.joined()
        every, buckets = np.divmod(table.keys.astype(np.int64), BUCKETS)
        ids, entry = np.unique(every, return_inverse=True)
        places = entry + buckets % 2 * len(ids)
        halves = np.bincount(places, weights=table.counts.astype(np.float64), minlength=2 * len(ids))
        return cls(state.documents, ids, halves.reshape(2, -1).astype(np.float64))

    def noise(self) -> float | None:
        """Return the divergence of the halves; ``None`` if one is empty."""
        sums = self.halves.sum(axis=1)
        return jensen_shannon(*self.halves, *sums) if sums.all() else None


def _compared(one: GroupIds, other: GroupIds, documents: int) -> Numbers:
    _, at_one, at_other = np.intersect1d(one.ids, other.ids, assume_unique=True, return_indices=True)
    shared = len(at_one) / (len(one.ids) + len(other.ids) - len(at_one))
    counts = one.halves.sum(axis=0), other.halves.sum(axis=0)
    divergence = jensen_shannon(counts[0][at_one], counts[1][at_other], counts[0].sum(), counts[1].sum())
    return {
        "language_divergence": metrics.Measured(divergence, documents),
        "shared_ids": metrics.Measured(shared, documents),
    }


class OverlapMetric(metrics.SummedMetric):
    """The corpus metric."""

    def map(self, encoded: metrics.EncodedShard) -> metrics.TokenCounts:
        return metrics.TokenCounts.of(encoded)

    def finish_corpus(self, states: metrics.CorpusStates) -> metrics.CorpusOutcome:
        values: dict[tuple[str, str], Numbers] = {}
        for name in states.tokenizers:
            known = {group: states.states[name, group] for group in states.groups if (name, group) in states.states}
            groups = {group: GroupIds.of(state) for group, state in known.items() if len(state.joined().counts)}
            for group in [*states.groups, metrics.WHOLE]:
                reason = _ALONE if group in (metrics.WHOLE, *groups) else f"{group} has no tokens"
                values[name, group] = {value.id: metrics.NotApplicable(reason) for value in SPEC.values}
            if len(groups) > 1:
                documents = sum(group.documents for group in groups.values())
                means = pair_means(groups, partial(_compared, documents=documents))
                values |= {(name, group): {**means[group], **_alone(groups, group, documents)} for group in means}
        return metrics.CorpusOutcome(values)


def _alone(groups: Mapping[str, GroupIds], group: str, documents: int) -> Numbers:
    """Return what is not of pairs: the noise, and the groups of an id."""
    some = list(groups.values()) if group == metrics.WHOLE else [groups[group]]
    noises = [noise for each in some if (noise := each.noise()) is not None]
    ids, spread = np.unique(np.concatenate([each.ids for each in groups.values()]), return_counts=True)
    spread = spread if group == metrics.WHOLE else spread[np.searchsorted(ids, groups[group].ids)]
    halved = metrics.NotApplicable("the documents cannot be halved: all are in one half of the jackknife groups")
    return {
        "language_divergence_noise": metrics.Measured(sum(noises) / len(noises), documents) if noises else halved,
        "groups_per_id": metrics.Measured(float(spread.mean()), documents),
    }


_PAIRS: Final = (
    "The value of a group is the mean over the other groups, and of the whole corpus the mean over all pairs: with two "
    "groups it is that of the pair."
)

SPEC: Final = metrics.MetricFamily(
    name="overlap",
    summary="which groups share a vocabulary: divergence of their tokens, shared ids, groups per id",
    text=OverlapMetric,
    values=(
        metrics.Metric("language_divergence", "bits", "none", label="divergence from others", no_interval=_MEAN).means(
            "mean over pairs of groups of H((p + q) / 2) - (H(p) + H(q)) / 2, p and q the shares of ids, H in bits",
            "Jensen-Shannon divergence (Lin 1991) of the tokens of two groups: 0 if they use the same ids equally "
            "often, 1 if they have no id in common. Little text makes it larger, as rare ids are in one of two samples "
            f"by chance; language_divergence_noise says by how much. {_PAIRS}",
        ),
        metrics.Metric(
            "language_divergence_noise",
            "bits",
            "none",
            label="divergence from itself",
            no_interval=metrics.DEPENDS_ON_AMOUNT,
        ).means(
            "H((p + q) / 2) - (H(p) + H(q)) / 2, p and q the shares of ids in two halves of the documents",
            "Jensen-Shannon divergence of two halves of one group, drawn by the hash of the documents: 0 with "
            "unlimited text. Two groups that do not diverge by more may be samples of one. Halves have half the text, "
            "so it is rather too high.",
        ),
        metrics.Metric(
            "shared_ids", "share of ids", "none", label="ids shared with others", no_interval=metrics.DEPENDS_ON_AMOUNT
        ).means(
            "mean over pairs of groups of ids in both / ids in either",
            f"Share of the ids of two groups that both use, often or once; it grows with the text. {_PAIRS}",
        ),
        metrics.Metric(
            "groups_per_id", "groups/id", "none", label="groups an id serves", no_interval=metrics.DEPENDS_ON_AMOUNT
        ).means(
            "Σ over ids in the text of groups in which the id occurs / ids in the text",
            "Groups in which an id occurs, from 1 to all of them, as a mean over the ids that the group or the corpus "
            "uses. Where groups are languages, these are languages per token.",
        ),
    ),
)
