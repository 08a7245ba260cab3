"""The family ``pairs``: significant differences between every two tokenizers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import CorpusOutcome, CorpusStates, Measured, Metric, NotApplicable, Role
from tokbench.measuring.plan import DESIGNED
from tokbench.measuring.sums import PairedSums, Sums, compared_sums
from tokbench.results.blocks import PairComparison
from tokbench.results.cells import WHOLE
from tokbench.statistics.jackknife import LEAST_UNITS, too_few
from tokbench.statistics.standings import GroupNumber, StandingSums, Verdict, corrected, gap, places, verdicts


class PairsMetric(PairedSums):
    """The corpus metric."""

    def finish_corpus(self, states: CorpusStates) -> CorpusOutcome:
        values: dict[tuple[str, str], dict[str, Measured | NotApplicable]] = {}
        pairs: list[PairComparison] = []
        for group in [*states.groups, WHOLE]:
            known = compared_sums(states, group)
            reasons = {
                name: sums if isinstance(sums, str) else _untrusted(states, sums) for name, sums in known.items()
            }
            compared = {n: sums for n, sums in known.items() if not isinstance(sums, str) and not reasons[n]}
            ranks = places({name: [_number(sums)] for name, sums in compared.items()}, margin=states.margin)
            for name, reason in reasons.items():
                documents = states.groups[group] if group != WHOLE else sum(states.groups.values())
                rank = NotApplicable(reason) if reason else Measured(ranks[name], documents)
                values[name, group] = {"rank": rank}
            pairs += _differences(states.corpus, group, compared)
        return CorpusOutcome(values, pairs)


def _untrusted(states: CorpusStates, sums: Sums) -> str:
    if states.designed:
        return DESIGNED
    used = sums.columns["tokens"] > 0
    units = int(used.sum())
    return too_few(units, int(sums.units.documents[used].sum())) if units < LEAST_UNITS else ""


def _number(sums: Sums) -> GroupNumber:
    """Return characters per token, as all are of the same text."""
    above, below = sums.columns["characters"], sums.columns["tokens"]
    return GroupNumber(float(above.sum() / below.sum()), sums=StandingSums(above=above, below=below, units=sums.units))


def _differences(corpus: str, group: str, sums: dict[str, Sums]) -> Iterator[PairComparison]:
    """Yield all pairs, the one with fewer tokens first."""
    tokens = {name: int(own_sums.columns["tokens"].sum()) for name, own_sums in sums.items()}
    numbers = {name: _number(own_sums) for name, own_sums in sums.items()}
    pairs = list(combinations(sorted(sums, key=tokens.__getitem__), 2))
    gaps = [gap(numbers[other], numbers[one]) for one, other in pairs]
    tested = zip(pairs, gaps, corrected(gaps), verdicts(gaps, 0.0), strict=True)
    for (one, other), found, p_holm, verdict in tested:
        certain = found.low == found.high  # the same ratio in every unit
        yield PairComparison(
            corpus=corpus,
            group=group,
            tokenizer=one,
            other=other,
            tokens=(tokens[one], tokens[other]),
            difference=found.more,
            ci_low=None if certain else found.low,
            ci_high=None if certain else found.high,
            n=sums[one].documents,
            p=1.0 if found.p is None else found.p,
            p_holm=1.0 if p_holm is None else p_holm,
            differ=verdict is Verdict.BEHIND,
        )


SPEC: Final = MetricFamily(
    name="pairs",
    summary="which of two tokenizers needs fewer tokens, and by how much; ranks with ties",
    text=PairsMetric,
    values=(
        Metric("rank", "rank", "lower", role=Role.RANK).means(
            "1 + tokenizers with a better rank, copies counted once",
            "Rank by number of tokens. The tokenizer with the fewest has rank 1, and so has every tie: it "
            "needs less than `practical_margin` more, or not significantly more, by a paired jackknife on the same "
            "documents and Holm's correction over all comparisons with the first. The best of the others has the next "
            "rank, with its ties. A tokenizer that loses too much text in a group has no rank there. Where documents "
            "are too few for intervals, no tokenizer has one.",
        ),
    ),
)
