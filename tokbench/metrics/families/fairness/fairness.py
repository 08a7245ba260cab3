"""The family ``fairness``: premiums by language, and how unevenly they are spread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from tokbench.metrics.families.fairness.aligned import Aligned
from tokbench.metrics.families.fairness.premium import Premium, inequality, mean, median, premium
from tokbench.plugin import (
    WHOLE,
    CorpusOutcome,
    CorpusStates,
    EncodedShard,
    Measured,
    Metric,
    MetricFamily,
    NotApplicable,
    Options,
    Role,
    slices,
)

__all__ = ["SPEC"]

_Values = dict[str, Measured | NotApplicable]


VALUES: Final = (
    Metric(
        id="premium",
        unit="times the reference",
        direction="lower",
        role=Role.PREMIUM,
        formula="Σ tokens / Σ tokens of the same documents in the reference language",
        definition=(
            "What a text costs in this language, the same text in the corpus's reference language being 1: where "
            "tokens are paid for, the relative price; where they come one after the other, the relative time. "
            "Documents that do not come back, or have unknown tokens, in either language are left out in both; where "
            "that is more than half of them, there is no premium. Of the whole corpus and of slices (script, family, "
            "resource class of the languages): the mean over all languages but the reference."
        ),
    ),
    Metric(
        id="median_premium",
        unit="times the reference",
        direction="lower",
        formula="median over documents of tokens / tokens in the reference language",
        definition=(
            "The premium document by document: half of them cost more than this. Of several languages together it "
            "has no interval, as translations of one document are not independent."
        ),
    ),
    Metric(
        id="relative_context",
        unit="share of the reference's",
        direction="higher",
        label="context",
        role=Role.RELATIVE_CONTEXT,
        formula="1 / premium",
        definition="How much of what fits into a context window in the reference language fits in this language.",
    ),
    Metric(
        id="left_out",
        unit="documents",
        direction="lower",
        label="left out of premiums",
        formula="documents that do not come back in the language or in the reference",
        definition="Documents that the premium leaves out; lost text must not pass for cheap text.",
    ),
    Metric(
        id="gini",
        unit="Gini coefficient",
        direction="lower",
        label="Gini",
        role=Role.INEQUALITY,
        formula="Σᵢ Σⱼ |pᵢ - pⱼ| / (2 n Σ p), p the premiums of n languages",
        definition=(
            "How unevenly the cost is spread over the languages, each counted once and the reference among them: 0 if "
            "all have the same premium, near 1 if one of many bears it all."
        ),
        whole=True,
    ),
    Metric(
        id="max_min",
        unit="times the cheapest",
        direction="lower",
        label="max/min premium",
        role=Role.PREMIUM_RANGE,
        formula="highest premium / lowest premium",
        definition="What the dearest language costs, the cheapest being 1; the reference is among them.",
        whole=True,
    ),
)


class FairnessMetric:
    """Compares the groups of a parallel corpus with one of them."""

    def __init__(self, _: Options) -> None: ...

    def map(self, encoded: EncodedShard) -> Aligned:
        """Tokens of the documents, and which of them come back."""
        return Aligned.of(encoded)

    def merge(self, one: Aligned, other: Aligned) -> Aligned:
        """The documents of both."""
        return one.merged(other)

    def raw(self, state: Aligned) -> Any:
        """The sums."""
        return state.raw()

    def finish_corpus(self, states: CorpusStates) -> CorpusOutcome:
        """Premiums by group and slice; Gini and the rest of the whole."""
        values: dict[tuple[str, str], _Values] = {}
        for name in states.tokenizers:
            reason = _reason(states, name)
            found = _nothing(states, reason) if reason else _Languages(states, name).values()
            values.update({(name, group): some for group, some in found})
        return CorpusOutcome(values)


def _reason(states: CorpusStates, name: str) -> str:
    """Why nothing can be said of a corpus; ``""`` if something can."""
    if not states.parallel:
        return f"corpus {states.corpus} is not aligned; add 'parallel: true' if its groups are translations"
    if not states.reference:
        return f"corpus {states.corpus} names no reference language; add 'reference: {next(iter(states.groups))}'"
    if (name, states.reference) not in states.states:
        return f"the reference {states.reference} was not measured"
    return ""


def _nothing(states: CorpusStates, reason: str) -> Iterator[tuple[str, _Values]]:
    for group in [*states.groups, WHOLE]:
        yield group, {value.id: NotApplicable(reason) for value in VALUES}


class _Languages:
    """The languages of a corpus under one tokenizer."""

    def __init__(self, states: CorpusStates, name: str) -> None:
        self._reference = states.reference
        self._groups = list(states.groups)
        known = {
            group: states.states[name, group].documents() for group in states.groups if (name, group) in states.states
        }
        self._premiums = {group: premium(found, known[states.reference]) for group, found in known.items()}
        self._lacking = {group: "it was not measured" for group in states.groups if group not in known}
        for group, found in self._premiums.items():
            reason = found.shortcoming(group, states.reference)
            if reason:
                self._lacking[group] = reason

    def values(self) -> Iterator[tuple[str, _Values]]:
        """By group, for the whole, and by slice."""
        for group, found in self._premiums.items():
            reason = self._lacking.get(group)
            yield group, {**(_no(reason) if reason else _cost([found])), "left_out": _left_out([found])}
        yield WHOLE, {**self._together(self._groups), "left_out": _left_out(self._premiums.values())}
        for facet, value, groups in slices(self._groups):
            if not value:
                yield f"{facet}: unknown", _no(f"nothing is known of the {facet} of {', '.join(groups)}")
            elif set(groups) != {self._reference}:
                yield f"{facet}: {value}", self._together(groups)

    def _together(self, groups: Iterable[str]) -> _Values:
        """The mean of all but the reference, and how unevenly several are spread."""
        some = list(groups)
        lacking = [group for group in some if group in self._lacking]
        if lacking:
            reason = f"no premium for {', '.join(lacking)}: {self._lacking[lacking[0]]}"
            return {**_no(reason), "gini": NotApplicable(reason), "max_min": NotApplicable(reason)}
        others = [self._premiums[group] for group in some if group != self._reference]
        if not others:
            reason = "there is no language but the reference"
            return {**_no(reason), "gini": NotApplicable(reason), "max_min": NotApplicable(reason)}
        # Nothing is uneven in a slice of one language.
        uneven = inequality([self._premiums[group] for group in some]) if len(some) > 1 else {}
        return {**_cost(others), **uneven}


def _no(reason: str) -> _Values:
    return {name: NotApplicable(reason) for name in ("premium", "median_premium", "relative_context")}


def _cost(parts: list[Premium]) -> _Values:
    """The premium, and what it leaves of a context window."""
    price = mean(parts)
    context = Measured(1 / price.value, price.n)
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
    values=VALUES,
)
