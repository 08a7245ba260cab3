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
from typing import ClassVar, Final, Literal

from tokbench.corpus.corpus import feed, group_and_text
from tokbench.engine.folder import save_artefact
from tokbench.engine.identity import file_digest
from tokbench.engine.load import READING_VOCABULARY, facts_of, vocabulary_sha256
from tokbench.engine.run import Run
from tokbench.engine.stored import Training
from tokbench.engine.workers.pool import WorkerDied, WorkerPool
from tokbench.engine.workers.worker import LoadRecipe, WorkerContext, checked
from tokbench.foundation.failures import Failure, attempt, doing
from tokbench.foundation.jit import compilations
from tokbench.foundation.memory import PeakMemory
from tokbench.measuring.job import Job, TokenizerJob
from tokbench.measuring.plan import VOCABULARY, Plan, RunTokenizer
from tokbench.results.blocks import TrainingInfo
from tokbench.tokenizers.backend import CountsFile, GroupedText
from tokbench.tokenizers.contract import Tokenizer
from tokbench.tokenizers.facts import TokenizerFacts
from tokbench.tokenizers.options import Options

_log = logging.getLogger(__name__)


_TRAINING: Final = "training"


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

        outcome: TokenizerFacts | Failure
        start, pickled = time.perf_counter(), b""
        with doing("training", tokenizer=self.name):
            with PeakMemory() as memory:
                tokenizer = attempt(train)
            context.progress(step, steps, steps)
            seconds = time.perf_counter() - start
            if isinstance(tokenizer, Failure):
                outcome = tokenizer
            elif isinstance(packed := _packed(tokenizer), Failure):
                outcome = packed
            else:
                pickled = packed
                loaded = context.keep(self.name, tokenizer)
                outcome = attempt(lambda: facts_of(loaded.tokenizer, context.registry))
        info = TrainingInfo(
            corpora=list(self.corpora),
            documents=documents + sum(table.documents for table in self.counts.values()),
            bytes=n_bytes + sum(table.bytes for table in self.counts.values()),
            vocab_size=self.vocab_size,
            seconds=seconds,
            memory_mb=memory.n_bytes / 1e6 if self.alone and memory.n_bytes is not None else None,
        )
        outcome = outcome.during("training") if isinstance(outcome, Failure) else outcome
        yield Training(outcome, pickled, info, compiled=compilations() > compiled_before)


def _packed(tokenizer: Tokenizer) -> bytes | Failure:
    pickled = attempt(lambda: pickle.dumps(tokenizer, pickle.HIGHEST_PROTOCOL), _CANNOT_BE_SENT)
    return pickled._replace(foreign=False) if isinstance(pickled, Failure) else pickled  # the words say what was done


_CANNOT_BE_SENT: Final = "train() must return a picklable object"


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


def train_all(run: Run, folder: Path | None = None) -> None:
    """Train every tokenizer that is to be trained, and save it; one that cannot be trained is failed.

    One training comes after the other, so that their times can be compared; on a cluster they share the workers. Where
    a study measures memory, too, each has a fresh process.
    """
    alone = not run.pool.shared and any(spec.trainings for spec in run.plan.study_specs.values())
    due = [tokenizer for tokenizer in run.plan.tokenizers if tokenizer.to_be_trained]
    for tokenizer in due:
        if not take_training(run, tokenizer, with_memory=alone) and not run.pool.shared:
            train_one(run, tokenizer, alone=alone)
        if folder and tokenizer.ready:
            save_artefact(folder, tokenizer, run.pool)
    left = [tokenizer for tokenizer in due if tokenizer.to_be_trained]
    _train_side_by_side(run, left)
    for tokenizer in left:
        if folder and tokenizer.ready:
            save_artefact(folder, tokenizer, run.pool)


def take_training(run: Run, tokenizer: RunTokenizer, *, with_memory: bool) -> bool:
    """Take a tokenizer as an earlier run trained it; return whether the store has it, with its memory if asked for."""
    training = run.stored.training(tokenizer)
    if training is None or (with_memory and training.info.memory_mb is None):
        return False
    facts: TokenizerFacts | Failure | WorkerDied = run.pool.ask(LoadTrained(tokenizer.name, training.pickled))
    if not isinstance(facts, TokenizerFacts):
        reason = (facts.failure if isinstance(facts, WorkerDied) else facts).reason
        _log.warning("training %s again: its entry in the store cannot be used: %s", tokenizer.name, reason)
        run.stored.forget_training(tokenizer)
        return False
    run.stored.trained.append(tokenizer.name)
    info = replace(training.info, corpora=list(tokenizer.train_on), from_store=True)
    _take(run, tokenizer, training._replace(outcome=facts, info=info))
    return True


