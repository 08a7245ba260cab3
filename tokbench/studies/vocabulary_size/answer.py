"""The recommended vocabulary size, in sentences, with the cost and compression of the sizes around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from tokbench.plugin import (
    Cards,
    Column,
    Heading,
    Node,
    Paragraph,
    Results,
    Row,
    Table,
    captioned,
    names,
    percent,
    sentence_paragraphs,
)
from tokbench.studies.vocabulary_size.block import (
    VOCABULARY_SIZES,
    SizeBasis,
    SizeChoice,
    SizeRecommendation,
    VocabularySizes,
)
from tokbench.studies.vocabulary_size.section_measured import measured_advice

_BESIDE: Final = 2
"""The number of sizes on either side of the one taken that the table shows."""

_TAKEN: Final = ("compression and cost", "measured here")
"""The basis of the size that is taken, now and in files of earlier versions."""

_GROUND: Final = "Its ground is compression and FLOPs alone, measured on text, not the loss of a model."
_NOT_MEASURED: Final = (
    "No model was trained for it: write 'measured' under 'study: vocabulary:' to measure bits per byte."
)
_NO_MODEL: Final = (
    "No size is recommended without a model: larger vocabularies then cost nothing, and the largest would always win. "
    "Write a 'model' under 'study: vocabulary:'."
)

_FEW_UNSEEN: Final = 0.05
_LIMIT: Final = 0.05
"""The published limit of ids that are too rare."""


class SizeOption(NamedTuple):
    """A row of the table of sizes.

    Attributes:
        line, size: the candidate.
        basis: the way of choosing that points to it; empty for a size beside the one taken.
        ratio: bytes per token of all corpora together.
        tokens: the tokens beyond those of the size taken, in words.
        cost: the FLOPs per byte beyond those of the size taken, in words; empty without a model.
        share: the share of embedding and output layer in the model, in words; empty without a model.
        rare: the share of ids too rare to be trained, in words; empty if it is not known.
    """

    line: str
    size: int
    basis: str
    ratio: float
    tokens: str
    cost: str
    share: str
    rare: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeAnswer:
    """The answer of a study of vocabulary sizes."""

    sentences: Sequence[str]
    """The size to take, the bases, and what to distrust."""
    options: Sequence[SizeOption]
    """The size taken, the sizes around it, and those to which other bases point."""


_COLUMNS: Final = (
    *(Column("line"), Column("size", numeric=True), Column("chosen by")),
    *(Column(name, numeric=True) for name in ("bytes/token", "tokens", "FLOPs/byte")),
    *(Column(name, numeric=True) for name in ("share of the model", "ids too rare")),
)
_CAPTION: Final = "The size taken, those around it, and those to which other ways of choosing point"
_LEGEND: Final = (
    "All corpora together. Tokens and FLOPs are beside those of the size taken, tokens with the paired 95\u00a0% "
    "interval where there is one."
)


def size_cards(answer: SizeAnswer) -> Cards:
    """Return the answer as every format shows it."""
    cards: list[Sequence[Node]] = [[Heading("Vocabulary size"), *sentence_paragraphs(answer.sentences)]]
    if answer.options:
        table = Table(_CAPTION, _COLUMNS, [_option_row(option) for option in answer.options])
        cards.append([captioned(table), Paragraph(_LEGEND, "legend")])
    return Cards(cards, wide=True)


def _option_row(option: SizeOption) -> Row:
    taken = option.line, f"{option.size:,}", option.basis, f"{option.ratio:.3f}"
    return Row([*taken, option.tokens, option.cost, option.share, option.rare])


def size_answer(results: Results) -> SizeAnswer | None:
    """Return the answer, or ``None`` if the run has no study of vocabulary sizes or is of an earlier version."""
    study = results.studies.get(VOCABULARY_SIZES)
    recommendation = study.recommendation if study else None
    if study is None or recommendation is None:
        return None
    wording = _Wording(results, study, recommendation)
    return SizeAnswer(sentences=list(wording.sentences()), options=list(wording.options()))


class _Wording:
    """Puts one recommendation into words."""

    def __init__(self, results: Results, study: VocabularySizes, recommendation: SizeRecommendation) -> None:
        self._results, self._study, self._recommendation = results, study, recommendation
        self._choices = {(choice.line, choice.vocab_size): choice for choice in recommendation.choices}
        self._taken = self._choices.get(recommendation.take) if recommendation.take else None

    def sentences(self) -> Iterator[str]:
        """Yield all sentences, the size to take first."""
        if self._taken:
            yield f"Take {_name(self._taken)}: {self._taken.compression_ratio:.3f} bytes per token {self._over()}."
            yield from self._rule(self._taken)
        measured = list(self._measured())
        if not self._taken:  # what was measured is then the answer
            yield from measured
        yield from self._other_bases()
        if self._taken:
            yield f"{_GROUND} {_NOT_MEASURED}" if not self._study.measured else _GROUND
            yield from measured
            yield from self._rare(self._taken)
        elif not measured:
            yield _NO_MODEL if self._recommendation.choices else "No size is recommended, because no vocabulary can be."
        yield from self._distrust()

    def _measured(self) -> Iterator[str]:
        """Yield what was measured by training models; nothing if no best size was found."""
        measured = self._study.measured
        if measured and measured.best:
            yield from measured_advice(measured, self._recommendation.take)
            yield "This says nothing of larger models or of more text: nothing is extrapolated."

    def _over(self) -> str:
        weights = self._recommendation.weights
        if len(weights) == 1:
            return f"on {next(iter(weights))}"
        shares = ", ".join(f"{percent(share)} {name}" for name, share in weights.items())
        by = "the weights given" if self._recommendation.weighted else "their bytes"
        return f"over {len(weights)} corpora by {by} ({shares})"

    def _rule(self, taken: SizeChoice) -> Iterator[str]:
        """Yield the rule, and how the size taken keeps it."""
        rare = self._recommendation.allowed_rare
        limit = "" if rare is None else f" with at most {100 * rare:.0f} % of its ids too rare"
        yield (
            f"It is the smallest size{limit} that costs at most 5 % more FLOPs per byte than the cheapest such size, "
            "and that compresses its worst group within 5 % of the best of those."
        )
        if taken.worst_ratio is not None:
            group = f"{taken.worst_group} of {taken.worst_corpus}"
            yield f"Its worst group is {group}, {taken.worst_ratio:.3f} bytes per token."

    def _other_bases(self) -> Iterator[str]:
        """Yield the sizes to which other ways of choosing point, and what they give and cost."""
        pointed: dict[tuple[str, int], list[str]] = {}
        for basis in self._recommendation.bases:
            if basis.line and basis.basis not in (*_TAKEN, "measured"):
                pointed.setdefault((basis.line, basis.smallest), []).append(f"by {basis.basis}")
        for key, ways in pointed.items():
            choice = self._choices[key]
            if choice is self._taken:
                yield f"Chosen {' or '.join(ways)} it is the same size."
            else:
                yield f"Chosen {' or '.join(ways)} it would be {_name(choice)}{self._price(choice)}."
        law = next((basis for basis in self._recommendation.bases if not basis.line), None)
        if law:
            yield from self._law(law)

    def _price(self, choice: SizeChoice) -> str:
        """Return what another size gives and costs beside the one taken."""
        parts = []
        if choice.more is not None:
            parts.append(f"{_beyond(choice.more, choice.more_low, choice.more_high)} tokens")
        cost = _cost(choice, self._taken)
        if cost:
            parts.append(f"{cost} FLOPs per byte")
        if (
            self._recommendation.allowed_rare is not None
            and (choice.too_rare or 0.0) > self._recommendation.allowed_rare
        ):
            parts.append(f"{percent(choice.too_rare or 0.0)} of its ids too rare")
        return f": {', '.join(parts)}" if parts else f", {choice.compression_ratio:.3f} bytes per token"

    def _law(self, law: SizeBasis) -> Iterator[str]:
        between = f"{law.smallest:,} to {law.largest:,}" if law.smallest < law.largest else f"{law.smallest:,}"
        yield f"The published scaling law points to {between} tokens."
        if self._taken and law.smallest <= self._taken.vocab_size <= law.largest:
            yield "The size taken lies there."
        elif self._taken:
            yield (
                "It differs, because it weighs the loss of a model on English text against its parameters. It knows "
                "neither these corpora, nor the cost of a byte, nor ids that are rare."
            )
        if self._study.law and any(optimum.caution for optimum in self._study.law.optima):
            yield "The law is extrapolated: this model is outside the range in which it was measured."

    def _rare(self, taken: SizeChoice) -> Iterator[str]:
        """Yield how many ids are too rare, and whether the texts are too small for the size."""
        unseen = taken.unseen / taken.vocab_size
        if taken.too_rare is None:
            yield "It is not known how often ids are trained: give the model 'training_tokens' or 'training_bytes'."
        else:
            yield (
                f"Of its ids {percent(taken.too_rare)} are too rare: nothing shows that training holds each of them "
                "100 times. An id that the measured text does not hold counts as too rare."
            )
        if unseen > _FEW_UNSEEN:
            yield (
                f"The measured text is too small for this size, or is not of its kind: {taken.unseen:,} of "
                f"{taken.vocab_size:,} ids do not occur in it. More text may carry a larger size."
            )
        if (self._recommendation.allowed_rare or 0.0) > _LIMIT:
            yield "No size keeps the published limit of 5 % of ids too rare; this one is among those nearest to it."

    def _distrust(self) -> Iterator[str]:
        recommendation = self._recommendation
        for name, info in self._results.tokenizers.items():
            if info.train and info.vocab_size is not None and info.vocab_size < info.train.vocab_size:
                yield (
                    f"The training text of {name} is too small for its size: {info.train.vocab_size:,} ids were asked "
                    f"for, and it gave {info.vocab_size:,}."
                )
        if recommendation.no_interval:
            yield f"Nothing shows how far this holds on other text: {recommendation.no_interval}."
        if recommendation.trained_on:
            yield "Every candidate was trained on some of this text: expect less on other text."
        if recommendation.missing:
            missing = names(recommendation.missing)
            yield f"Nothing could be measured on {missing}, so that no sentence here speaks of it."
        by_reason: dict[str, list[str]] = {}
        for line, reason in recommendation.left_out.items():
            by_reason.setdefault(reason, []).append(line)
        for reason, lines in by_reason.items():
            yield f"{names(lines)} cannot be recommended: {reason}."

    def options(self) -> Iterator[SizeOption]:
        """Yield the rows of the table: sizes around the one taken by size, then those of other bases."""
        taken = self._taken
        if taken is None:
            return
        own = sorted(
            (choice for choice in self._recommendation.choices if choice.line == taken.line), key=lambda c: c.vocab_size
        )
        place = own.index(taken)
        around = own[max(0, place - _BESIDE) : place + _BESIDE + 1]
        bases: dict[tuple[str, int], list[str]] = {}
        for basis in self._recommendation.bases:
            key = basis.line, basis.smallest if basis.best is None else basis.best
            if key in self._choices:  # the law has no line, and a measured size may be no candidate
                bases.setdefault(key, []).append(basis.basis)
        for key in dict.fromkeys([*((choice.line, choice.vocab_size) for choice in around), *bases]):
            choice = self._choices[key]
            more = choice.more
            yield SizeOption(
                line=choice.line,
                size=choice.vocab_size,
                basis=", ".join(bases.get(key, [])),
                ratio=choice.compression_ratio,
                tokens="" if more is None or choice is taken else _beyond(more, choice.more_low, choice.more_high),
                cost="" if choice is taken else _cost(choice, taken),
                share="" if choice.share is None else percent(choice.share),
                rare="" if choice.too_rare is None else percent(choice.too_rare),
            )


def _name(choice: SizeChoice) -> str:
    return f"{choice.line} with {choice.vocab_size:,} tokens"


def _beyond(more: float, low: float | None = None, high: float | None = None) -> str:
    """Return a share as what is more or fewer, with its interval.

    >>> _beyond(0.123, 0.11, 0.13), _beyond(-0.05)
    ('12.3 % [11.0, 13.0] more', '5.0 % fewer')
    """
    sign, word = (1, "more") if more >= 0 else (-1, "fewer")
    ends = sorted([sign * low, sign * high]) if low is not None and high is not None else []
    interval = f" [{100 * ends[0]:.1f}, {100 * ends[1]:.1f}]" if ends else ""
    return f"{100 * abs(more):.1f} %{interval} {word}"


def _cost(choice: SizeChoice, taken: SizeChoice | None) -> str:
    """Return the cost beyond that of the size taken; empty without a model."""
    if taken is None or not choice.flops_per_byte or not taken.flops_per_byte:
        return ""
    return _beyond(choice.flops_per_byte / taken.flops_per_byte - 1)
