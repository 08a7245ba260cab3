"""From lines on each corpus to lines over all corpora together, and to the one size to take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin import Spread, spread, too_few
from tokbench.studies.vocabulary_size.block import ScalingLaw, SizeBasis, SizeChoice, SizeRecommendation
from tokbench.studies.vocabulary_size.compute import flops_per_byte, training_tokens
from tokbench.studies.vocabulary_size.lines import Line
from tokbench.studies.vocabulary_size.measured_block import MeasuredSizes
from tokbench.studies.vocabulary_size.options import Model
from tokbench.studies.vocabulary_size.recommend import SizeCandidate, recommend
from tokbench.studies.vocabulary_size.rows import TextTotals
from tokbench.studies.vocabulary_size.trainable import share_too_rare

Chosen = tuple[str, int]
"""A line and a size."""

Worst = Mapping[Chosen, tuple[str, str, float]]
"""By line and size, the group that is compressed least: corpus, group, bytes per token."""


@dataclass(frozen=True)
class Mixture:
    """The text of a model, mixed of corpora."""

    weights: Mapping[str, float]
    """The share of each corpus in the bytes of the text; they add up to 1, and each is above 0."""

    texts: Mapping[str, TextTotals]
    """The totals of each of these corpora."""

    @classmethod
    def of(cls, texts: Mapping[str, TextTotals], given: Mapping[str, float]) -> Mixture:
        """Mix corpora by the weights given, or by their bytes; a corpus without text is left out."""
        raw = {name: given.get(name, 0.0) if given else float(text.n_bytes.sum()) for name, text in texts.items()}
        total = sum(raw.values())
        weights = {name: weight / total for name, weight in raw.items() if weight > 0}
        return cls(weights, {name: texts[name] for name in weights})

    def tokens_per_byte(self, tokens: Mapping[str, NDArray[np.float64]]) -> float:
        """Return the tokens of a byte of the mixed text, from the tokens of each corpus by jackknife group."""
        return sum(
            weight * float(tokens[name].sum()) / float(self.texts[name].n_bytes.sum())
            for name, weight in self.weights.items()
        )

    def more(
        self, one: Mapping[str, NDArray[np.float64]], two: Mapping[str, NDArray[np.float64]]
    ) -> tuple[float, float, float] | str:
        """Return the tokens of the second beyond those of the first as a share, with the ends of the 95 % interval.

        The corpora are drawn apart, so each has a jackknife of its own, and the variances are added (Cochran 1977,
        "Sampling Techniques", section 5.3, on stratified sampling). If a corpus is too small for an interval, the
        reason is returned.
        """
        first, second = self.tokens_per_byte(one), self.tokens_per_byte(two)
        variance, freedom = 0.0, 10**6
        for name, weight in self.weights.items():
            text = self.texts[name]
            kept = text.n_bytes > 0
            rest = text.n_bytes.sum() - text.n_bytes[kept]
            if not (rest > 0).all():
                return f"{name} has one group of documents"
            a, b = (
                total + weight * ((by_group.sum() - by_group[kept]) / rest - by_group.sum() / text.n_bytes.sum())
                for total, by_group in ((first, one[name]), (second, two[name]))
            )
            estimate = spread(b / a)
            if estimate is None:
                return f"{name} has {too_few(int(kept.sum()))}"
            variance += estimate.error**2
            freedom = min(freedom, estimate.freedom)
        quotient = second / first
        low, high = Spread(variance**0.5, freedom).around(quotient)
        return quotient - 1, low - 1, high - 1


@dataclass(frozen=True)
class MixedLine:
    """A line over all corpora together.

    Attributes:
        choices: its sizes; the worst group is not known yet.
        tokens: by size and corpus float64[BUCKETS], the tokens of each jackknife group of documents.
    """

    choices: Sequence[SizeChoice]
    tokens: Mapping[int, Mapping[str, NDArray[np.float64]]]


def mix(name: str, lines: Mapping[str, Line], mixture: Mixture, model: Model | None) -> MixedLine:
    """Return a line over all corpora together, from its lines on each of them."""
    lines = {corpus: lines[corpus] for corpus in mixture.weights}
    sizes = sorted(reduce(and_, (set(line.sizes.tolist()) for line in lines.values())))
    tokens = {size: {corpus: line.tokens[line.at(size)] for corpus, line in lines.items()} for size in sizes}
    return MixedLine([_choice(name, size, lines, tokens[size], mixture, model) for size in sizes], tokens)


def _choice(
    name: str,
    size: int,
    lines: Mapping[str, Line],
    tokens: Mapping[str, NDArray[np.float64]],
    mixture: Mixture,
    model: Model | None,
) -> SizeChoice:
    ratio = 1 / mixture.tokens_per_byte(tokens)
    n_bytes = {corpus: float(text.n_bytes.sum()) for corpus, text in mixture.texts.items()}
    counts = {corpus: line.counts(line.at(size)) for corpus, line in lines.items()}
    per_byte = sum(mixture.weights[corpus] / n_bytes[corpus] * count for corpus, count in counts.items())
    choice = SizeChoice(
        line=name,
        vocab_size=size,
        compression_ratio=ratio,
        by_corpus={corpus: n_bytes[corpus] / float(by_group.sum()) for corpus, by_group in tokens.items()},
        unseen=max(0, size - int(np.count_nonzero(per_byte))),
    )
    if model is None:
        return choice
    length = training_tokens(model, ratio)
    return replace(
        choice,
        flops_per_byte=float(flops_per_byte(model, size, ratio)),
        share=float(model.vocabulary_share(size)),
        too_rare=None if length is None else share_too_rare(per_byte * float(length) * ratio, size),
    )


def recommendation(
    mixture: Mixture, lines: Mapping[str, MixedLine], left_out: Mapping[str, str], worst: Worst, law: ScalingLaw | None
) -> SizeRecommendation:
    """Return the size to take, with every candidate beside it.

    Args:
        mixture: the text.
        lines: the lines that may be taken, by name.
        left_out: by the name of each other line, the reason.
        worst: the group that each candidate compresses least.
        law: the sizes that the published law calls optimal; ``None`` without a model.
    """
    choices = []
    for line in lines.values():
        for choice in line.choices:
            if (choice.line, choice.vocab_size) not in worst:
                continue
            corpus, group, ratio = worst[choice.line, choice.vocab_size]
            choices.append(replace(choice, worst_corpus=corpus, worst_group=group, worst_ratio=ratio))
    advice = SizeRecommendation(weights=dict(mixture.weights), choices=choices, left_out=dict(left_out))
    if not choices:
        return advice
    most = max(choices, key=lambda choice: (choice.compression_ratio, -choice.vocab_size))
    bases = [_basis("compression alone", most.line, most.vocab_size)]
    if law:
        sizes = [optimum.vocab_size for optimum in law.optima]
        bases.append(SizeBasis(basis="law", line="", smallest=min(sizes), largest=max(sizes)))
    if not all(choice.flops_per_byte for choice in choices):
        return replace(advice, bases=bases)
    table = [
        SizeCandidate(
            choice.line,
            choice.vocab_size,
            choice.flops_per_byte or 0.0,
            choice.compression_ratio,
            choice.worst_ratio or 0.0,
            choice.too_rare,
        )
        for choice in choices
    ]
    taken = recommend(table)
    take = taken.candidate.name, taken.candidate.vocab_size
    cost = min(table, key=lambda candidate: (candidate.flops_per_byte, candidate.vocab_size))
    bases.insert(1, _basis("cost alone", cost.name, cost.vocab_size))
    bases.append(_basis("compression and cost", *take))
    compared, reason = _compared(mixture, lines, choices, take)
    return replace(
        advice,
        choices=compared,
        front=[(candidate.name, candidate.vocab_size) for candidate in taken.front],
        take=take,
        bases=bases,
        allowed_rare=taken.allowed_rare,
        no_interval=reason,
    )


def with_measured(advice: SizeRecommendation, measured: MeasuredSizes) -> SizeRecommendation:
    """Return a recommendation that also has the sizes to which measured bits per byte point.

    >>> from tokbench.studies.vocabulary_size.measured_block import BestMeasuredSize
    >>> best = BestMeasuredSize(line="a", body="tiny", equal="bytes", amount=1e6, flops=1, sizes=[512, 1024],
    ...     values=[2.1, 2.0], best=1024, best_low=512, best_high=1024, law=1)
    >>> measured = MeasuredSizes(corpus="c", train="c", training_documents=1, training_bytes=1, scored_documents=1,
    ...     scored_bytes=1, duplicates=0, bodies={"tiny": 98_624}, best=[best])
    >>> [basis] = with_measured(SizeRecommendation(weights={}), measured).bases
    >>> basis.basis, basis.line, basis.smallest, basis.best, basis.largest, basis.body, basis.amount
    ('measured', 'a', 512, 1024, 1024, 'tiny', 1000000.0)
    """
    bases = [
        SizeBasis(
            basis="measured",
            line=decisive.line,
            smallest=decisive.best if decisive.best_low is None else decisive.best_low,
            largest=decisive.best if decisive.best_high is None else decisive.best_high,
            best=decisive.best,
            body=decisive.body,
            amount=decisive.amount,
        )
        for decisive in measured.decisive
    ]
    return replace(advice, bases=[*advice.bases, *bases])


def _basis(basis: str, line: str, size: int) -> SizeBasis:
    return SizeBasis(basis=basis, line=line, smallest=size, largest=size)


def _compared(
    mixture: Mixture, lines: Mapping[str, MixedLine], choices: Sequence[SizeChoice], take: Chosen
) -> tuple[list[SizeChoice], str]:
    """Return the candidates, each with the tokens beyond those of the one taken; and why there is no interval."""
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
