"""Isolated metrics: one tokenizer after the other, each in a process of its own, which may die."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

from tokbench.engine.workers.one_thread import ONE_THREAD
from tokbench.engine.workers.pool import InProcessPool, WorkerDied, WorkerPool
from tokbench.engine.workers.processes import ProcessPool
from tokbench.engine.workers.worker import WorkerContext
from tokbench.foundation.failures import Failure, attempt, doing
from tokbench.foundation.plain_values import plain
from tokbench.measuring.cell import plain_outcome
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.isolated_metric import IsolatedMetric, StepAnswers, TrainedIn
from tokbench.measuring.job import Job
from tokbench.measuring.metric import TimedOutcome
from tokbench.measuring.plan import Plan, PlannedTokenizer
from tokbench.measuring.prepared import PreparedTokenizer
from tokbench.results.cells import OWN_TEXTS, WHOLE, Cell, Status
from tokbench.tokenizers.contract import WarmsUp
from tokbench.tokenizers.options import Options


class TimingSkipped(NamedTuple):
    """Why a tokenizer has no timings."""

    status: Status
    reason: str

    @classmethod
    def of(cls, failure: Failure) -> TimingSkipped:
        return cls(Status.of(failure), failure.reason)


@dataclass(frozen=True)
class LoadAlone(Job):
    """Load a tokenizer and warm it up; the answer is ``None`` or the failure.

    It has the limit of a training, because the one of an answer may be too short.
    """

    name: str
    limit: ClassVar[Literal["step", "train"]] = "train"

    @property
    def local_only(self) -> bool:
        return True

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return (self.name,)

    def run(self, context: WorkerContext) -> Iterator[Failure | None]:
        with doing("loading", tokenizer=self.name, place=""):
            yield attempt(lambda: self._load(context), "loading")

    def _load(self, context: WorkerContext) -> None:
        tokenizer = context.tokenizer(self.name)
        if isinstance(tokenizer, WarmsUp):
            tokenizer.warm_up()


@dataclass(frozen=True)
class MeasureAlone(Job):
    """Do some steps of an isolated metric for one tokenizer; the answers are step and answer, or step and failure.

    The last answer of a step is ``None`` in place of both.
    """

    family: str
    options: Options
    name: str
    steps: tuple[str, ...]

    @property
    def local_only(self) -> bool:
        return True

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return (self.name,)

    def run(self, context: WorkerContext) -> Iterator[tuple[str, Any]]:
        make = context.registry.metrics.get(self.family).isolated
        assert make is not None
        metric = make(self.options)
        for step in self.steps:
            with doing("measuring", tokenizer=self.name, place=f"{self.family}: {step}"):
                answers = metric.measure(step, lambda: context.tokenizer(self.name))
                while True:
                    answer = attempt(lambda answers=answers: next(answers, None))  # type: ignore[misc]
                    yield step, answer
                    if answer is None or isinstance(answer, Failure):
                        break


def measure_isolated(
    plan: Plan,
    prepared: Sequence[PreparedTokenizer],
    missing: Mapping[str, TimingSkipped],
    spec: MetricFamily,
    options: Options,
    pool: WorkerPool,
) -> TimedOutcome:
    """Return the cells of one isolated metric; tokenizers that are ``missing`` get cells that say why.

    Everything is measured on this machine, in processes of their own; the processes of the given pool are ended before.
    """
    assert spec.isolated is not None
    metric = spec.isolated(options)
    answers: dict[str, dict[str, StepAnswers]] = {}
    names = [tokenizer.name for tokenizer in prepared]
    ready = [name for name in names if name not in missing]
    with _pool_for(plan, metric, pool) as own:
        for name in ready:
            own.keep(name, pool.kept[name])
        for done, name in enumerate(ready):
            pool.progress(f"{spec.name}, one tokenizer at a time", done, len(ready))
            steps = plain(metric.steps, tuple[str, ...], "steps")
            answers[name] = _measure_one(MeasureAlone(spec.name, options, name, steps), metric, own)
    pool.notes += [note for note in own.notes if note not in pool.notes]
    trained = {
        tokenizer.name: TrainedIn(
            tokenizer.train_s,
            tokenizer.train_memory,
            tokenizer.train_bytes,
            _training_but_for_the_amount(plan, tokenizer.planned),
            tokenizer.train_from_store,
        )
        for tokenizer in prepared
        if tokenizer.train_s is not None
    }
    outcome = attempt(lambda: plain_outcome(metric.finish(answers, trained), "finish"), spec.name)
    if isinstance(outcome, Failure):
        missing = dict.fromkeys(ready, TimingSkipped.of(outcome)) | dict(missing)
        outcome = TimedOutcome([], [outcome.reason], [outcome])
    absent = [
        Cell(
            name, OWN_TEXTS, WHOLE, value.id, unit=value.unit, status=missing[name].status, reason=missing[name].reason
        )
        for name in names
        if name in missing
        for value in spec.values
    ]
    notes = list(outcome.notes)
    if isinstance(own, InProcessPool):
        notes.append(f"{spec.name}: measured in one process, without isolation, as the run has no workers")
    return outcome._replace(cells=outcome.cells + absent, notes=notes)


def _training_but_for_the_amount(plan: Plan, planned: PlannedTokenizer) -> str:
    """Return all that makes a training, except how much of each text was held out."""
    texts = [(entry.source, entry.options) for entry in map(plan.config.corpora.__getitem__, planned.train_on)]
    return json.dumps([planned.spec.name, planned.raw_options, planned.vocab_size, texts], sort_keys=True, default=str)


def _pool_for(plan: Plan, metric: IsolatedMetric, pool: WorkerPool) -> WorkerPool:
    pool.end()
    if isinstance(pool, InProcessPool):
        return InProcessPool(pool.progress)
    limits = plan.config.limits
    seconds = plain(metric.seconds, float | None, "seconds")
    if seconds is not None:
        limits = limits.model_copy(update={"step": min(limits.step, seconds), "train": limits.step})
    return ProcessPool(1, limits, pool.progress, environment=ONE_THREAD)


def _measure_one(job: MeasureAlone, metric: IsolatedMetric, pool: WorkerPool) -> dict[str, StepAnswers]:
    """Do all steps of one tokenizer, in a fresh process after each death, and before each step if it must be fresh."""
    answers: dict[str, StepAnswers] = {}
    rest = list(job.steps)
    while rest:
        steps = tuple(rest[:1] if metric.fresh else rest)
        if metric.fresh or not isinstance(pool, InProcessPool):
            pool.end()
        unloaded = None if metric.fresh else _load(job.name, pool)
        if unloaded:
            return answers | {step: StepAnswers([], unloaded) for step in rest}
        waiting = iter([MeasureAlone(job.family, job.options, job.name, steps)])
        for _, answer in pool.work(lambda waiting=waiting: next(waiting, None)):  # type: ignore[misc]
            if isinstance(answer, WorkerDied):
                step = rest.pop(0)
                answers[step] = StepAnswers(
                    _answers(answers, step), answer.failure, crashed=not answer.failure.timed_out
                )
                break
            step, value = answer
            if value is None or isinstance(value, Failure):
                rest.remove(step)
                answers[step] = StepAnswers(_answers(answers, step), value)
            else:
                answers[step] = StepAnswers([*_answers(answers, step), value])
    return answers


def _load(name: str, pool: WorkerPool) -> Failure | None:
    answer: Failure | WorkerDied | None = pool.ask(LoadAlone(name))
    if isinstance(answer, WorkerDied):
        reason = answer.failure.reason.replace("limits: {train:", "limits: {step:")
        return answer.failure._replace(reason=reason)
    return answer


def _answers(known: Mapping[str, StepAnswers], step: str) -> list[Any]:
    return known[step].answers if step in known else []
