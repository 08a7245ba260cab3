"""The family ``fairness``: premiums by language, and their inequality."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

from tokbench.corpus.languages import reference_language, slices
from tokbench.measuring.encoded_shard import EncodedShard
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import CorpusOutcome, CorpusStates, Measured, Metric, NotApplicable, Role
from tokbench.measuring.sums import SummedMetric
from tokbench.metrics.fairness.premium import Aligned, Premium, inequality, mean, median, premium
from tokbench.results.cells import WHOLE

_Values = dict[str, Measured | NotApplicable]


_uneven = partial(Metric, direction="lower", headline=True, whole=True)

VALUES: Final = (
    Metric("premium", "times the reference", "lower", role=Role.PREMIUM, headline=True).means(
        "Σ tokens / Σ tokens of the same documents in the reference language",
        "Tokens of a text in this language, relative to the same text in the reference language of the corpus: the "
        "relative price where tokens are paid for, and the relative time where they are generated one by one. "
        "A document that loses text, beyond canonical equivalence, in either language is left out in both; if "
        "more than half are left out, there is no premium. For the whole corpus and for slices (script, family, "
        "resource class of the languages) it is the mean over all languages but the reference.",
    ),
    Metric("median_premium", "times the reference", "lower").means(
        "median over documents of tokens / tokens in the reference language",
        "The median of the premiums of single documents: half of the documents have a higher one. "
        "Several languages together have no interval, because translations of one document are not independent.",
    ),
    Metric("relative_context", "share of the reference's", "higher", label="context", role=Role.RELATIVE_CONTEXT).means(
        "1 / premium", "Share of the text that fits into a context window in this language, relative to the reference."
    ),
    Metric(
        "left_out", "documents", "lower", label="left out of premiums", loss_cannot_help="it counts the losses"
    ).means(
        "documents that lose text in the language or in the reference",
        "Documents that the premium leaves out, so that lost text does not look like cheap text.",
    ),
    _uneven("gini", "Gini coefficient", label="Gini", role=Role.INEQUALITY).means(
        "Σᵢ Σⱼ |pᵢ - pⱼ| / (2 n Σ p), p the premiums of n languages",
        "Inequality of the premiums of all languages, the reference among them, each counted once: 0 if "
        "all premiums are equal, near 1 if one of many languages bears almost all of the cost.",
    ),
    _uneven("max_min", "times the cheapest", label="max/min premium", role=Role.PREMIUM_RANGE).means(
        "highest premium / lowest premium",
        "Premium of the most expensive language, relative to the cheapest; the reference counts, too.",
    ),
)


class FairnessMetric(SummedMetric):
    """The corpus metric."""

    def map(self, encoded: EncodedShard) -> Aligned:
        return Aligned.of(encoded)

    def finish_corpus(self, states: CorpusStates) -> CorpusOutcome:
        values: dict[tuple[str, str], _Values] = {}
        for name in states.tokenizers:
            reason = _reason(states, name)
            by_group = _nothing(states, reason) if reason else _Languages(states, name).values()
            values.update({(name, group): some for group, some in by_group})
        return CorpusOutcome(values)


def _reason(states: CorpusStates, name: str) -> str:
    if not states.parallel:
        return f"corpus {states.corpus} is not aligned; add 'parallel: true' if its groups are translations"
    if not states.reference:
        first = reference_language(list(states.groups))
        return f"corpus {states.corpus} names no reference language; add 'reference: {first}'"
    if (name, states.reference) not in states.states:
        return f"the reference {states.reference} was not measured"
    return ""


def _nothing(states: CorpusStates, reason: str) -> Iterator[tuple[str, _Values]]:
    for group in [*states.groups, WHOLE]:
        yield group, {value.id: NotApplicable(reason) for value in VALUES}


class _Languages:
    def __init__(self, states: CorpusStates, name: str) -> None:
        self._reference = states.reference
        self._groups = list(states.groups)
        known = {
            group: states.states[name, group].documents() for group in states.groups if (name, group) in states.states
        }
        self._premiums = {group: premium(documents, known[states.reference]) for group, documents in known.items()}
        self._lacking = {group: "it was not measured" for group in states.groups if group not in known}
        for group, group_premium in self._premiums.items():
            reason = group_premium.reason_not_comparable(group, states.reference)
            if reason:
                self._lacking[group] = reason

    def values(self) -> Iterator[tuple[str, _Values]]:
        for group, group_premium in self._premiums.items():
            reason = self._lacking.get(group)
            yield group, {**(_no(reason) if reason else _cost([group_premium])), "left_out": _left_out([group_premium])}
        yield WHOLE, {**self._together(self._groups), "left_out": _left_out(self._premiums.values())}
        for facet, value, groups in slices(self._groups):
            if not value:
                yield f"{facet}: unknown", _no(f"nothing is known of the {facet} of {', '.join(groups)}")
            elif set(groups) != {self._reference}:
                yield f"{facet}: {value}", self._together(groups)

    def _together(self, groups: Iterable[str]) -> _Values:
        some = list(groups)
        lacking = [group for group in some if group in self._lacking]
        if lacking:
            reason = f"no premium for {', '.join(lacking)}: {self._lacking[lacking[0]]}"
            return {**_no(reason), "gini": NotApplicable(reason), "max_min": NotApplicable(reason)}
        others = [self._premiums[group] for group in some if group != self._reference]
        if not others:
            reason = "the corpus has no language but the reference"
            return {**_no(reason), "gini": NotApplicable(reason), "max_min": NotApplicable(reason)}
        # Nothing is uneven in a slice of one language.
        uneven = inequality([self._premiums[group] for group in some]) if len(some) > 1 else {}
        return {**_cost(others), **uneven}


def _no(reason: str) -> _Values:
    return {name: NotApplicable(reason) for name in ("premium", "median_premium", "relative_context")}


def _cost(parts: list[Premium]) -> _Values:
    price = mean(parts)
    context = Measured(1 / price.value, price.n, no_interval=price.no_interval)
    if price.ci_low and price.ci_high:
        context = context._replace(ci_low=1 / price.ci_high, ci_high=1 / price.ci_low)
    return {"premium": price, "median_premium": median(parts), "relative_context": context}


def _left_out(parts: Iterable[Premium]) -> Measured:
    some = list(parts)
    out = sum(part.left_out for part in some)
    return Measured(out, out + sum(part.documents for part in some))


SPEC: Final = MetricFamily(
    name="fairness",
    summary="premium of each language over a reference language, Gini, max/min; for parallel corpora",
    text=FairnessMetric,
    subject=("fairness",),
    values=VALUES,
)
