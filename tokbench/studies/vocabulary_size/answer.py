"""The vocabulary size as lines of the run's answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from tokbench.report.answer.line import CONFIDENCE, OWN, AnswerLine
from tokbench.report.answer.ranking import rank
from tokbench.report.answer.slices import text_slices
from tokbench.report.answer.words import join, percent
from tokbench.report.sections.problems import short_vocabularies
from tokbench.report.tables import CellTables
from tokbench.studies.vocabulary_size.advice import confidence, rounded_range
from tokbench.studies.vocabulary_size.block import VOCABULARY_SIZES, SizeAdvice, VocabularySizes

_ALIKE: Final = 0.1
"""Models whose sizes differ by at most this share have one size."""


def size_lines(tables: CellTables) -> Iterator[AnswerLine]:
    """Yield the size to train for each model, and how sure that is; nothing without vocabularies of the run's own."""
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
    last = best[-1]
    sure = confidence(last.high, study.weights, study.training.get(last.line, {}))
    firm = sure.startswith("Firm")
    said = [_one(last, firm=firm) if len(best) == 1 else _several(best, firm=firm)]
    said += filter(None, [_beside(tables, study, best)])
    leads = len(said)
    if last.high == last.largest:
        short = last.line in {sentence.partition(":")[0] for sentence in short_vocabularies(tables.results)}
        further = "the text gives no more" if short else f"try {2 * last.largest:,} next"
        said.append(f"{last.largest:,} is the largest size tried; {further}.")
    yield AnswerLine(OWN, tuple(said), leads=leads)
    yield AnswerLine(CONFIDENCE, (sure,))


def _one(advice: SizeAdvice, *, firm: bool) -> str:
    low, high = rounded_range(advice.pick, advice.low, advice.high)
    sizes = f"{advice.pick:,} tokens ({low:,} to {high:,})" if low < high else f"{advice.pick:,} tokens"
    return f"Train {advice.line} with {sizes} for {_a(advice.model)} model{'' if firm else ', provisionally'}."


def _several(best: Sequence[SizeAdvice], *, firm: bool = True) -> str:
    """Return one size for each model; models with nearly the same size share a row.

    >>> def advice(model, pick, low, high):
    ...     return SizeAdvice(model=model, line="mine", pick=pick, low=low, high=high)
    >>> _several([advice("125m", 12_000, 8_000, 20_000), advice("1b", 30_000, 24_000, 48_000)])
    'Train mine: 125m model 12,000 tokens (8,000 to 20,000) · 1b 30,000 (24,000 to 48,000).'
    """
    rows: list[tuple[list[str], SizeAdvice]] = []
    for advice in best:
        models, last = rows[-1] if rows else ([], advice)
        if models and _alike(last, advice):
            both = replace(last, low=max(last.low, advice.low), high=min(last.high, advice.high))
            rows[-1] = ([*models, advice.model], both)
        else:
            rows.append(([advice.model], advice))
    parts = []
    for number, (models, advice) in enumerate(rows):
        low, high = rounded_range(advice.pick, advice.low, advice.high)
        line = "" if advice.line == rows[0][1].line else f"{advice.line} "
        names = f"{join(models)}{' model' if not number else ''}"
        parts.append(f"{names} {line}{advice.pick:,}{' tokens' if not number else ''} ({low:,} to {high:,})")
    return f"Train {rows[0][1].line}{'' if firm else ', provisionally'}: {' · '.join(parts)}."


def _alike(one: SizeAdvice, other: SizeAdvice) -> bool:
    """Tell whether the pick of one model is nearly that of another, and good for it too."""
    near = abs(other.pick / one.pick - 1) <= _ALIKE
    return one.line == other.line and near and other.low <= one.pick <= other.high


def _beside(tables: CellTables, study: VocabularySizes, best: Sequence[SizeAdvice]) -> str:
    """Compare the pick with the best published tokenizer, in tokens and in compute."""
    published = [name for name in tables.tokenizers if not tables.tokenizer(name).train]
    ranking = rank(tables, text_slices(tables, tables.results.config.weights), published)
    advice = best[len(best) // 2]
    rival = study.whole.get(advice.model, {}).get(ranking.best)
    if rival is None:
        return ""
    tokens, cost = advice.tokens_per_byte / rival.tokens_per_byte - 1, advice.cost / rival.cost - 1
    who = "That is" if len(best) == 1 else f"At {advice.pick:,}, {_a(advice.model)} model needs"
    than = f"{'' if len(best) == 1 else 'with '}{ranking.best}"
    return f"{who} {_more(tokens, 'fewer')} tokens than {than}, and {_more(cost)} compute per byte."


def _a(model: str) -> str:
    return "your" if model == "own" else f"{'an' if model.startswith('8') else 'a'} {model}"


def _more(share: float, less: str = "less") -> str:
    """Return a share as more or less.

    >>> _more(0.051), _more(-0.2, "fewer")
    ('5% more', '20% fewer')
    """
    return f"{percent(abs(share))} {'more' if share >= 0 else less}"