def _train_side_by_side(run: Run, waiting: Sequence[RunTokenizer]) -> None:
    by_name = {tokenizer.name: tokenizer for tokenizer in waiting}
    jobs = iter([_training(run.plan, tokenizer, alone=False) for tokenizer in waiting])
    for job, answer in run.pool.work(lambda: next(jobs, None), feeds=partial(_training_text, run.plan)):
        assert isinstance(job, TrainTokenizer)
        _take(run, by_name[job.name], answer)
        if by_name[job.name].ready:
            by_name[job.name].info.notes.append(_ON_A_CLUSTER)


def train_one(run: Run, tokenizer: RunTokenizer, *, alone: bool = False) -> None:
    """Train one tokenizer, and keep it in the store; if it cannot be trained, its state says so.

    One that is trained ``alone`` has a fresh process, and its memory is measured. If something was compiled there, it
    is trained once more.
    """
    run.pool.progress(f"training {tokenizer.name}", 0, None)
    job = _training(run.plan, tokenizer, alone=alone)
    feeds = partial(_training_text, run.plan, job)
    answer: Training | WorkerDied = run.pool.ask(job, feeds)
    if alone and isinstance(answer, Training) and answer.compiled:
        run.pool.end()
        answer = run.pool.ask(job, feeds)
    _take(run, tokenizer, answer)


def _training(plan: Plan, tokenizer: RunTokenizer, *, alone: bool) -> TrainTokenizer:
    text = tokenizer.train_on, plan.counts(tokenizer)
    return TrainTokenizer(tokenizer.name, tokenizer.spec.name, tokenizer.options, tokenizer.vocab_size, *text, alone)


def _training_text(plan: Plan, job: Job) -> dict[str, Iterator[str]]:
    assert isinstance(job, TrainTokenizer)
    texts = (plan.corpora[name].training_text() for name in job.corpora if name not in job.counts)
    return {_TRAINING: feed(chain.from_iterable(texts), with_groups=True)}


def _take(run: Run, tokenizer: RunTokenizer, answer: Training | WorkerDied) -> None:
    """Take the outcome of a training, and keep it in the store if that does not have it."""
    tokenizer.take(answer.failure if isinstance(answer, WorkerDied) else answer.outcome)
    if isinstance(answer, WorkerDied):
        return
    info = tokenizer.info
    info.train = answer.info
    if info.vocab_size is None:
        return
    if not answer.info.from_store:
        run.stored.keep_training(tokenizer, answer)
    run.pool.keep(tokenizer.name, LoadRecipe(tokenizer.spec.name, tokenizer.options, answer.pickled))
    tokenizer.pickled_sha256 = hashlib.sha256(answer.pickled).hexdigest()
    if tokenizer.auto:
        info.train.vocab_size = info.vocab_size
    elif info.vocab_size < tokenizer.vocab_size:
        info.notes.append(f"asked for {tokenizer.vocab_size} tokens, but the text gave only {info.vocab_size}")


_ON_A_CLUSTER: Final = "it was trained on a cluster, perhaps along with others: its training time cannot be compared"


def train(run: Run, folder: Path | None) -> None:
    """Train the tokenizers that are to be trained, save them, and identify the vocabularies of all."""
    train_all(run, folder)
    _identify([tokenizer for tokenizer in run.plan.tokenizers if tokenizer.ready], run.pool)
    run.stored.identify()


def _identify(ready: Sequence[RunTokenizer], pool: WorkerPool) -> None:
    """Add the digests of files and vocabularies."""
    by_name = {tokenizer.name: tokenizer for tokenizer in ready}
    unknown = [tokenizer.name for tokenizer in ready if not tokenizer.info.sha256.get(VOCABULARY)]
    jobs = [TokenizerJob((name,), READING_VOCABULARY, name, vocabulary_sha256) for name in unknown]
    for name, answer in pool.ask_each(jobs, "identifying tokenizers"):
        if isinstance(answer, WorkerDied | Failure):
            reason = (answer.failure if isinstance(answer, WorkerDied) else answer).reason
            by_name[name].info.notes.append(f"its vocabulary is not known: {reason}")
        else:
            by_name[name].info.sha256[VOCABULARY] = answer
    for tokenizer in ready:
        files = {name: value for name, value in tokenizer.options if isinstance(value, Path) and value.is_file()}
        digests = {name: file_digest(path) for name, path in files.items()}
        tokenizer.info.sha256 = {**digests, VOCABULARY: tokenizer.info.sha256.get(VOCABULARY, "")}
