"""What follows the text metrics: the studies and then, alone on the machine, the timings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Final, NamedTuple

from tokbench.corpus.corpus import feed
from tokbench.engine.check import Checked
from tokbench.engine.evaluate import Evaluation
from tokbench.engine.finish import Finished
from tokbench.engine.isolated import TimingSkipped, measure_isolated
from tokbench.engine.stored import StoredWork
from tokbench.engine.studies import StudiesDone, run_studies
from tokbench.engine.workers.pool import WorkerDied, WorkerPool
from tokbench.engine.workers.worker import WorkerContext
from tokbench.foundation.errors import STOPS
from tokbench.foundation.failures import Failure, attempt, doing
from tokbench.foundation.plain_values import plain
from tokbench.measuring.cell import plain_outcome
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.job import Job
from tokbench.measuring.metric import (
    RefersToOthers,
    RepeatsInProcesses,
    TimedOutcome,
    TimedText,
    TimesGroups,
)
from tokbench.measuring.plan import Plan
from tokbench.measuring.prepared import PreparedTokenizer
from tokbench.results.cells import OWN_TEXTS, WHOLE, Cell, Status
from tokbench.tokenizers.contract import Tokenizer
from tokbench.tokenizers.options import Options


class _Feed(NamedTuple):
    """The text of a corpus, or of one of its groups, for the process that times it."""

    name: str
    corpus: str
    group: str
    evaluated: bool
    n_bytes: int


@dataclass(frozen=True)
class TimeTokenizers(Job):
    """Time some tokenizers on the corpora, whose texts are the feeds.

    The answer is the outcome, or the failure, and by tokenizer why it could not be loaded.
    """

    family: str
    options: Options
    names: tuple[str, ...]
    feeds: tuple[_Feed, ...]
    same_as: Mapping[str, str]

    @property
    def local_only(self) -> bool:
        return True

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return self.names

    def run(self, context: WorkerContext) -> Iterator[tuple[TimedOutcome | Failure, dict[str, Failure]]]:
        make = context.registry.metrics.get(self.family).timed
        assert make is not None
        loaded = {name: attempt(lambda name=name: context.tokenizer(name), "loading") for name in self.names}  # type: ignore[misc]
        ready: dict[str, Tokenizer] = {
            k: tokenizer for k, tokenizer in loaded.items() if not isinstance(tokenizer, Failure)
        }
        texts = [
            TimedText(feed.corpus, feed.evaluated, feed.n_bytes, context.texts(feed.name), feed.group)
            for feed in self.feeds
        ]

        def measure() -> TimedOutcome:
            metric = make(self.options)
            if isinstance(metric, RefersToOthers):
                metric.refer(self.same_as)
            return plain_outcome(metric.measure(ready, texts, context.progress), "measure")

        with doing("timing", tokenizer="", place=f"for {self.family}"):
            outcome = attempt(measure, self.family)
        yield outcome, {name: failure for name, failure in loaded.items() if isinstance(failure, Failure)}


_NOT_ON_THE_CLUSTER: Final = (
    "{} was measured on the machine that started the run, which the results describe, and not on the cluster"
)


def time_all(
    plan: Plan,
    prepared: Sequence[PreparedTokenizer],
    untimed: Mapping[str, TimingSkipped],
    pool: WorkerPool,
) -> TimedOutcome:
    """Return the cells and notes of every timed and every isolated metric.

    A tokenizer that is not timed gets cells that say why.
    """
    pool.end(keep=1)
    outcomes = list[TimedOutcome]()
    missing = {t.name: TimingSkipped(Status(t.state.value), t.reason) for t in prepared if not t.facts}
    missing = {**untimed, **missing}
    names = [tokenizer.name for tokenizer in prepared]
    for spec, options in plan.metrics:
        if spec.isolated is not None:
            isolated = partial(measure_isolated, plan, prepared, missing, spec, options, pool)
            outcomes.append(_outcome(isolated, spec, {OWN_TEXTS: names}))
        if spec.timed is not None:
            timing = _Timing(plan, spec, options, dict(missing), pool)
            on = {corpus: [name for name in names if name in plan.names_on(corpus)] for corpus in plan.corpora_of(spec)}
            outcomes.append(_outcome(partial(timing.measure, names), spec, on))
            if pool.shared:
                outcomes.append(TimedOutcome([], [_NOT_ON_THE_CLUSTER.format(spec.name)]))
    return _joined(outcomes)


def _joined(outcomes: Sequence[TimedOutcome]) -> TimedOutcome:
    columns = zip(TimedOutcome([], []), *outcomes, strict=True)
    return TimedOutcome(*(list(chain.from_iterable(column)) for column in columns))


def _outcome(
    measure: Callable[[], TimedOutcome], spec: MetricFamily, places: Mapping[str, Sequence[str]]
) -> TimedOutcome:
    """Return the outcome of a metric; if its own code raises, failed cells of the tokenizers of each corpus."""
    outcome = attempt(measure, spec.name)
    if not isinstance(outcome, Failure):
        return outcome
    cells = [
        Cell(name, corpus, WHOLE, value.id, unit=value.unit, status=Status.of(outcome), reason=outcome.reason)
        for corpus, names in places.items()
        for name in names
        for value in spec.values
    ]
    return TimedOutcome(cells, [outcome.reason], [outcome])


@dataclass
class _Timing:
    """Times one metric; finds out which tokenizers are ``missing``."""

    plan: Plan
    spec: MetricFamily
    options: Options
    missing: dict[str, TimingSkipped]
    pool: WorkerPool

    def measure(self, names: Sequence[str]) -> TimedOutcome:
        """Time corpora with the same tokenizers together."""
        by_names: dict[tuple[str, ...], list[str]] = {}
        for corpus in self.plan.corpora_of(self.spec):
            on = self.plan.names_on(corpus)
            by_names.setdefault(tuple(name for name in names if name in on), []).append(corpus)
        return _joined([self._measure_on(corpora, timed) for timed, corpora in by_names.items() if timed])

    def _measure_on(self, on: Sequence[str], names: Sequence[str]) -> TimedOutcome:
        """Time on some corpora.

        If a tokenizer ends the process, begin again without it: timings of two processes differ. A metric that wants
        several processes gets fresh ones.
        """
        assert self.spec.timed is not None
        metric, missing = self.spec.timed(self.options), self.missing
        outcomes, failures = [], list[Failure]()
        repeats = plain(metric.processes, int, "processes") if isinstance(metric, RepeatsInProcesses) else 1
        by_group = isinstance(metric, TimesGroups) and plain(metric.by_group, bool, "by_group")
        feeds = tuple(_feeds(self.plan, on, by_group=by_group))
        for _ in range(repeats):
            if repeats > 1:
                self.pool.end()
            ready = tuple(name for name in names if name not in missing)
            one = self._ask(TimeTokenizers(self.spec.name, self.options, ready, feeds, {}))
            outcomes.append(one)
            failures += one.failures
        timed = TimedOutcome([c for c in outcomes[0].cells if c.tokenizer not in missing], outcomes[0].notes)
        if isinstance(metric, RepeatsInProcesses) and repeats > 1:
            sound = [
                one._replace(cells=[c for c in one.cells if c.tokenizer not in missing])
                for one in outcomes
                if one.cells
            ]
            timed = plain_outcome(metric.combine(sound), "combine") if len(sound) > 1 else timed
        places = dict.fromkeys((cell.corpus, cell.group, cell.metric, cell.unit) for cell in timed.cells)
        places = places or dict.fromkeys((name, WHOLE, one.id, one.unit) for name in on for one in self.spec.values)
        absent = [
            Cell(name, corpus, group, metric, unit=unit, status=missing[name].status, reason=missing[name].reason)
            for name in names
            if name in missing
            for corpus, group, metric, unit in places
        ]
        return TimedOutcome(timed.cells + absent, timed.notes, failures)

    def _ask(self, job: TimeTokenizers) -> TimedOutcome:
        """Time the tokenizers of a job in one process; begin again without one that ends the process."""
        same_as = {tokenizer.name: tokenizer.same_as for tokenizer in self.plan.tokenizers if tokenizer.same_as}
        while True:
            job = replace(job, names=tuple(name for name in job.names if name not in self.missing), same_as=same_as)
            answer = self.pool.ask(job, partial(_texts, self.plan, job.feeds))
            culprit = answer.heartbeat.tokenizer if isinstance(answer, WorkerDied) else ""
            if culprit not in job.names:
                break
            self.missing[culprit] = TimingSkipped.of(answer.failure)
        outcome, unloaded = (answer.failure, {}) if isinstance(answer, WorkerDied) else answer
        self.missing.update({name: TimingSkipped.of(failure) for name, failure in unloaded.items()})
        failures = list(unloaded.values())
        if isinstance(outcome, Failure):
            self.missing.update({name: TimingSkipped.of(outcome) for name in job.names})
            return TimedOutcome([], [outcome.reason], [*failures, outcome])
        return TimedOutcome(outcome.cells, outcome.notes, [*failures, *outcome.failures])


def _texts(plan: Plan, feeds: Iterable[_Feed]) -> dict[str, Iterator[str]]:
    """Return the texts of the feeds by name."""
    groups = {each.name: None if each.group == WHOLE else each.group for each in feeds}
    return {each.name: feed(plan.corpora[each.corpus].evaluation(groups[each.name])) for each in feeds}


def _feeds(plan: Plan, on: Sequence[str], *, by_group: bool) -> Iterator[_Feed]:
    for name in on:
        evaluated, survey = name in plan.measured, plan.surveys[name]
        yield _Feed(name, name, WHOLE, evaluated, survey.evaluated_bytes)
        if by_group and len(survey.groups) > 1:
            for group, size in survey.group_bytes.items():
                yield _Feed(f"{name}\0{group}", name, group, evaluated, size)


@dataclass
class StudiesAndTimings:
    """The results of what follows the text metrics."""

    studies: StudiesDone = field(default_factory=StudiesDone)
    timed: TimedOutcome = field(default_factory=lambda: TimedOutcome([], []))
    stopped: str = ""
    """The phase in which the run was stopped, if it was."""
    lost: str = ""
    """Why the workers are out of reach, if that has stopped the run."""


def run_studies_and_timings(
    checked: Checked, evaluation: Evaluation, finished: Finished, stopped: str, pool: WorkerPool, stored: StoredWork
) -> StudiesAndTimings:
    """Run the studies and then, alone on the machine, time. Ctrl-C or the loss of the workers ends it early."""
    further = StudiesAndTimings(stopped=stopped)
    if not further.stopped:
        further.studies = run_studies(checked, evaluation, finished, pool, stored)
        further.stopped = further.studies.stopped
    if not further.stopped:
        try:
            with pool.progress.phase("timing"):
                _, plan, prepared = checked
                further.timed = time_all(plan, prepared, _timing_skipped(evaluation, further.studies), pool)
        except STOPS:
            further.stopped = "timing"
    further.lost = pool.lost
    return further


def _timing_skipped(evaluation: Evaluation, studies: StudiesDone) -> dict[str, TimingSkipped]:
    """Return by tokenizer why it is not timed: it ended a process, or has other ids than its reference."""
    untimed = {name: TimingSkipped(Status.NOT_APPLICABLE, reason) for name, reason in studies.not_ranked.items()}
    untimed.update({name: TimingSkipped.of(failure) for (name, _), failure in evaluation.crashed.items()})
    return untimed
