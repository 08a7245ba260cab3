"""Isolated metrics: one tokenizer after the other, each in a process of its own, which may die."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

from tokbench.engine.workers.pool import InProcessPool, WorkerDied, WorkerPool
from tokbench.plugin import Failure, Options, attempt, doing
from tokbench.plugin.metrics import OWN_TEXTS, WHOLE, Job, MetricFamily, Outcome, StudyContext
from tokbench.plugin.timing import TimingPlace
from tokbench_engines.speed.isolated.contract import IsolatedMetric, StepAnswers, TrainedIn


class _Alone(Job):
    name: str

    @property
    def local_only(self) -> bool:
        return True

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return (self.name,)


@dataclass(frozen=True)
class LoadAlone(_Alone):
    """Load a tokenizer and warm it up; the answer is ``None`` or the failure.

    It has the limit of a training, because the one of an answer may be too short.
    """

    name: str
    limit: ClassVar[Literal["step", "train"]] = "train"

    def run(self, context: Any) -> Iterator[Failure | None]:
        with doing("loading", tokenizer=self.name, place=""):
            yield attempt(lambda: context.loaded(self.name).warm_up(), "loading")


@dataclass(frozen=True)
class MeasureAlone(_Alone):
    """Do some steps of an isolated metric for one tokenizer; the answers are step and answer, or step and failure.

    The last answer of a step is ``None`` in place of both.
    """

    family: str
    options: Options
    name: str
    steps: tuple[str, ...]

    def run(self, context: Any) -> Iterator[tuple[str, Any]]:
        make = context.family(self.family).make
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


def measure_all(context: StudyContext) -> Outcome:
    """Return the cells of every family of the study; tokenizers that are not timed get cells that say why."""
    every = Outcome()
    for family, options in context.plan.metrics:
        if family.study == _STUDY:
            outcome = _measured(context, family, options)
            every.cells += outcome.cells
            every.notes += outcome.notes
            every.tracebacks |= outcome.tracebacks
    return every


_STUDY: Final = "isolated"


def _measured(context: StudyContext, family: MetricFamily, options: Options) -> Outcome:
    missing, names = context.unmeasurable, [tokenizer.name for tokenizer in context.tokenizers]
    places = {name: [TimingPlace(name, OWN_TEXTS, WHOLE, one.id, one.unit) for one in family.values] for name in names}
    ready = [name for name in names if name not in missing]
    outcome = attempt(lambda: _measure(context, family, options, ready), family.name)
    if isinstance(outcome, Failure):
        failed = [place.failed(outcome) for name in ready for place in places[name]]
        outcome = Outcome(cells=failed, notes=[outcome.reason]).traced([outcome])
    absent = [(place, missing[name]) for name in names if name in missing for place in places[name]]
    outcome.cells += [place.without_value(why.reason, why.status) for place, why in absent]
    return outcome


def _measure(context: StudyContext, family: MetricFamily, options: Options, names: Sequence[str]) -> Outcome:
    assert family.make is not None
    metric: IsolatedMetric = family.make(options)
    answers = {}
    with context.alone(metric.seconds) as pool:
        pool.end()
        for done, name in enumerate(names):
            context.progress(f"{family.name}, one tokenizer at a time", done, len(names))
            answers[name] = _measure_one(MeasureAlone(family.name, options, name, tuple(metric.steps)), metric, pool)
        in_process = isinstance(pool, InProcessPool)
    outcome = metric.finish(answers, dict(_trained(context)))
    if in_process:
        outcome.notes.append(f"{family.name}: measured in one process, without isolation, as the run has no workers")
    return outcome


def _trained(context: StudyContext) -> Iterator[tuple[str, TrainedIn]]:
    corpora = context.plan.config.corpora
    for tokenizer in context.tokenizers:
        train = tokenizer.info.train
        if train and train.seconds is not None:
            # All that makes a training, except how much of each text was held out.
            texts = [(corpora[name].source, corpora[name].options) for name in tokenizer.train_on]
            made = [tokenizer.spec.name, tokenizer.info.options, tokenizer.vocab_size, texts]
            like = json.dumps(made, sort_keys=True, default=str)
            memory = None if train.memory_mb is None else round(train.memory_mb * 1e6)
            yield tokenizer.name, TrainedIn(train.seconds, memory, train.bytes, like, train.from_store)


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
