"""Planned tokenizers -> tokenizers that every worker can get at: loaded first, all of them, then trained one by one."""

from __future__ import annotations

import pickle
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

from tokbench.config.model import Config
from tokbench.contracts.options import Options
from tokbench.contracts.tokenizer import HasNotes, Tokenizer
from tokbench.errors import BackendUnavailable, InputError, Problem, one_line
from tokbench.failures import Failure, attempt, doing
from tokbench.progress import Progress
from tokbench.registry import Registry, load_registry
from tokbench.results.cells import TokenizerState
from tokbench.runner.plan import Plan, PlannedTokenizer, make_plan, reading_order
from tokbench.runner.workers.pool import WorkerDied, WorkerPool, one_thread
from tokbench.runner.workers.worker import Job, Recipe, WorkerContext, checked

__all__ = ["Checked", "Facts", "Prepared", "Train", "check", "load_all", "train_all", "train_one", "worker_pool"]


class Facts(NamedTuple):
    """What a worker says of a tokenizer that is ready.

    Attributes:
        vocab_size, notes: its own words.
        lacks: ids of the values that it has not the capabilities for.
    """

    vocab_size: int
    notes: list[str]
    lacks: frozenset[str]

    @classmethod
    def of(cls, tokenizer: Tokenizer, registry: Registry) -> Facts:
        """The facts of a tokenizer."""
        values = (value for entry in registry.metrics.entries.values() for value in entry.spec.values)
        lacks = frozenset(each.id for each in values if each.needs and not any(_has(tokenizer, n) for n in each.needs))
        return cls(tokenizer.vocab_size, list(tokenizer.notes) if isinstance(tokenizer, HasNotes) else [], lacks)


def _has(tokenizer: Tokenizer, capability: type) -> bool:
    """Whether it has the members of a capability; unlike ``isinstance``, without computing what its class has.

    In Python 3.11 that would be done, and merges may take seconds to be found.
    """
    members = (name for name in dir(capability) if not name.startswith("_"))
    return all(hasattr(type(tokenizer), name) or hasattr(tokenizer, name) for name in members)


