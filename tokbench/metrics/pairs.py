"""The family ``pairs``: significant differences between every two tokenizers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import CorpusOutcome, CorpusStates, Measured, Metric, NotApplicable, Role
from tokbench.measuring.plan import DESIGNED
from tokbench.measuring.sums import PairedSums, Sums, compared_sums
from tokbench.results.blocks import PairComparison
from tokbench.results.cells import WHOLE
from tokbench.statistics.jackknife import LEAST_UNITS, holm, leave_out, spread, too_few

_LEVEL = 0.05


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
            tested = _corrected(list(_differences(states.corpus, group, compared)), compared)
            behind = Counter(pair.other for pair in tested if pair.differ)
            for name, reason in reasons.items():
                documents = states.groups[group] if group != WHOLE else sum(states.groups.values())
                rank = NotApplicable(reason) if reason else Measured(1 + behind[name], documents)
                values[name, group] = {"rank": rank}
            pairs += tested
        return CorpusOutcome(values, pairs)


def _untrusted(states: CorpusStates, sums: Sums) -> str:
    if states.designed:
        return DESIGNED
    used = sums.columns["tokens"] > 0
    units = int(used.sum())
    return too_few(units, int(sums.units.documents[used].sum())) if units < LEAST_UNITS else ""


def _corrected(pairs: Sequence[PairComparison], sums: Mapping[str, Sums]) -> list[PairComparison]:
    units = {name: own_sums.columns["tokens"].tobytes() for name, own_sums in sums.items()}
    hypotheses = [frozenset({units[pair.tokenizer], units[pair.other]}) for pair in pairs]
    tested = {hypothesis: pair.p for hypothesis, pair in zip(hypotheses, pairs, strict=True) if len(hypothesis) > 1}
    corrected = dict(zip(tested, holm(list(tested.values())), strict=True))
    found = ((pair, corrected.get(hypothesis, 1.0)) for hypothesis, pair in zip(hypotheses, pairs, strict=True))
    return [replace(pair, p_holm=p, differ=p <= _LEVEL) for pair, p in found]


def _differences(corpus: str, group: str, sums: dict[str, Sums]) -> Iterator[PairComparison]:
    order = sorted(sums, key=lambda name: float(sums[name].columns["tokens"].sum()))
    for one, other in combinations(order, 2):
        paired = sums[one].paired(sums[other])
        above, below = paired.one.columns["tokens"], paired.other.columns["tokens"]
        ratio = float(above.sum() / below.sum())
        deviation = spread(leave_out(above, below), paired.units)
        low = high = None
        if deviation is None or not deviation.error:  # the same ratio in every unit
            p = 1.0 if ratio == 1 else 0.0
        else:
            low, high = (end - 1 for end in deviation.around(ratio))
            p = deviation.p_value(ratio - 1)
        yield PairComparison(
            corpus=corpus,
            group=group,
            tokenizer=one,
            other=other,
            tokens=(int(above.sum()), int(below.sum())),
            difference=ratio - 1,
            ci_low=low,
            ci_high=high,
            n=sums[one].documents,
            p=p,
        )


SPEC: Final = MetricFamily(
    name="pairs",
    summary="which of two tokenizers needs fewer tokens, and by how much; ranks with ties",
    text=PairsMetric,
    values=(
        Metric("rank", "rank", "lower", role=Role.RANK).means(
            "1 + tokenizers that need significantly fewer tokens",
            "Rank by number of tokens; 1 if no tokenizer needs significantly fewer. Every two tokenizers are compared "
            "on the same documents by a paired jackknife. Holm's correction over all pairs of a group, in which "
            "copies count once, keeps false differences to at most 1 group in 20. A tokenizer that loses too much "
            "text in a group has no rank there. Where documents are too few for intervals, no tokenizer has one.",
        ),
    ),
)
