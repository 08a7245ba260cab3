"""From lines over all corpora together to the recommended sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from tokbench.studies.vocabulary_size.block import SizeChoice, SizeRange, SizeRecommendation
from tokbench.studies.vocabulary_size.mixture import MixedLine, Mixture
from tokbench.studies.vocabulary_size.options import Model
from tokbench.studies.vocabulary_size.plateau import least_costs, plateau
from tokbench.studies.vocabulary_size.recommend import allowed_rare, beaten, recommend

UNSPLIT: Final = 0.01
"""The least share of tokens that span words."""

_NO_SPLIT: Final = "it has no split, so that its tokens span words, and many are phrases of its training text"
_ALL_RARE: Final = "each of its sizes has too many ids that training holds fewer than 100 times"

Chosen = tuple[str, int]

Worst = Mapping[Chosen, tuple[str, str, float]]
"""The worst-compressed corpus and group, and its bytes per token."""


@dataclass(frozen=True)
class Candidates:
    """The lines of a study over all corpora."""

    lines: Mapping[str, MixedLine]
    left_out: Mapping[str, str]
    worst: Worst
    spans: Mapping[str, float] = field(default_factory=dict)
    trained_bytes: Mapping[str, float] = field(default_factory=dict)
    """By line of this run, the size of its training text."""

    def choices(self) -> list[SizeChoice]:
        known = []
        for choice in (choice for line in self.lines.values() for choice in line.choices):
            if worst := self.worst.get((choice.line, choice.vocab_size)):
                corpus, group, ratio = worst
                known.append(replace(choice, worst_corpus=corpus, worst_group=group, worst_ratio=ratio))
        return known


def recommendation(mixture: Mixture, candidates: Candidates, model: Model | None) -> SizeRecommendation:
    """Return the recommended sizes, and all candidates; none are recommended without a model."""
    choices = candidates.choices()
    advice = SizeRecommendation(weights=dict(mixture.weights), choices=choices, left_out=dict(candidates.left_out))
    if not choices or model is None:
        return advice
    allowed = allowed_rare([choice.too_rare for choice in choices])
    ranges = _ranges(mixture, candidates, model, _largest(choices, allowed))
    some_allowed = {choice.line for choice in choices if _allows(allowed, choice)}
    ranges = [
        sizes if sizes.refused or sizes.line in some_allowed else replace(sizes, refused=_ALL_RARE) for sizes in ranges
    ]
    advice = replace(advice, allowed_rare=allowed, ranges=ranges)
    open_lines = {sizes.line for sizes in ranges if not sizes.refused}
    free = [choice for choice in choices if choice.line in open_lines and _allows(allowed, choice)]
    return _taken(mixture, candidates, advice, free) if free else advice


def _taken(
    mixture: Mixture, candidates: Candidates, advice: SizeRecommendation, free: Sequence[SizeChoice]
) -> SizeRecommendation:
    names = {choice.line for choice in free}
    line = next(sizes.line for sizes in advice.ranges if sizes.line in names and not sizes.refused)
    taken = recommend(free, line)
    take = taken.line, taken.vocab_size
    compared, reason = _compared(mixture, candidates.lines, advice.choices, take)
    return replace(advice, choices=compared, take=take, no_interval=reason)


def _allows(allowed: float | None, choice: SizeChoice) -> bool:
    return allowed is None or (choice.too_rare or 0.0) <= allowed


def _largest(choices: Sequence[SizeChoice], allowed: float | None) -> dict[str, int]:
    return {
        line: max(choice.vocab_size for choice in choices if choice.line == line and _allows(allowed, choice))
        for line in dict.fromkeys(choice.line for choice in choices if _allows(allowed, choice))
        if not all(_allows(allowed, choice) for choice in choices if choice.line == line)
    }


def _ranges(mixture: Mixture, candidates: Candidates, model: Model, largest: Mapping[str, int]) -> list[SizeRange]:
    most = {name: largest.get(name, int(line.every[-1])) for name, line in candidates.lines.items()}
    ranges = [
        plateau(name, line, model, most[name], candidates.trained_bytes.get(name))
        for name, line in candidates.lines.items()
    ]
    costs = {name: least_costs(line, model, most[name]) for name, line in candidates.lines.items()}
    unsplit = {name for name in costs if candidates.spans.get(name, 0.0) >= UNSPLIT}
    split = {name: of_line for name, of_line in costs.items() if name not in unsplit}
    better = beaten(split, mixture.weights)
    best = {corpus: min(of_line[corpus] for of_line in (split or costs).values()) for corpus in mixture.weights}
    marked = []
    for sizes in ranges:
        own = costs[sizes.line]
        refused = _NO_SPLIT if sizes.line in unsplit else ""
        if sizes.line in better:
            refused = _loses(own, costs[better[sizes.line]], better[sizes.line])
        beyond = {corpus: own[corpus] / best[corpus] - 1 for corpus in best}
        marked.append(replace(sizes, by_corpus=beyond, refused=refused))
    return sorted(marked, key=lambda sizes: sizes.flops_per_byte)


def _loses(own: Mapping[str, float], other: Mapping[str, float], name: str) -> str:
    """Return that a line costs more than another on most of the text.

    >>> _loses({"prose": 1.1, "code": 0.9}, {"prose": 1.0, "code": 1.0}, "mine")
    'a byte of text costs more than with mine on most of the text (prose 10 % more, code 10 % less)'
    """
    beyond = {corpus: own[corpus] / other[corpus] - 1 for corpus in own}
    parts = (f"{corpus} {100 * abs(more):.0f} % {'more' if more >= 0 else 'less'}" for corpus, more in beyond.items())
    return f"a byte of text costs more than with {name} on most of the text ({', '.join(parts)})"


def _compared(
    mixture: Mixture, lines: Mapping[str, MixedLine], choices: Sequence[SizeChoice], take: Chosen
) -> tuple[list[SizeChoice], str]:
    top = lines[take[0]].tokens[take[1]]
    compared, reason = [], ""
    for choice in choices:
        own = lines[choice.line].tokens[choice.vocab_size]
        difference = mixture.more(top, own)
        if isinstance(difference, str):
            reason = difference
            more = mixture.tokens_per_byte(own) / mixture.tokens_per_byte(top) - 1
            compared.append(replace(choice, more=more))
        else:
            compared.append(replace(choice, more=difference[0], more_low=difference[1], more_high=difference[2]))
    return compared, reason
