"""Runs the studies of a plan, one after the other; one that fails costs itself alone."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, Final, TypeVar, cast

from tokbench.engine.run import Run
from tokbench.engine.workers.one_thread import ONE_THREAD
from tokbench.engine.workers.pool import InProcessPool, WorkerDied, WorkerPool
from tokbench.foundation.failures import Failure, attempt
from tokbench.foundation.store import Key
from tokbench.measuring.job import Job
from tokbench.measuring.metric import DocumentExample, Role
from tokbench.measuring.study import (
    AskedJobs,
    JobAnswer,
    Kept,
    NoNumber,
    Outcome,
    StudyContext,
    StudySpec,
    plain_outcome,
)
from tokbench.registry.hosted_study import PluginJob
from tokbench.results.cells import Cell, Status


class StudyCalls:
    """The run's end of :class:`tokbench.registry.hosted_study.HostedContext`."""

    def __init__(self, context: StudyContext, study: str) -> None:
        self._context = context
        self.study = study
        self._alone = ExitStack()
        self._pool: Any = None

    def answer(self, request: bytes) -> bytes:
        """Return the pickled answer to a request of the plugin's process, or raise what ends the run."""
        name, *arguments = pickle.loads(request)  # noqa: S301 - of our worker
        answers: dict[str, Callable[..., Any]] = {
            "state": self._context.state,
            "stored": self._context.stored,
            "keep": self._context.keep,
            "key": self._context.key,
            "ask": self._ask,
            "begin alone": self._begin_alone,
            "end alone": self._end_alone,
            "ask alone": lambda job: self._pool.ask(job, lambda: job.feeds),
            "end pool": self._end_pool,
        }
        return pickle.dumps(answers[name](*arguments), pickle.HIGHEST_PROTOCOL)

    def _ask(self, jobs: list[PluginJob], step: str, again: bool) -> list[tuple[int, Any, bool]]:  # noqa: FBT001 - as sent
        numbers = {id(job): number for number, job in enumerate(jobs)}
        asked = AskedJobs(jobs, step, lambda job: job.kept, lambda job: job.feeds, again)
        return [(numbers[id(one.job)], one.value, one.crashed) for one in self._context.ask(asked)]

    def _begin_alone(self, seconds: float | None) -> None:
        self._pool = self._alone.enter_context(self._context.alone(seconds))

    def _end_pool(self, keep: int) -> None:
        self._pool.end(keep)

    def _end_alone(self) -> None:
        self._alone.close()


J = TypeVar("J", bound=Job)


def run_studies(run: Run) -> None:
    """Run every study of the plan, unless the run is stopped, and add to its results what they found."""
    context = _Context(run)
    for name, options in run.plan.studies.items():
        run.phase(name, partial(_run_study, spec=run.plan.study_specs[name], options=options, context=context))


def _run_study(run: Run, spec: StudySpec, options: Any, context: _Context) -> None:
    context.study = spec.name
    outcome = attempt(partial(_outcome, run, spec, options, context))
    if isinstance(outcome, Failure):
        outcome = Outcome(failures=[outcome.reason]).traced([outcome])
    results = run.results
    results.cells += outcome.cells
    results.own_texts += outcome.own_texts
    results.tracebacks |= outcome.tracebacks
    results.notes += [*(f"the study of {spec.title}: {reason}" for reason in outcome.failures), *outcome.notes]
    if spec.alone and run.pool.shared:
        results.notes.append(_NOT_ON_THE_CLUSTER.format(spec.title))
    if outcome.failures:
        results.failed_studies[spec.name] = outcome.failures
    context.not_ranked |= outcome.not_ranked


_NOT_ON_THE_CLUSTER: Final = (
    "{} was measured on the machine that started the run, which the results describe, and not on the cluster"
)


