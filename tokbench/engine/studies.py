"""Runs the studies of a plan, one after the other; one that fails costs itself alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar, cast

from tokbench.engine.check import Checked
from tokbench.engine.evaluate import Evaluation
from tokbench.engine.finish import Finished
from tokbench.engine.stored import StoredWork
from tokbench.engine.study_calls import StudyCalls
from tokbench.engine.workers.one_thread import ONE_THREAD
from tokbench.engine.workers.pool import InProcessPool, WorkerDied, WorkerPool
from tokbench.engine.workers.processes import ProcessPool
from tokbench.foundation.errors import STOPS
from tokbench.foundation.failures import Failure, attempt, tracebacks
from tokbench.foundation.progress import RunProgress
from tokbench.foundation.store import Key
from tokbench.measuring.examples import DocumentExample
from tokbench.measuring.job import Job
from tokbench.measuring.metric import Role
from tokbench.measuring.plan import Plan
from tokbench.measuring.prepared import PreparedTokenizer
from tokbench.measuring.study import AskedJobs, JobAnswer, Kept, NoTiming, Outcome, StudySpec, plain_outcome
from tokbench.results.cells import Cell, Status
from tokbench.results.study_blocks import StudyBlocks

J = TypeVar("J", bound=Job)


@dataclass
class StudiesDone:
    """The results of the studies of a run."""

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    """By study, in the order in which they ran; one that failed as a whole has nothing but its failure."""
    blocks: StudyBlocks = field(default_factory=StudyBlocks)
    stopped: str = ""
    """The phase or study in which Ctrl-C or the loss of the workers ended the run."""
    lost: str = ""
    """Why the workers are out of reach, if that has ended it."""

    @property
    def cells(self) -> list[Cell]:
        return [cell for outcome in self.outcomes.values() for cell in outcome.cells]

    @property
    def notes(self) -> list[str]:
        return [note for outcome in self.outcomes.values() for note in outcome.notes]

    @property
    def failures(self) -> dict[str, list[str]]:
        return {name: outcome.failures for name, outcome in self.outcomes.items() if outcome.failures}

    @property
    def tracebacks(self) -> dict[str, str]:
        return {reason: text for outcome in self.outcomes.values() for reason, text in outcome.tracebacks.items()}


def run_studies(
    checked: Checked, evaluation: Evaluation, finished: Finished, stopped: str, pool: WorkerPool, stored: StoredWork
) -> StudiesDone:
    """Run every study of the plan, unless the run is ``stopped``.

    Ctrl-C or the loss of the workers ends it early, and what was found is kept.
    """
    done = StudiesDone(stopped=stopped, lost=pool.lost)
    context = _Context(checked, evaluation, finished, done, pool, stored)
    for name, options in checked.plan.studies.items() if not stopped else ():
        spec = checked.plan.study_specs[name]
        try:
            with pool.progress.phase(name):
                outcome = attempt(partial(_outcome, spec, context, options, done.blocks))
        except STOPS:
            done.stopped, done.lost = name, pool.lost
            return done
        if isinstance(outcome, Failure):
            outcome = Outcome(failures=[outcome.reason], tracebacks=tracebacks([outcome]))
        outcome.notes = [*(f"the study of {spec.title}: {reason}" for reason in outcome.failures), *outcome.notes]
        outcome.notes += [_NOT_ON_THE_CLUSTER.format(spec.title)] if spec.alone and pool.shared else []
        done.outcomes[name] = outcome
    return done


_NOT_ON_THE_CLUSTER: Final = (
    "{} was measured on the machine that started the run, which the results describe, and not on the cluster"
)


def _outcome(spec: StudySpec, context: _Context, options: Any, blocks: StudyBlocks) -> Outcome:
    """Run a study, put its block to the others, and return its outcome as plain values."""
    outcome = plain_outcome(spec.run(context.of(spec), options), "run")
    if spec.block is not None and outcome.block is not None:
        blocks.put(spec.block, outcome.block)
        outcome.block = blocks.get(spec.block)
    return outcome


class _Context:
    """See :class:`tokbench.measuring.study.StudyContext`: all that a study sees of a run."""

    def __init__(
        self,
        checked: Checked,
        evaluation: Evaluation,
        finished: Finished,
        done: StudiesDone,
        pool: WorkerPool,
        stored: StoredWork,
    ) -> None:
        self._checked = checked
        self._evaluation = evaluation
        self._finished = finished
        self._done = done
        self._pool = pool
        self._stored = stored
        crashed = evaluation.crashed.items()
        self._ended = {name: failure for (name, family), failure in crashed if family not in evaluation.foreign}
        self._study = ""

    def of(self, spec: StudySpec) -> _Context:
        self._study = spec.name
        self._calls = StudyCalls(self)
        return self

    def answer_plugin(self, request: bytes) -> bytes:
        """Answer the study where it is in the process of its plugin."""
        return self._calls.answer(request)

    @property
    def plan(self) -> Plan:
        return self._checked.plan

    @property
    def prepared(self) -> Sequence[PreparedTokenizer]:
        return self._checked.prepared

    @property
    def ended(self) -> Mapping[str, Failure]:
        return self._ended

    @property
    def not_timed(self) -> Mapping[str, NoTiming]:
        outcomes = self._done.outcomes.values()
        other = {name: reason for outcome in outcomes for name, reason in outcome.not_ranked.items()}
        unready = {
            each.name: NoTiming(Status(each.state.value), each.reason) for each in self.prepared if not each.facts
        }
        ended = {name: NoTiming.of(failure) for name, failure in self._ended.items()}
        return {name: NoTiming(Status.NOT_APPLICABLE, reason) for name, reason in other.items()} | ended | unready

    @contextmanager
    def alone(self, seconds: float | None = None) -> Iterator[WorkerPool]:
        pool, limits = self._pool, self.plan.config.limits
        pool.end(keep=1)
        if seconds is None or isinstance(pool, InProcessPool):
            yield pool
            return
        pool.end()
        limits = limits.model_copy(update={"step": min(limits.step, seconds), "train": limits.step})
        with ProcessPool(1, limits, pool.progress, environment=ONE_THREAD) as own:
            own.kept, own.strangers = pool.kept, pool.strangers
            yield own
        pool.notes += [note for note in own.notes if note not in pool.notes]

    @property
    def cells(self) -> Sequence[Cell]:
        return [*self._finished.cells, *self._done.cells]

    @property
    def worst(self) -> Mapping[tuple[str, str, str], Sequence[DocumentExample]]:
        return self._finished.worst

    @property
    def progress(self) -> RunProgress:
        return self._pool.progress

    def state(self, role: Role, tokenizer: str, corpus: str, group: str) -> Any | Failure:
        family = self.plan.family(role)
        if family is None:
            return Failure(f"the run has no metric with the role {role.value!r}")
        groups = self.plan.surveys[corpus].groups
        return self._evaluation.group_state((tokenizer, corpus, group, family.name), groups)

    def stored(self, tokenizers: Sequence[str], kept: Kept) -> Any | None:
        return self._stored.answer_of(self._study, tokenizers, kept)

    def keep(self, tokenizers: Sequence[str], kept: Kept, value: object) -> None:
        self._stored.keep_answer_of(self._study, tokenizers, kept, value)

    def key(self, tokenizers: Sequence[str], kept: Kept) -> Key | None:
        return self._stored.key_of(self._study, tokenizers, kept)

    def ask(self, asked: AskedJobs[J]) -> Iterator[JobAnswer[J]]:
        waiting, unasked = deque(asked.jobs), deque[JobAnswer[J]]()

        def next_job() -> J | None:
            while waiting:
                job = waiting.popleft()
                answer = self._without_asking(job, asked)
                if answer is None:
                    return job
                unasked.append(answer)
            return None

        done = 0
        self.progress(asked.step, done, len(asked.jobs))
        for job, value in self._pool.work(next_job, feeds=cast("Any", asked.feeds)):
            unasked.append(self._taken(cast("J", job), value, asked))
            while unasked:
                done += 1
                yield unasked.popleft()
            self.progress(asked.step, done, len(asked.jobs))
        yield from unasked
        self.progress(asked.step, len(asked.jobs), len(asked.jobs))

    def _without_asking(self, job: J, asked: AskedJobs[J]) -> JobAnswer[J] | None:
        """Return the answer that the store has, or that a tokenizer gives no more; ``None`` if it must be asked."""
        gone = next((self._ended[name] for name in job.tokenizers if name in self._ended), None)
        if gone:
            return JobAnswer(job, gone)
        kept = asked.kept(job)
        value = self.stored(job.tokenizers, kept) if kept else None
        return None if value is None else JobAnswer(job, value)

    def _taken(self, job: J, value: Any, asked: AskedJobs[J]) -> JobAnswer[J]:
        if isinstance(value, WorkerDied):
            if not asked.again:
                self._ended.update(dict.fromkeys(job.tokenizers[:1], value.failure))
            return JobAnswer(job, value.failure, crashed=value.crashed)
        kept = asked.kept(job)
        if kept and not isinstance(value, Failure):
            self.keep(job.tokenizers, kept, value)
        return JobAnswer(job, value)
