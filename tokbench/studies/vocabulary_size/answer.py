"""The verdict on a vocabulary of one's own, as lines of the run's answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum, auto
from typing import Final

from tokbench.report.answer.line import CONFIDENCE, OWN, AnswerLine
from tokbench.report.answer.words import join, percent
from tokbench.report.tables import CellTables
from tokbench.studies.vocabulary_size.advice import amounts, confidence, enough_text, rounded_range, support
from tokbench.studies.vocabulary_size.block import VOCABULARY_SIZES, SizeAdvice, SizeCost, SizePick, VocabularySizes
from tokbench.studies.vocabulary_size.options import Model
from tokbench.studies.vocabulary_size.scaling import SHORT_SOURCE, law_range


class SizeVerdict(Enum):
    """What to do about a vocabulary of one's own."""

    TRAIN = auto()
    TAKE = auto()
    MORE_TEXT = auto()


def verdict(own: SizeCost, inside: SizeCost | None, published: SizeCost | None, margin: float) -> SizeVerdict:
    """Return the verdict for one model: the compute of a byte decides, and its tokens where the compute is the same.

    Args:
        own: the best size of the vocabulary.
        inside: the best of those that the training text supports; ``None`` if it supports none.
        published: the published vocabulary of least compute; ``None`` if none can be taken. All is better than none.
        margin: a smaller share of compute or tokens is no difference.

    ============  ============  =========
    own           inside        verdict
    ============  ============  =========
    not better    any           TAKE
    better        better        TRAIN
    better        not better    MORE_TEXT
    ============  ============  =========

    >>> small, large = (SizeCost(vocab_size=n, tokens_per_byte=1 / n, cost=n) for n in (100, 200))
    >>> verdict(small, small, large, 0.01), verdict(large, large, small, 0.01), verdict(small, None, large, 0.01)
    (<SizeVerdict.TRAIN: 1>, <SizeVerdict.TAKE: 2>, <SizeVerdict.MORE_TEXT: 3>)
    """
    if not _better(own, published, margin):
        return SizeVerdict.TAKE
    if inside is None or not _better(inside, published, margin):
        return SizeVerdict.MORE_TEXT
    return SizeVerdict.TRAIN


def _better(own: SizeCost, published: SizeCost | None, margin: float) -> bool:
    if published is None:
        return True
    compute, tokens = own.cost / published.cost - 1, own.tokens_per_byte / published.tokens_per_byte - 1
    return (tokens if abs(compute) < margin else compute) <= -margin


_CRITERION: Final = "A size is chosen for the least compute per byte at use, and not for the least loss."
_ENDS: Final = {
    "text": "the text gives no more",
    "file": "the configuration asks for no more; 'vocab_size: auto' goes on",
    "cap": "larger ones are not tried",
}


def size_lines(tables: CellTables) -> Iterator[AnswerLine]:
    """Yield the verdict for each model, and how sure it is; nothing without vocabularies of the run's own."""
    study = tables.results.studies.get(VOCABULARY_SIZES)
    if study is None:
        return
    if not study.advice:
        reasons = [f"No size for {line}: {why}." for line, why in study.left_out.items() if line in study.training]
        if reasons:
            yield AnswerLine(OWN, tuple(reasons))
        return
    by_model = {advice.model: advice for advice in reversed(study.advice)}
    best = [by_model[name] for name in study.models]
    last, margin = best[-1], tables.results.config.practical_margin
    decided = [verdict(advice.pick, advice.inside, _published(study, advice), margin) for advice in best]
    said = [_sentence(study, advice, verdict, margin) for advice, verdict in zip(best, decided, strict=True)]
    further = list(_further(study, best, margin))
    if last.line in tables.tokenizers and advised(study, last, margin).vocab_size < last.largest:
        further.append(f"Tables and bars have {last.line} with all its {last.largest:,} tokens.")
    yield AnswerLine(OWN, (*said, *further), leads=len(said))
    degree, *add = confidence(last.pick.high, study.weights, study.training[last.line])
    yield AnswerLine(CONFIDENCE, (degree, *(add if decided[-1] != SizeVerdict.MORE_TEXT else ())))


def _rival(study: VocabularySizes, advice: SizeAdvice) -> str:
    """Return the published tokenizer of least compute; empty if none can be taken."""
    published = study.whole[advice.model]
    return min(published, key=lambda name: published[name].cost, default="")


