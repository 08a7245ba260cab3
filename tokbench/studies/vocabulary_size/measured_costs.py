"""Estimated memory and time of measured sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tokbench.plugin import Plan, PreparedTokenizer
from tokbench.studies.language_models.costs import (
    ModelCost,
    cost_lines,
    known_ids,
    training_bytes,
    training_cost,
)
from tokbench.studies.vocabulary_size.options import MeasuredStudy

ADVICE: Final = "take a smaller body or step_bytes, or leave the size out"


def foresee(
    plan: Plan, options: MeasuredStudy, corpora: Sequence[str], prepared: Sequence[PreparedTokenizer]
) -> Iterator[str]:
    """Yield lines on the cost of the trainings."""
    corpus = options.corpus or next(iter(corpora), "")
    if corpus:
        yield from cost_lines(plan, list(_costs(plan, options, corpus, prepared)))


def _costs(
    plan: Plan, options: MeasuredStudy, corpus: str, prepared: Sequence[PreparedTokenizer]
) -> Iterator[ModelCost]:
    n_bytes = training_bytes(plan, options.texts, corpus)
    for tokenizer in prepared:
        named = bool({tokenizer.name, tokenizer.planned.entry} & set(options.tokenizers))
        if tokenizer.failure or not (named if options.tokenizers else tokenizer.planned.train_on):
            continue
        for shape in options.bodies:
            for size in _sizes(tokenizer, options.sizes):
                cost = training_cost(shape.body, options.seeds, options.learning_rates, size, n_bytes)
                body = f"{tokenizer.name}, body {shape.name}"
                yield ModelCost("measured sizes", corpus, body, size, cost.memory, cost.operations, ADVICE)


def _sizes(tokenizer: PreparedTokenizer, sizes: Sequence[int]) -> list[int]:
    whole = known_ids(tokenizer)
    planned = tokenizer.planned
    if planned.train_on and not planned.spec.is_nested(planned.options):
        return [size for size in sizes if size == whole]
    return sorted(size for size in sizes if size <= whole)
