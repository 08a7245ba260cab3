"""Planned tokenizers -> tokenizers that every worker can get at: their facts, and the trainings, one by one."""

from __future__ import annotations

import hashlib
import logging
import pickle
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import ClassVar, Final, Literal, NamedTuple

from tokbench.corpus.corpus import feed, group_and_text
from tokbench.engine.check import Checked
from tokbench.engine.describe import identify
from tokbench.engine.folder import save_artefact
from tokbench.engine.load import facts_of
from tokbench.engine.stored import StoredWork
from tokbench.engine.workers.pool import WorkerDied, WorkerPool
from tokbench.engine.workers.worker import Recipe, WorkerContext, checked
from tokbench.foundation.errors import STOPS
from tokbench.foundation.failures import Failure, attempt, doing
from tokbench.foundation.jit import compilations
from tokbench.foundation.memory import PeakMemory
from tokbench.measuring.job import Job
from tokbench.measuring.plan import Plan, PlannedTokenizer
from tokbench.measuring.prepared import PreparedTokenizer, Training
from tokbench.results.cells import TokenizerState
from tokbench.tokenizers.backend import CountsFile, GroupedText
from tokbench.tokenizers.contract import Tokenizer
from tokbench.tokenizers.facts import TokenizerFacts
from tokbench.tokenizers.options import Options

_log = logging.getLogger(__name__)


_TRAINING: Final = "training"


class _Trained(NamedTuple):
    outcome: TokenizerFacts | Failure
    pickled: bytes


@dataclass(frozen=True)
class TrainTokenizer(Job):
    """Train a tokenizer on the text of the feed ``training``, with groups; the answer is :class:`Training`."""

    limit: ClassVar[Literal["step", "train"]] = "train"
    name: str
    backend: str
    options: Options
    vocab_size: int
    corpora: tuple[str, ...]
    counts: Mapping[str, CountsFile]
    """Tables by corpus, if it is trained on counts instead of text."""
    alone: bool
    """Train in a process in which no other tokenizers have been, so that its memory can be measured."""

    @property
    def needs_fresh_process(self) -> bool:
        return self.alone

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return (self.name,)

    def run(self, context: WorkerContext) -> Iterator[Training]:
        documents = n_bytes = 0
        step, steps, compiled_before = f"training {self.name}", self.vocab_size, compilations()

        def counted() -> Iterator[tuple[str, str]]:
            nonlocal documents, n_bytes
            for line in context.texts(_TRAINING):
                group, text = group_and_text(line)
                documents += 1
                n_bytes += len(text.encode())
                yield group, text

        def report(done: int, total: int) -> None:
            nonlocal steps
            steps = total
            context.progress(step, done, total)

        def train() -> Tokenizer:
            spec = context.registry.backends.get(self.backend)
            if self.counts:
                assert spec.train_counts is not None
                return checked(spec.train_counts(self.counts, self.vocab_size, self.options, report))
            assert spec.train is not None
            return checked(spec.train(GroupedText(counted()), self.vocab_size, self.options, report))

        start = time.perf_counter()
        with doing("training", tokenizer=self.name):
            with PeakMemory() as memory:
                tokenizer = attempt(train)
            context.progress(step, steps, steps)
            seconds = time.perf_counter() - start
            packed = tokenizer if isinstance(tokenizer, Failure) else attempt(lambda: self._packed(context, tokenizer))
            trained = _Trained(packed.during("training"), b"") if isinstance(packed, Failure) else packed
        documents += sum(table.documents for table in self.counts.values())
        n_bytes += sum(table.bytes for table in self.counts.values())
        most, compiled = memory.n_bytes if self.alone else None, compilations() > compiled_before
        yield Training(*trained, seconds, most, documents, n_bytes, compiled=compiled)

    def _packed(self, context: WorkerContext, tokenizer: Tokenizer) -> _Trained | Failure:
        pickled = attempt(lambda: pickle.dumps(tokenizer, pickle.HIGHEST_PROTOCOL), _CANNOT_BE_SENT)
        if isinstance(pickled, Failure):
            return pickled._replace(foreign=False)  # the words say what was done
        context.keep(self.name, tokenizer)
        return _Trained(facts_of(tokenizer, context.registry), pickled)


