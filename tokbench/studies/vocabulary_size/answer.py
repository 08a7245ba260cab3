"""The recommended vocabulary sizes, in sentences and a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from tokbench.report.cells import percent
from tokbench.report.document import Row
from tokbench.report.number_format import byte_size
from tokbench.report.sections.answer_subject import names
from tokbench.results.model import Results
from tokbench.studies.vocabulary_size.block import (
    VOCABULARY_SIZES,
    SizeChoice,
    SizeRange,
    SizeRecommendation,
    VocabularySizes,
)
from tokbench.studies.vocabulary_size.options import Model
from tokbench.studies.vocabulary_size.plateau import ENOUGH
from tokbench.studies.vocabulary_size.scaling import law

_BESIDE: Final = 2

_PRACTISED: Final = (
    "In practice Llama 2 has 32,000, GPT-2 50,257 and Llama 3 128,256 tokens, and nanochat went from 65,536 to 32,768. "
    "With more compute the best tokens have fewer bytes, by 988 models (Limisiewicz et al. 2026, arXiv 2605.01188)."
)
_LAW_WEIGHS: Final = (
    "It weighs the loss of a model on English text at a fixed budget of FLOPs, so it is no ceiling for a model that is "
    "trained on more text than such a budget calls for."
)
_GROUND: Final = (
    "Its ground is compression and FLOPs alone, measured on text, not the loss of a model. A size is a tokenizer for "
    "every metric by {backend: cut, of: …, size: …}, or by a list of sizes to train."
)
_NO_MODEL: Final = (
    "No size is recommended without a model: larger vocabularies then cost nothing, and the largest would always win. "
    "Write a 'model' under 'study: vocabulary:'."
)

_LIMIT: Final = 0.05


class SizeAnswer(NamedTuple):
    """The answer of a study of vocabulary sizes."""

    sentences: Sequence[str]
    options: Sequence[Row]
    """The size that may be taken, and those around it."""


def size_answer(results: Results) -> SizeAnswer | None:
    """Return the answer; ``None`` if the run recommends nothing."""
    study = results.studies.get(VOCABULARY_SIZES)
    recommendation = study.recommendation if study else None
    if study is None or recommendation is None:
        return None
    wording = _Wording(results, study, recommendation)
    return SizeAnswer(list(wording.sentences()), list(wording.options()))


class _Wording:
    def __init__(self, results: Results, study: VocabularySizes, recommendation: SizeRecommendation) -> None:
        self._results, self._study, self._recommendation = results, study, recommendation
        self._choices = {(choice.line, choice.vocab_size): choice for choice in recommendation.choices}
        self._taken = self._choices.get(recommendation.take) if recommendation.take else None

    def sentences(self) -> Iterator[str]:
        if self._taken and self._recommendation.range:
            yield from self._take(self._taken, self._recommendation.range)
        if self._choices:
            yield self._compression_alone()
        if self._study.model:
            yield from self._law(Model(**self._study.model))
        if self._taken:
            yield _GROUND
            yield from self._rare(self._taken)
        else:
            yield _NO_MODEL if self._choices else "No size is recommended, because no vocabulary can be."
        yield from self._distrust()

    def _take(self, taken: SizeChoice, sizes: SizeRange) -> Iterator[str]:
        ratio = f"{taken.compression_ratio:.3f} bytes per token"
        if _is_too_small(sizes):
            yield _too_small(sizes, mixed=len(self._recommendation.weights) > 1)
        yield from _range(sizes, self._over())
        allowed = self._recommendation.allowed_rare
        if sizes.capped and allowed is not None:
            yield f"Of larger sizes, more than {percent(allowed)} of the ids are too rare."
        one_size = sizes.smallest == sizes.largest
        yield f"{'That gives' if one_size else f'One of them is {taken.vocab_size:,}:'} {ratio}."
        if taken.worst_ratio is not None:
            group = f"{taken.worst_group} of {taken.worst_corpus}"
            yield f"Its worst group is {group}, {taken.worst_ratio:.3f} bytes per token."

    def _over(self) -> str:
        weights = self._recommendation.weights
        if len(weights) == 1:
            return f"on {next(iter(weights))}"
        if not self._recommendation.weighted:
            return f"over {len(weights)} corpora that count alike ({names(list(weights))})"
        shares = ", ".join(f"{percent(share)} {name}" for name, share in weights.items())
        return f"over {len(weights)} corpora by the weights given ({shares})"

    def _compression_alone(self) -> str:
        most = max(self._recommendation.choices, key=lambda choice: (choice.compression_ratio, -choice.vocab_size))
        if most is self._taken:
            return "Chosen by compression alone it is the same size."
        return f"Chosen by compression alone it would be {_name(most)}{self._price(most)}."

    def _price(self, choice: SizeChoice) -> str:
        parts = []
        if choice.more is not None:
            parts.append(f"{_beyond(choice.more, choice.more_low, choice.more_high)} tokens")
        cost = _cost(choice, self._taken)
        if cost:
            parts.append(f"{cost} FLOPs per byte")
        allowed = self._recommendation.allowed_rare
        if allowed is not None and choice.too_rare is not None and choice.too_rare > allowed:
            parts.append(f"{percent(choice.too_rare)} of its ids too rare")
        return f": {', '.join(parts)}" if parts else f", {choice.compression_ratio:.3f} bytes per token"

    def _law(self, model: Model) -> Iterator[str]:
        optima = law(model)
        smallest, *_, largest = sorted(optimum.vocab_size for optimum in optima)
        yield f"The published scaling law points to {smallest:,} to {largest:,} tokens."
        yield _LAW_WEIGHS
        if any(optimum.caution for optimum in optima):
            yield "The law is extrapolated: this model is outside the range in which it was measured."
        if self._recommendation.ranges:
            yield _PRACTISED

    def _rare(self, taken: SizeChoice) -> Iterator[str]:
        model = self._study.model or {}
        if taken.too_rare is not None:
            yield f"Training holds {_share(taken.too_rare)} of its ids fewer than 100 times, as the text shows."
        elif model.get("training_tokens") or model.get("training_bytes"):
            yield "The text is too small to show which ids training holds fewer than 100 times; that excludes no size."
        else:
            yield "It is not known how often ids are trained: give the model 'training_tokens' or 'training_bytes'."
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
        for sizes in recommendation.ranges:
            if sizes.refused:
                yield f"{sizes.line} is shown and not recommended: {sizes.refused}."
        by_reason: dict[str, list[str]] = {}
        for line, reason in recommendation.left_out.items():
            by_reason.setdefault(reason, []).append(line)
        for reason, lines in by_reason.items():
            yield f"{names(lines)} cannot be recommended: {reason}."

    def options(self) -> Iterator[Row]:
        taken = self._taken
        own = [choice for choice in self._recommendation.choices if taken and choice.line == taken.line]
        own.sort(key=lambda choice: choice.vocab_size)
        place = own.index(taken) if taken else 0
        for choice in own[max(0, place - _BESIDE) : place + _BESIDE + 1]:
            more = choice.more is not None and choice is not taken
            yield Row([
                choice.line, f"{choice.vocab_size:,}", f"{choice.compression_ratio:.3f}",
                _beyond(choice.more or 0.0, choice.more_low, choice.more_high) if more else "",
                "" if choice is taken else _cost(choice, taken),
                "" if choice.share is None else percent(choice.share),
                "" if choice.too_rare is None else percent(choice.too_rare),
            ])  # fmt: skip


def _range(sizes: SizeRange, over: str) -> Iterator[str]:
    if sizes.smallest == sizes.largest:
        yield f"Take {sizes.line} with {sizes.best:,} tokens {over}: a byte of text costs least there."
    else:
        yield (
            f"Take {sizes.line} with {about(sizes.smallest)} to {about(sizes.largest)} tokens {over}: the cost of a "
            f"byte of text is within 2 % of the least there, which {about(sizes.best)} have."
        )
    if sizes.open_above and not _is_too_small(sizes):
        yield f"It has no larger size than {sizes.largest:,}, and a larger one may cost as little."
    if sizes.open_below:
        yield f"It has no smaller size than {sizes.smallest:,}, and a smaller one may cost as little."


def _is_too_small(sizes: SizeRange) -> bool:
    return sizes.training_bytes is not None and sizes.training_bytes < ENOUGH * sizes.largest


def _too_small(sizes: SizeRange, *, mixed: bool) -> str:
    trained = sizes.training_bytes or 0.0
    so_mixed = " of text that is so mixed" if mixed else ""
    return (
        f"The text is too small to decide a size: {sizes.line} was trained on {byte_size(trained)}{so_mixed}, which "
        f"are {trained / sizes.largest:.0f} bytes for an id of {about(sizes.largest)}, and {ENOUGH} are needed: "
        f"{byte_size(about_number(ENOUGH * sizes.largest))} or more. As far as this text goes:"
    )


def about_number(number: float) -> float:
    """Return a number with two digits.

    >>> about_number(15_711), about_number(7.46e6)
    (16000.0, 7500000.0)
    """
    return float(f"{number:.1e}")


def about(size: int) -> str:
    """Return a size for a sentence, with two digits.

    >>> about(15_711), about(257)
    ('16,000', '260')
    """
    return f"{about_number(size):,.0f}"


def _share(share: float) -> str:
    """Return a share with a digit where it is small.

    >>> _share(0.004), _share(0.27), _share(0.0), _share(0.00001)
    ('0.4 %', '27 %', '0 %', 'less than 0.1 %')
    """
    if 0 < share < 0.0005:  # noqa: PLR2004
        return "less than 0.1 %"
    return f"{100 * share:.1f} %" if 0 < share < 0.05 else percent(share)  # noqa: PLR2004


def _name(choice: SizeChoice) -> str:
    return f"{choice.line} with {choice.vocab_size:,} tokens"


def _beyond(more: float, low: float | None = None, high: float | None = None) -> str:
    """Return a share as more or fewer, with its interval.

    >>> _beyond(0.123, 0.11, 0.13), _beyond(-0.05)
    ('12.3 % [11.0, 13.0] more', '5.0 % fewer')
    """
    sign, word = (1, "more") if more >= 0 else (-1, "fewer")
    ends = sorted([sign * low, sign * high]) if low is not None and high is not None else []
    interval = f" [{100 * ends[0]:.1f}, {100 * ends[1]:.1f}]" if ends else ""
    return f"{100 * abs(more):.1f} %{interval} {word}"


def _cost(choice: SizeChoice, taken: SizeChoice | None) -> str:
    if taken is None or not choice.flops_per_byte or not taken.flops_per_byte:
        return ""
    return _beyond(choice.flops_per_byte / taken.flops_per_byte - 1)