@dataclass
class Prepared:
    """A tokenizer of the run, and what became of it.

    Attributes:
        planned: what was planned.
        facts: what is known of it, if it is ready.
        state, reason, traceback: whether it is, why not, and where the code failed.
        load_s: seconds that loading took, the library's import included.
        train_s: seconds that training took.
        train_bytes, train_documents: size of the text it was trained on.
        vocabulary: digest of its vocabulary; ``""`` if it has none.
        saved: its file and the file's digest, if it was saved.
    """

    planned: PlannedTokenizer
    facts: Facts | None = None
    state: TokenizerState = TokenizerState.READY
    reason: str = ""
    traceback: str = ""
    load_s: float | None = None
    train_s: float | None = None
    train_bytes: int = 0
    train_documents: int = 0
    vocabulary: str = ""
    saved: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Its name in the run."""
        return self.planned.name

    def take(self, outcome: Facts | Failure, failed: TokenizerState) -> None:
        """Keep the facts, or why there are none."""
        if isinstance(outcome, Failure):
            self.state, self.reason = TokenizerState.TIMEOUT if outcome.timed_out else failed, outcome.reason
            self.traceback = outcome.traceback
        else:
            self.facts = outcome
            self.notes = outcome.notes


@dataclass(frozen=True)
class Load(Job):
    """Load a tokenizer; the answer is its facts, or why there are none, and the seconds."""

    name: str
    backend: str
    options: Options

    def run(self, context: WorkerContext) -> Iterator[tuple[Facts | Failure, float]]:
        """See :class:`tokbench.runner.workers.worker.Job`."""
        start = time.perf_counter()
        with doing("loading", tokenizer=self.name):
            outcome = attempt(lambda: self._load(context))
            seconds = time.perf_counter() - start
            facts = outcome if isinstance(outcome, Failure) else attempt(lambda: Facts.of(outcome, context.registry))
        if not isinstance(outcome, Failure):
            context.keep(self.name, outcome)
        yield facts, seconds

    def _load(self, context: WorkerContext) -> Tokenizer | Failure:
        load = context.registry.backends.get(self.backend).load
        assert load is not None
        try:
            return checked(load(self.options))
        except BackendUnavailable as error:
            return Failure(one_line(error))


def load_all(plan: Plan, pool: WorkerPool, progress: Progress) -> list[Prepared]:
    """Load every tokenizer that is not to be trained.

    One that cannot be loaded is unavailable if it is optional, and a problem of the plan if it is not.
    """
    prepared = [Prepared(planned) for planned in plan.tokenizers]
    for k, each in enumerate(prepared):
        planned = each.planned
        if planned.absent:
            each.state, each.reason = TokenizerState.UNAVAILABLE, planned.absent
        elif not planned.train_on:
            _load(each, pool, plan.problems)
        progress("loading tokenizers", k + 1, len(prepared))
    return prepared


def _load(each: Prepared, pool: WorkerPool, problems: list[Problem]) -> None:
    planned = each.planned
    answer = pool.ask(Load(planned.name, planned.spec.name, planned.options))
    outcome, each.load_s = (answer.failure, None) if isinstance(answer, WorkerDied) else answer
    each.take(outcome, TokenizerState.UNAVAILABLE)
    if not isinstance(outcome, Failure):
        pool.keep(each.name, Recipe(planned.spec.name, planned.options))
    elif not planned.optional:
        message = f"tokenizer {planned.name!r} (backend {planned.spec.name}): {outcome.reason}"
        problems.append(Problem(planned.where, message))


class Trained(NamedTuple):
    """What came out of a training, and what went in."""

    outcome: Facts | Failure
    pickled: bytes
    seconds: float
    documents: int
    n_bytes: int


@dataclass(frozen=True)
class Train(Job):
    """Train a tokenizer on the text of the feed ``training``; the answer is :class:`Trained`."""

    limit: ClassVar[Literal["train"]] = "train"
    name: str
    backend: str
    options: Options
    vocab_size: int

    def run(self, context: WorkerContext) -> Iterator[Trained]:
        """See :class:`tokbench.runner.workers.worker.Job`."""
        documents = n_bytes = 0
        step, steps = f"training {self.name}", self.vocab_size

        def counted() -> Iterator[str]:
            nonlocal documents, n_bytes
            for text in context.texts("training"):
                documents += 1
                n_bytes += len(text.encode())
                yield text

        def report(done: int, total: int) -> None:
            nonlocal steps
            steps = total
            context.progress(step, done, total)

        def train() -> Tokenizer:
            spec = context.registry.backends.get(self.backend)
            assert spec.train is not None
            return checked(spec.train(counted(), self.vocab_size, self.options, report))

        start = time.perf_counter()
        with doing("training", tokenizer=self.name):
            tokenizer = attempt(train)
            context.progress(step, steps, steps)
            seconds = time.perf_counter() - start
            packed = tokenizer if isinstance(tokenizer, Failure) else attempt(lambda: self._packed(context, tokenizer))
        facts, pickled = (packed, b"") if isinstance(packed, Failure) else packed
        yield Trained(facts, pickled, seconds, documents, n_bytes)

    def _packed(self, context: WorkerContext, tokenizer: Tokenizer) -> tuple[Facts, bytes] | Failure:
        """What the parent needs of the tokenizer, which stays here, too."""
        pickled = attempt(lambda: pickle.dumps(tokenizer, pickle.HIGHEST_PROTOCOL), _STAYS)
        if isinstance(pickled, Failure):
            return pickled
        context.keep(self.name, tokenizer)
        return Facts.of(tokenizer, context.registry), pickled


_STAYS = "it was trained, but cannot be handed from one process to another: what 'train' returns must be picklable"


def train_all(plan: Plan, prepared: list[Prepared], pool: WorkerPool, progress: Progress) -> Iterator[Prepared]:
    """Train every tokenizer that is to be trained; one that cannot be is failed, and the rest goes on.

    One comes after the other, so that their times can be compared; those of a study of sizes, which may be many, share
    the workers.
    """
    waiting = {each.name: each for each in prepared if each.planned.train_on and not each.planned.absent}
    if plan.config.study.vocabulary is None:
        for each in waiting.values():
            train_one(plan, each, pool, progress)
            yield each
        return
    jobs = deque(_training(each.planned) for each in waiting.values())
    for job, answer in pool.work(
        lambda: jobs.popleft() if jobs else None, feeds=lambda job: _feeds(plan, waiting, job)
    ):
        assert isinstance(job, Train)
        if isinstance(answer, WorkerDied) and not answer.heartbeat.verb:
            jobs.append(job)  # its worker died before it began
        else:
            _take(waiting[job.name], answer, pool)
    yield from waiting.values()


def train_one(plan: Plan, each: Prepared, pool: WorkerPool, progress: Progress) -> None:
    """Train one tokenizer; if it cannot be trained, its state and reason say so."""
    progress(f"training {each.name}", 0, None)
    job = _training(each.planned)
    _take(each, pool.ask(job, lambda: _feeds(plan, {each.name: each}, job)), pool)


def _training(planned: PlannedTokenizer) -> Train:
    return Train(planned.name, planned.spec.name, planned.options, planned.vocab_size)


def _feeds(plan: Plan, waiting: Mapping[str, Prepared], job: Job) -> dict[str, Iterator[str]]:
    """The training text of a job."""
    assert isinstance(job, Train)
    names = waiting[job.name].planned.train_on
    return {"training": (document.text for name in names for document in plan.corpora[name].training())}


def _take(each: Prepared, answer: Trained | WorkerDied, pool: WorkerPool) -> None:
    """Keep what came out of a training."""
    planned = each.planned
    failed = TokenizerState.UNAVAILABLE if planned.optional else TokenizerState.FAILED
    if isinstance(answer, WorkerDied):
        each.take(answer.failure, failed)
        return
    each.train_s, each.train_documents, each.train_bytes = answer.seconds, answer.documents, answer.n_bytes
    each.take(answer.outcome, failed)
    if each.facts:
        pool.keep(each.name, Recipe(planned.spec.name, planned.options, answer.pickled))
        if each.facts.vocab_size < planned.vocab_size:
            each.notes.append(
                f"asked for {planned.vocab_size} tokens, the text gave {each.facts.vocab_size}: its real size counts"
            )


class Checked(NamedTuple):
    """A configuration in which nothing is wrong.

    Attributes:
        registry: the plugins.
        plan: what will be done.
        prepared: the tokenizers, loaded in a worker; those to be trained are not yet.
    """

    registry: Registry
    plan: Plan
    prepared: list[Prepared]


@contextmanager
def worker_pool(config: Config, progress: Progress, workers: int = 1) -> Iterator[WorkerPool]:
    """The processes in which the tokenizers of a configuration run, while the block lasts.

    Raises:
        InputError: not even one.
    """
    if workers < 1:
        raise InputError([Problem("workers", f"{workers} is too few; give 1 or more")])
    one_thread()
    with WorkerPool(workers, config.limits, progress) as pool:
        if not config.problems:
            pool.start()
        yield pool


def check(config: Config, pool: WorkerPool, progress: Progress) -> Checked:
    """Find everything that is wrong before anything is measured.

    Raises:
        InputError: with all problems, each with its place.
    """
    registry = load_registry()
    plan = make_plan(config, registry, progress)
    prepared = load_all(plan, pool, progress)
    if plan.problems:
        raise InputError(reading_order(plan.problems))
    return Checked(registry, plan, prepared)