_CANNOT_BE_SENT = "train() must return a picklable object"


@dataclass(frozen=True)
class LoadTrained(Job):
    """Take a tokenizer that was trained and pickled before; the answer is its facts, or the failure."""

    name: str
    pickled: bytes

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return (self.name,)

    def run(self, context: WorkerContext) -> Iterator[TokenizerFacts | Failure]:
        with doing("loading", tokenizer=self.name):
            tokenizer = attempt(lambda: checked(pickle.loads(self.pickled)))  # noqa: S301 - pickled by a worker
            if isinstance(tokenizer, Failure):
                yield tokenizer.during("loading")
            else:
                context.keep(self.name, tokenizer)
                yield attempt(lambda: facts_of(tokenizer, context.registry))


def train_all(
    plan: Plan, prepared: Sequence[PreparedTokenizer], pool: WorkerPool, stored: StoredWork
) -> Iterator[PreparedTokenizer]:
    """Yield every tokenizer in order, trained if it is to be; one that cannot be trained is failed.

    One training comes after the other, so that their times can be compared; on a cluster they share the workers. Where
    a metric measures memory, too, each has a fresh process.
    """
    waiting = {
        tokenizer.name: tokenizer
        for tokenizer in prepared
        if tokenizer.planned.train_on and not tokenizer.planned.unavailable_reason
    }
    alone = not pool.shared and any(spec.trainings for spec in plan.study_specs.values())
    trained = {
        name: taken
        for name, tokenizer in waiting.items()
        if (taken := take_training(tokenizer, pool, stored, with_memory=alone))
    }
    if pool.shared:
        left = {name: tokenizer for name, tokenizer in waiting.items() if name not in trained}
        trained |= _train_side_by_side(plan, left, pool, stored)
    for tokenizer in prepared:
        if tokenizer.name in waiting and tokenizer.name not in trained:
            yield train_one(plan, tokenizer, pool, stored, alone=alone)
        else:
            yield trained.get(tokenizer.name, tokenizer)


def take_training(
    tokenizer: PreparedTokenizer, pool: WorkerPool, stored: StoredWork, *, with_memory: bool
) -> PreparedTokenizer | None:
    """Return a tokenizer as an earlier run trained it, or ``None`` if the store has none, or not with its memory."""
    training = stored.training(tokenizer.planned)
    if training is None or (with_memory and training.memory is None):
        return None
    facts: TokenizerFacts | Failure | WorkerDied = pool.ask(LoadTrained(tokenizer.name, training.pickled))
    if not isinstance(facts, TokenizerFacts):
        reason = (facts.failure if isinstance(facts, WorkerDied) else facts).reason
        _log.warning("training %s again: its entry in the store cannot be used: %s", tokenizer.name, reason)
        stored.forget_training(tokenizer.planned)
        return None
    stored.trained.append(tokenizer.name)
    trained = _trained(tokenizer, training._replace(outcome=facts), pool)
    return replace(trained, train_from_store=True)


def _train_side_by_side(
    plan: Plan, waiting: Mapping[str, PreparedTokenizer], pool: WorkerPool, stored: StoredWork
) -> dict[str, PreparedTokenizer]:
    jobs = iter([_training(plan, tokenizer.planned, alone=False) for tokenizer in waiting.values()])
    trained = {}
    for job, answer in pool.work(lambda: next(jobs, None), feeds=partial(_training_text, plan)):
        assert isinstance(job, TrainTokenizer)
        trained[job.name] = _trained(waiting[job.name], answer, pool, stored)
    return trained


