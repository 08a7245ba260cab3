"""Times tokenizers: those of a corpus together, in one process that is alone on the machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, NamedTuple

from tokbench.corpus.corpus import feed
from tokbench.engine.workers.pool import WorkerDied, WorkerPool
from tokbench.foundation.failures import Failure, attempt, doing
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.job import Job, JobContext
from tokbench.measuring.plan import Plan
from tokbench.measuring.study import NoNumber, Outcome, StudyContext, absent_cells, joined, plain_outcome
from tokbench.measuring.timing.contract import TimedText
from tokbench.measuring.timing.copies import combined
from tokbench.results.cells import WHOLE
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

    def run(self, context: JobContext) -> Iterator[tuple[Outcome | Failure, dict[str, Failure]]]:
        make = context.family(self.family).make
        assert make is not None
        loaded = {name: attempt(lambda name=name: context.tokenizer(name), "loading") for name in self.names}  # type: ignore[misc]
        ready: dict[str, Tokenizer] = {
            k: tokenizer for k, tokenizer in loaded.items() if not isinstance(tokenizer, Failure)
        }
        texts = [
            TimedText(feed.corpus, feed.evaluated, feed.n_bytes, context.texts(feed.name), feed.group)
            for feed in self.feeds
        ]

        def measure() -> Outcome:
            metric = make(self.options)
            if hasattr(metric, "same_as"):
                metric.same_as = self.same_as
            return plain_outcome(metric.measure(ready, texts, context.progress), "measure")

        with doing("timing", tokenizer="", place=f"for {self.family}"):
            outcome = attempt(measure, self.family)
        yield outcome, {name: failure for name, failure in loaded.items() if isinstance(failure, Failure)}


def time_all(context: StudyContext) -> Outcome:
    """Return the cells and notes of every family of the study; a tokenizer that is not timed has cells that say why."""
    outcomes = []
    with context.alone() as pool:
        for family, options in context.plan.metrics:
            if family.study == _STUDY:
                timing = _Timing(context.plan, family, options, dict(context.unmeasurable), pool)
                outcome = attempt(
                    partial(timing.measure, [tokenizer.name for tokenizer in context.tokenizers]), family.name
                )
                outcomes.append(timing.failed(outcome) if isinstance(outcome, Failure) else outcome)
    return joined(outcomes)


_STUDY: Final = "speed"


@dataclass
class _Timing:
    """Times one family; finds out which tokenizers are ``missing``."""

    plan: Plan
    family: MetricFamily
    options: Options
    missing: dict[str, NoNumber]
    pool: WorkerPool

    def measure(self, names: Sequence[str]) -> Outcome:
        """Time corpora with the same tokenizers together."""
        by_names: dict[tuple[str, ...], list[str]] = {}
        for corpus in self.plan.corpora_of(self.family):
            on = self.plan.names_on(corpus)
            by_names.setdefault(tuple(name for name in names if name in on), []).append(corpus)
        return joined([self._measure_on(corpora, timed) for timed, corpora in by_names.items() if timed])

    def failed(self, failure: Failure) -> Outcome:
        """Return failed cells of the tokenizers of each corpus."""
        cells = [
            cell
            for corpus in self.plan.corpora_of(self.family)
            for cell in absent_cells(
                dict.fromkeys(self.plan.names_on(corpus), NoNumber.of(failure)), self._places([corpus])
            )
        ]
        return Outcome(cells=cells, notes=[failure.reason]).traced([failure])

    def _places(self, on: Sequence[str]) -> list[tuple[str, str, str, str]]:
        return [(name, WHOLE, metric.id, metric.unit) for name in on for metric in self.family.values]

    def _measure_on(self, on: Sequence[str], names: Sequence[str]) -> Outcome:
        """Time on some corpora."""
        outcomes, missing = [], self.missing
        repeats: int = getattr(self.options, "processes", 1)
        feeds = tuple(_feeds(self.plan, on, by_group=getattr(self.options, "by_group", False)))
        for _ in range(repeats):
            if repeats > 1:
                self.pool.end()
            outcomes.append(self._ask(TimeTokenizers(self.family.name, self.options, tuple(names), feeds, {})))
        sound = [
            replace(one, cells=[cell for cell in one.cells if cell.tokenizer not in missing])
            for one in outcomes
            if one.cells
        ]
        timed = combined(self.family.name, sound) if len(sound) > 1 else next(iter(sound), outcomes[0])
        places = dict.fromkeys((cell.corpus, cell.group, cell.metric, cell.unit) for cell in timed.cells)
        absent = absent_cells({name: missing[name] for name in names if name in missing}, places or self._places(on))
        failures = {reason: text for one in outcomes for reason, text in one.tracebacks.items()}
        return Outcome(cells=[*timed.cells, *absent], notes=timed.notes, tracebacks=failures)

    def _ask(self, job: TimeTokenizers) -> Outcome:
        """Time the tokenizers of a job in one process; begin again without one that ends the process."""
        same_as = {
            tokenizer.name: tokenizer.info.same_as for tokenizer in self.plan.tokenizers if tokenizer.info.same_as
        }
        while True:
            job = replace(job, names=tuple(name for name in job.names if name not in self.missing), same_as=same_as)
            answer = self.pool.ask(job, partial(_texts, self.plan, job.feeds))
            culprit = answer.heartbeat.tokenizer if isinstance(answer, WorkerDied) else ""
            if culprit not in job.names:
                break
            self.missing[culprit] = NoNumber.of(answer.failure)
        outcome: Outcome | Failure
        outcome, unloaded = (answer.failure, {}) if isinstance(answer, WorkerDied) else answer
        self.missing.update({name: NoNumber.of(failure) for name, failure in unloaded.items()})
        if isinstance(outcome, Failure):
            self.missing.update({name: NoNumber.of(outcome) for name in job.names})
            return Outcome(notes=[outcome.reason]).traced([*unloaded.values(), outcome])
        return outcome.traced(unloaded.values())


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