def _published(study: VocabularySizes, advice: SizeAdvice) -> SizeCost | None:
    return study.whole[advice.model].get(_rival(study, advice))


def advised(study: VocabularySizes, advice: SizeAdvice, margin: float) -> SizePick:
    """Return the size that the verdict names."""
    decided = verdict(advice.pick, advice.inside, _published(study, advice), margin)
    return advice.inside if decided == SizeVerdict.TRAIN and advice.inside else advice.pick


def _sentence(study: VocabularySizes, advice: SizeAdvice, verdict: SizeVerdict, margin: float) -> str:
    own = advised(study, advice, margin)
    tokens = compute = ""
    if published := _published(study, advice):
        tokens = _more(own.tokens_per_byte / published.tokens_per_byte - 1, margin, "many", "fewer", "tokens")
        compute = _more(own.cost / published.cost - 1, margin, "much", "less", "compute")
    model, rival = f"for {_a(advice.model)} model", _rival(study, advice)
    if verdict == SizeVerdict.TAKE:
        return f"Take {rival} {model}: with this text, your own vocabulary would cost {compute}, and use {tokens}."
    low, high = rounded_range(own.vocab_size, own.low, own.high)
    sizes = f"{own.vocab_size:,} tokens ({low:,} to {high:,})" if low < high else f"{own.vocab_size:,} tokens"
    if verdict == SizeVerdict.MORE_TEXT:
        lack = amounts(enough_text(own.high, study.weights, study.training[advice.line]))
        return f"Get more text {model}: {lack}. Then train {advice.line} with about {sizes}."
    compared = f": compared with {rival}, {compute} per byte, and {tokens}" if rival else ""
    return f"Train {advice.line} with {sizes} {model}{compared}."


def _further(study: VocabularySizes, best: Sequence[SizeAdvice], margin: float) -> Iterator[str]:
    """Yield what else bears on a size: the text, the compute, and a published law."""
    last = best[-1]
    supported = support(study.weights, study.training[last.line])
    inside = {advice.model: _inside(advice, margin) for advice in best if advice.inside not in {None, advice.pick}}
    of_these = f"; the best of these: {_each(inside, best)}" if inside else ""
    yield f"{supported[:1].upper()}{supported[1:]}{of_these}."
    if len(study.whole[last.model]) > 1:
        yield f"Of the published ones, {_rival(study, last)} needs the least compute."
    yield f"Least compute at use: {_each({advice.model: f'{advice.best:,}' for advice in best}, best)}."
    if last.pick.high == last.largest:
        yield f"{last.largest:,} is the largest size: {_ENDS[study.ends[last.line]]}."
    laws = {each.model: law_range(Model(**study.models[each.model]), each.pick.tokens_per_byte) for each in best}
    yield f"Least loss, by the law of {SHORT_SOURCE}: {_each(laws, best)}."
    if out := [f"{line} ({why})" for line, why in study.left_out.items() if line not in study.training]:
        yield f"Not compared: {join(out)}."
    yield _CRITERION


def _inside(advice: SizeAdvice, margin: float) -> str:
    own, best = advice.inside or advice.pick, advice.pick
    compute = _more(own.cost / best.cost - 1, margin, "much", "less", "compute")
    return f"{own.vocab_size:,} ({compute} {'as' if compute.startswith('as') else 'than'} {best.vocab_size:,})"


def _each(facts: Mapping[str, str], models: Sequence[SizeAdvice]) -> str:
    """Return facts by model; a model is named if there are several."""
    return " · ".join(f"{name} {fact}" if len(models) > 1 else fact for name, fact in facts.items())


def _a(model: str) -> str:
    """Return a model with its article.

    >>> _a("own"), _a("1b"), _a("8b"), _a("11b"), _a("110b")
    ('your', 'a 1b', 'an 8b', 'an 11b', 'a 110b')
    """
    if model == "own":
        return "your"
    return f"an {model}" if re.match(r"8|1[18](?!\d)", model) else f"a {model}"


def _more(share: float, margin: float, as_: str, less: str, what: str) -> str:
    """Return how much more or less of something, or that it is the same.

    >>> _more(0.051, 0.01, "many", "fewer", "tokens"), _more(-0.2, 0.01, "much", "less", "compute")
    ('5% more tokens', '20% less compute')
    """
    if abs(share) < margin:
        return f"as {as_} {what}"
    return f"{percent(abs(share))} {'more' if share > 0 else less} {what}"