def train_one(
    plan: Plan,
    tokenizer: PreparedTokenizer,
    pool: WorkerPool,
    stored: StoredWork | None = None,
    *,
    alone: bool = False,
) -> PreparedTokenizer:
    """Train one tokenizer, and keep it in the store if one is given; if it cannot be trained, its state says so.

    One that is trained ``alone`` has a fresh process, and its memory is measured. If something was compiled there, it
    is trained once more.
    """
    pool.progress(f"training {tokenizer.name}", 0, None)
    job = _training(plan, tokenizer.planned, alone=alone)
    feeds = partial(_training_text, plan, job)
    answer: Training | WorkerDied = pool.ask(job, feeds)
    if alone and isinstance(answer, Training) and answer.compiled:
        pool.end()
        answer = pool.ask(job, feeds)
    return _trained(tokenizer, answer, pool, stored)


def _training(plan: Plan, planned: PlannedTokenizer, *, alone: bool) -> TrainTokenizer:
    text = planned.train_on, plan.counts(planned)
    return TrainTokenizer(planned.name, planned.spec.name, planned.options, planned.vocab_size, *text, alone)


def _training_text(plan: Plan, job: Job) -> dict[str, Iterator[str]]:
    assert isinstance(job, TrainTokenizer)
    texts = (plan.corpora[name].training_text() for name in job.corpora if name not in job.counts)
    return {_TRAINING: feed(chain.from_iterable(texts), with_groups=True)}


def _trained(
    tokenizer: PreparedTokenizer,
    answer: Training | WorkerDied,
    pool: WorkerPool,
    stored: StoredWork | None = None,
) -> PreparedTokenizer:
    """Return the tokenizer with the outcome of its training, and keep that in the store."""
    planned = tokenizer.planned
    failed = TokenizerState.UNAVAILABLE if planned.optional else TokenizerState.FAILED
    if isinstance(answer, WorkerDied):
        return tokenizer.with_outcome(answer.failure, failed)
    tokenizer = replace(
        tokenizer,
        train_s=answer.seconds,
        train_memory=answer.memory,
        train_documents=answer.documents,
        train_bytes=answer.n_bytes,
    )
    trained = tokenizer.with_outcome(answer.outcome, failed)
    if trained.facts is None:
        return trained
    if stored:
        stored.keep_training(planned, answer)
    pool.keep(tokenizer.name, Recipe(planned.spec.name, planned.options, answer.pickled))
    size = trained.facts.vocab_size
    trained = replace(trained, pickled_sha256=hashlib.sha256(answer.pickled).hexdigest())
    if pool.shared and not tokenizer.train_from_store:
        trained = trained.with_note(_ON_A_CLUSTER)
    if planned.auto or size >= planned.vocab_size:
        return trained
    return trained.with_note(f"asked for {planned.vocab_size} tokens, but the text gave only {size}")


_ON_A_CLUSTER: Final = "it was trained on a cluster, perhaps along with others: its training time cannot be compared"


class TrainedRun(NamedTuple):
    """A run after its training phase."""

    checked: Checked
    stopped: str
    """``training`` if Ctrl-C or the loss of the workers ended the phase early: what was not trained is failed then."""


def train_run(checked: Checked, folder: Path | None, pool: WorkerPool, stored: StoredWork) -> TrainedRun:
    """Train the tokenizers that are to be trained, save them, and hash the vocabularies of all."""
    prepared: list[PreparedTokenizer] = []
    try:
        trained = train_all(checked.plan, checked.prepared, pool, stored)
        prepared.extend(save_artefact(folder, tokenizer, pool) if folder else tokenizer for tokenizer in trained)
        return TrainedRun(checked._replace(prepared=identify(prepared, pool)), "")
    except STOPS:
        pool.end()
        stopped = Failure("the run was stopped before it was trained")
        untrained = [
            tokenizer.with_outcome(stopped, TokenizerState.FAILED)
            if tokenizer.planned.train_on and not tokenizer.failure
            else tokenizer
            for tokenizer in checked.prepared[len(prepared) :]
        ]
        return TrainedRun(checked._replace(prepared=prepared + untrained), "training")