def _outcome(run: Run, spec: StudySpec, options: Any, context: _Context) -> Outcome:
    """Run a study, put its block to the others, and return its outcome as plain values."""
    outcome = plain_outcome(spec.run(context, options), "run")
    if spec.block is not None and outcome.block is not None:
        run.results.studies.put(spec.block, outcome.block)
    return outcome


class _Context:
    """See :class:`tokbench.measuring.study.StudyContext`: all that a study sees of a run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._pool = run.pool
        self._stored = run.stored
        self.plan = run.plan
        self.tokenizers = run.plan.tokenizers
        self.progress = run.pool.progress
        crashed, foreign = run.states.crashed.items(), run.states.foreign
        self.ended = {name: failure for (name, family), failure in crashed if family not in foreign}
        self.not_ranked: dict[str, str] = {}
        self.study = ""
        self._calls: StudyCalls | None = None

    def answer_plugin(self, request: bytes) -> bytes:
        """Answer the study where it is in the process of its plugin."""
        if self._calls is None or self._calls.study != self.study:
            self._calls = StudyCalls(self, self.study)
        return self._calls.answer(request)

    @property
    def unmeasurable(self) -> Mapping[str, NoNumber]:
        other = {name: NoNumber(Status.NOT_APPLICABLE, reason) for name, reason in self.not_ranked.items()}
        ended = {name: NoNumber.of(failure) for name, failure in self.ended.items()}
        infos = {tokenizer.name: tokenizer.info for tokenizer in self.tokenizers if not tokenizer.ready}
        return other | ended | {name: NoNumber(Status(info.state.value), info.reason) for name, info in infos.items()}

    @contextmanager
    def alone(self, seconds: float | None = None) -> Iterator[WorkerPool]:
        pool, limits = self._pool, self.plan.config.limits
        pool.end(keep=1)
        if seconds is None or isinstance(pool, InProcessPool):
            yield pool
            return
        from tokbench.engine.workers.processes import ProcessPool

        pool.end()
        limits = limits.model_copy(update={"step": min(limits.step, seconds), "train": limits.step})
        with ProcessPool(1, limits, pool.progress, environment=ONE_THREAD) as own:
            own.kept, own.strangers = pool.kept, pool.strangers
            yield own
        pool.notes += [note for note in own.notes if note not in pool.notes]

    @property
    def cells(self) -> Sequence[Cell]:
        return self._run.results.cells

    @property
    def worst(self) -> Mapping[tuple[str, str, str], Sequence[DocumentExample]]:
        return self._run.worst

    def state(self, role: Role, tokenizer: str, corpus: str, group: str) -> Any | Failure:
        family = self.plan.family(role)
        if family is None:
            return Failure(f"the run has no metric with the role {role.value!r}")
        return self._run.states.group_state((tokenizer, corpus, group, family.name), self.plan.groups(corpus))

    def stored(self, tokenizers: Sequence[str], kept: Kept) -> Any | None:
        return self._stored.answer_of(self.study, tokenizers, kept)

    def keep(self, tokenizers: Sequence[str], kept: Kept, value: object) -> None:
        self._stored.keep_answer_of(self.study, tokenizers, kept, value)

    def key(self, tokenizers: Sequence[str], kept: Kept) -> Key | None:
        return self._stored.key_of(self.study, tokenizers, kept)

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
        gone = next((self.ended[name] for name in job.tokenizers if name in self.ended), None)
        if gone:
            return JobAnswer(job, gone)
        kept = asked.kept(job)
        value = self.stored(job.tokenizers, kept) if kept else None
        return None if value is None else JobAnswer(job, value)

    def _taken(self, job: J, value: Any, asked: AskedJobs[J]) -> JobAnswer[J]:
        if isinstance(value, WorkerDied):
            if not asked.keep_asking:
                self.ended.update(dict.fromkeys(job.tokenizers[:1], value.failure))
            return JobAnswer(job, value.failure, crashed=value.crashed)
        kept = asked.kept(job)
        if kept and not isinstance(value, Failure):
            self.keep(job.tokenizers, kept, value)
        return JobAnswer(job, value)
