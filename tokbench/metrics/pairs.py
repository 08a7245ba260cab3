"""The family ``pairs``: significant differences in tokens between every two tokenizers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Final

from tokbench.plugin import (
    DESIGNED,
    LEAST_UNITS,
    WHOLE,
    CorpusOutcome,
    CorpusStates,
    Measured,
    Metric,
    MetricFamily,
    NotApplicable,
    PairComparison,
    PairedSums,
    Role,
    Sums,
    holm,
    leave_out,
    shortcoming,
    spread,
    sums_of,
    too_few,
)

_LEVEL = 0.05


class PairsMetric(PairedSums):
    """Compares every two tokenizers in every group, on the same sampling units."""

    def finish_corpus(self, states: CorpusStates) -> CorpusOutcome:
        """Return a rank for each tokenizer and group, and the differences on which it rests."""
        values: dict[tuple[str, str], dict[str, Measured | NotApplicable]] = {}
        pairs: list[PairComparison] = []
        for group in [*states.groups, WHOLE]:
            sums = {name: sums_of(states, name, group) for name in states.tokenizers}
            design = DESIGNED if states.designed else ""
            reasons = {name: shortcoming(name, known) or design or _untrusted(known) for name, known in sums.items()}
            compared = {name: own_sums for name, own_sums in sums.items() if own_sums and not reasons[name]}
            alone = list(_differences(states.corpus, group, compared))
            corrected = holm([pair.p for pair in alone])
            tested = [replace(pair, p_holm=p, differ=p <= _LEVEL) for pair, p in zip(alone, corrected, strict=True)]
            behind = Counter(pair.other for pair in tested if pair.differ)
            for name, reason in reasons.items():
                documents = states.groups[group] if group != WHOLE else sum(states.groups.values())
                rank = NotApplicable(reason) if reason else Measured(1 + behind[name], documents)
                values[name, group] = {"rank": rank}
            pairs += tested
        return CorpusOutcome(values, pairs)


def _untrusted(sums: Sums | None) -> str:
    """Return the reason why the documents are too few for a comparison, or an empty string."""
    if sums is None:
        return ""
    used = sums.columns["tokens"] > 0
    units = int(used.sum())
    return too_few(units, int(sums.units.documents[used].sum())) if units < LEAST_UNITS else ""


def _differences(corpus: str, group: str, sums: dict[str, Sums]) -> Iterator[PairComparison]:
    """Compare every two tokenizers, the one with fewer tokens first."""
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
    companion="pairs",
    values=(
        Metric(
            id="rank",
            unit="rank",
            direction="lower",
            role=Role.RANK,
            loss_cannot_help="a tokenizer that loses text has no value",
            formula="1 + tokenizers that need significantly fewer tokens",
            definition=(
                "Rank by number of tokens; 1 if no tokenizer needs significantly fewer. Every two tokenizers "
                "are compared "
                "on the same documents by a paired jackknife. Holm's correction over all pairs of a group keeps false "
                "differences to at most 1 group in 20. A tokenizer that loses text or has unknown tokens in a group "
                "has no rank there, and none has one where documents are too few for intervals."
            ),
        ),
    ),
)
