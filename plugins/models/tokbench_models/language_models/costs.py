"""Estimated memory and time of training transformers, and refusals."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from tokbench.config.model import Config
from tokbench.measuring.plan import Plan
from tokbench.measuring.prepared import PreparedTokenizer
from tokbench.plugin import InputError
from tokbench_models.language_models.body import Body, memory_bytes
from tokbench_models.language_models.contract import EncodedPart, ModelTexts
from tokbench_models.language_models.transformer import TransformerOptions

ADVICE: Final = "take a smaller preset, width or step_bytes"

_BYTES_PER_TOKEN: Final = 3
"""Assumed, but for a vocabulary of bytes."""

_BYTE_IDS: Final = 256
_SWEEP_SHARE: Final = 0.1

_OPERATIONS_PER_SECOND: Final = (6e9, 3e10)
"""Of training per second of CPU time, busy and idle."""


class ModelCost(NamedTuple):
    """The estimated cost of training the models of one tokenizer: bytes of one training, operations of all."""

    family: str
    corpus: str
    tokenizer: str
    n_ids: int
    memory: int
    operations: float

    def sentence(self, room: int | None) -> str:
        """Return the cost as a line, with advice if ``room`` bytes of memory are too few.

        >>> cost = ModelCost("transformer", "c", "o200k", 200_019, 467_000_000, 3e12)
        >>> print(cost.sentence(None))
        transformer on c, o200k with 200,019 ids: about 467 MB of memory, 1.7 to 8.3 minutes of CPU time
        >>> print(cost.sentence(10**8).partition("; ")[2])
        more than the 100 MB that there are: take a smaller preset, width or step_bytes
        """
        place = f"{self.family} on {self.corpus}, {self.tokenizer} with {self.n_ids:,} ids"
        line = f"{place}: {_memory(self.memory)}, {_minutes(self.operations)}"
        lacking = _lacking(self.memory, room)
        return f"{line}; {lacking}" if lacking else line


def _memory(needed: int) -> str:
    return f"about {needed / 1e6:,.0f} MB of memory"


def _lacking(needed: int, room: int | None) -> str:
    if room is None or needed <= room:
        return ""
    return f"more than the {room / 1e6:,.0f} MB that there are: {ADVICE}"


def _minutes(operations: float) -> str:
    most, least = (operations / speed / 60 for speed in _OPERATIONS_PER_SECOND)
    return f"{least:,.1f} to {most:,.1f} minutes of CPU time"


def refuse_too_large(training: EncodedPart, n_ids: int, body: Body, room: int | None) -> None:
    """Raise an ``InputError`` if a training needs more memory than ``room`` bytes."""
    from tokbench_models.language_models.transformer_model import window_of  # imports JAX, which takes a second

    if room is None:
        return
    needed = memory_bytes(n_ids, body, window_of(training, body.context_bytes))
    lacking = _lacking(needed, room)
    if lacking:
        raise InputError(f"a training with {n_ids:,} ids takes {_memory(needed)}, {lacking}")


def foresee(plan: Plan, prepared: Sequence[PreparedTokenizer]) -> Iterator[str]:
    """Yield the known costs of transformers before a run."""
    yield from cost_lines(plan, list(_costs_of_families(plan, prepared)))


def cost_lines(plan: Plan, costs: Sequence[ModelCost]) -> Iterator[str]:
    """Yield a line for each cost, and a total."""
    room = memory_room(plan.config)
    yield from (cost.sentence(room) for cost in costs)
    if costs:
        time = _minutes(sum(cost.operations for cost in costs))
        counted = f"counted with {_BYTES_PER_TOKEN} bytes of text a token, without JAX itself and a GPU"
        yield f"models in all: {time}; {counted}"


def _costs_of_families(plan: Plan, prepared: Sequence[PreparedTokenizer]) -> Iterator[ModelCost]:
    for family, options in plan.metrics:
        if not isinstance(options, TransformerOptions):
            continue
        for corpus in plan.corpora_of(family):
            n_bytes = training_bytes(plan, options.texts, corpus)
            names = plan.names_on(corpus)
            for tokenizer in prepared:
                n_ids = known_ids(tokenizer)
                if tokenizer.name in names and n_ids and not tokenizer.failure:
                    cost = training_cost(options.body, options.seeds, options.rates, n_ids, n_bytes)
                    yield ModelCost(family.name, corpus, tokenizer.name, n_ids, cost.memory, cost.operations)


def known_ids(tokenizer: PreparedTokenizer) -> int:
    """Return the size of a vocabulary, known or to be trained."""
    return tokenizer.facts.vocab_size if tokenizer.facts else tokenizer.planned.vocab_size


def training_bytes(plan: Plan, texts: ModelTexts, corpus: str) -> float:
    """Return the bytes of the training part of a corpus."""
    train = texts.train or corpus
    left = plan.corpora[train].holdout or (texts.holdout if train == corpus else 0.0)
    return min(float(texts.most_training), plan.surveys[train].bytes * (1 - left))


class TrainingCost(NamedTuple):
    """Bytes of one model's training, and operations of all."""

    memory: int
    operations: float


def training_cost(body: Body, seeds: int, rates: Sequence[float], n_ids: int, n_bytes: float) -> TrainingCost:
    """Return the cost of a transformer's trainings, with the search."""
    size = 1 if n_ids <= _BYTE_IDS else _BYTES_PER_TOKEN
    window = max(1, body.context_bytes // size)
    trainings = seeds + (_SWEEP_SHARE * len(rates) if len(rates) > 1 else 0.0)
    operations = trainings * body.flops(int(n_bytes / size), window, n_ids)
    return TrainingCost(memory_bytes(n_ids, body, window), operations)


def memory_room(config: Config) -> int | None:
    """Return the limit of a process, or the memory of the machine, in bytes."""
    if config.limits.memory:
        return config.limits.memory
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # the system does not tell
        return None
