"""Planned tokenizers -> tokenizers: loaded first, all of them, then trained one by one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tokbench.errors import BackendUnavailable, Problem, one_line
from tokbench.guard import Failure, attempt
from tokbench.progress import Progress
from tokbench.protocol import HasNotes, Tokenizer
from tokbench.results import TokenizerState
from tokbench.runner.plan import Plan, PlannedTokenizer

__all__ = ["Prepared", "load_all", "train_all", "train_one"]


@dataclass
class Prepared:
    """A tokenizer of the run, and what became of it.

    Attributes:
        planned: what was planned.
        tokenizer: the tokenizer, if it is ready.
        state, reason: whether it is, and why not.
        load_s: seconds that loading took, the library's import included.
        train_s: seconds that training took.
        train_bytes, train_documents: size of the text it was trained on.
    """

    planned: PlannedTokenizer
    tokenizer: Tokenizer | None = None
    state: TokenizerState = TokenizerState.READY
    reason: str = ""
    load_s: float | None = None
    train_s: float | None = None
    train_bytes: int = 0
    train_documents: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Its name in the run."""
        return self.planned.name

    def take(self, outcome: Tokenizer | Failure, failed: TokenizerState) -> None:
        """Keep a tokenizer, or why there is none."""
        if isinstance(outcome, Failure):
            self.state, self.reason = failed, outcome.reason
        else:
            self.tokenizer = outcome
            self.notes = list(outcome.notes) if isinstance(outcome, HasNotes) else []


def load_all(plan: Plan, progress: Progress) -> list[Prepared]:
    """Load every tokenizer that is not to be trained.

    One that cannot be loaded is unavailable if it is optional, and a problem of the plan if it is not.
    """
    prepared = [Prepared(planned) for planned in plan.tokenizers]
    for k, each in enumerate(prepared):
        planned = each.planned
        if planned.absent:
            each.state, each.reason = TokenizerState.UNAVAILABLE, planned.absent
        elif not planned.train_on:
            _load(each, plan.problems)
        progress("loading tokenizers", k + 1, len(prepared))
    return prepared


def _load(each: Prepared, problems: list[Problem]) -> None:
    planned = each.planned
    start = time.perf_counter()

    def load() -> Tokenizer | Failure:
        assert planned.spec.load is not None
        try:
            return checked(planned.spec.load(planned.options))
        except BackendUnavailable as error:
            return Failure(one_line(error))

    outcome = attempt(load)
    each.load_s = time.perf_counter() - start
    each.take(outcome, TokenizerState.UNAVAILABLE)
    if isinstance(outcome, Failure) and not planned.optional:
        message = f"tokenizer {planned.name!r} (backend {planned.spec.name}): {outcome.reason}"
        problems.append(Problem(planned.where, message))


def checked(tokenizer: Any) -> Tokenizer:
    """The tokenizer, if it is one.

    Raises:
        TypeError: it lacks ``encode``, ``decode`` or a positive ``vocab_size``.
    """
    if not isinstance(tokenizer, Tokenizer):
        msg = f"the backend returned {type(tokenizer).__name__}, which lacks encode, decode or vocab_size"
        raise TypeError(msg)
    if tokenizer.vocab_size < 1:
        msg = f"vocab_size is {tokenizer.vocab_size}"
        raise TypeError(msg)
    return tokenizer


def train_all(plan: Plan, prepared: list[Prepared], progress: Progress) -> None:
    """Train every tokenizer that is to be trained; one that cannot be is failed, and the rest goes on."""
    for each in prepared:
        if each.planned.train_on and not each.planned.absent:
            train_one(plan, each, progress)


def train_one(plan: Plan, each: Prepared, progress: Progress) -> None:
    """Train one tokenizer; if it cannot be trained, its state and reason say so."""
    planned = each.planned
    step = f"training {planned.name}"
    steps = planned.vocab_size

    def documents() -> Iterator[str]:
        for name in planned.train_on:
            for document in plan.corpora[name].training():
                each.train_documents += 1
                each.train_bytes += len(document.text.encode())
                yield document.text

    def report(done: int, total: int) -> None:
        nonlocal steps
        steps = total
        progress(step, done, total)

    def train() -> Tokenizer:
        assert planned.spec.train is not None
        return checked(planned.spec.train(documents(), planned.vocab_size, planned.options, report))

    progress(step, 0, None)
    start = time.perf_counter()
    outcome = attempt(train)
    each.train_s = time.perf_counter() - start
    progress(step, steps, steps)
    each.take(outcome, TokenizerState.FAILED)
    if each.tokenizer and each.tokenizer.vocab_size < planned.vocab_size:
        each.notes.append(
            f"asked for {planned.vocab_size} tokens, the text gave {each.tokenizer.vocab_size}: its real size counts"
        )
