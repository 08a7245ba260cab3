"""A configuration -> a plan in which nothing is wrong: corpora are read and tokenizers loaded, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Final, NamedTuple

from tokbench.config.model import Config
from tokbench.engine.load import Loaded, LoadTokenizer
from tokbench.engine.planning import READING, complete_plan, plan_tokenizers
from tokbench.engine.workers.executor import Executor, usable_cores
from tokbench.engine.workers.hosts import limit_hosts
from tokbench.engine.workers.one_thread import use_one_thread
from tokbench.engine.workers.pool import WorkerDied, WorkerPool
from tokbench.engine.workers.worker import Recipe
from tokbench.foundation.errors import InputError, Problem
from tokbench.foundation.failures import Failure
from tokbench.foundation.progress import Progress
from tokbench.measuring.plan import Plan, PlannedTokenizer, reading_order
from tokbench.measuring.prepared import PreparedTokenizer
from tokbench.registry.foreign import distributions_of
from tokbench.registry.plugins import ALL, Registry, load_registry
from tokbench.results.cells import TokenizerState

_CORES_TO_SHARE: Final = 2
"""With fewer cores, reading would disturb the times of loading."""


def load_all(plan: Plan, pool: WorkerPool, meanwhile: Callable[[], object]) -> list[PreparedTokenizer]:
    """Load every tokenizer that is not to be trained, shared by several workers.

    One that cannot be loaded is unavailable if it is optional, else a problem of the plan. ``meanwhile`` is called
    while they are loaded, if there is another process and a core for it, else before.
    """
    once = cache(meanwhile)
    if not pool.size or usable_cores() < _CORES_TO_SHARE:
        once()
    due = [planned for planned in plan.tokenizers if not planned.unavailable_reason and not planned.train_on]
    jobs = iter([LoadTokenizer(planned.name, Recipe(planned.spec.name, planned.options)) for planned in due])
    loaded: dict[str, Loaded] = {}
    for job, answer in pool.work(lambda: next(jobs, None), once):
        assert isinstance(job, LoadTokenizer)
        if isinstance(answer, WorkerDied):  # perhaps when its vocabulary was read, after it was loaded
            loaded.setdefault(job.name, Loaded(answer.failure))
        else:
            loaded[job.name] = answer
        pool.progress("loading tokenizers", len(loaded), len(due))
    once()
    return [_loaded(planned, loaded, pool, plan.problems) for planned in plan.tokenizers]


def _loaded(
    planned: PlannedTokenizer,
    loaded: Mapping[str, Loaded],
    pool: WorkerPool,
    problems: list[Problem],
) -> PreparedTokenizer:
    tokenizer = PreparedTokenizer(planned)
    if planned.unavailable_reason:
        return tokenizer.with_outcome(Failure(planned.unavailable_reason), TokenizerState.UNAVAILABLE)
    if planned.train_on:
        return tokenizer
    outcome, seconds, vocabulary = loaded[tokenizer.name]
    if not isinstance(outcome, Failure):
        pool.keep(tokenizer.name, Recipe(planned.spec.name, planned.options))
    elif not planned.optional:
        message = f"tokenizer {planned.name!r} (backend {planned.spec.name}): {outcome.reason}"
        problems.append(Problem(planned.location, message))
    tokenizer = replace(tokenizer, load_s=seconds, vocabulary=vocabulary)
    return tokenizer.with_outcome(outcome, TokenizerState.UNAVAILABLE)


class Checked(NamedTuple):
    """A configuration in which nothing is wrong; its tokenizers are loaded, but those to be trained not yet trained."""

    registry: Registry
    plan: Plan
    prepared: list[PreparedTokenizer]

    def with_lacks(self) -> Checked:
        """Return it with the metrics of other packages that its tokenizers cannot be measured by."""
        foreign = (family for family, _ in self.plan.metrics if distributions_of(family.text, family.make))
        needed = [metric for family in foreign for metric in family.values if metric.needs]

        def completed(tokenizer: PreparedTokenizer) -> PreparedTokenizer:
            if not tokenizer.facts:
                return tokenizer
            has = tokenizer.facts.has
            lacks = {metric.id for metric in needed if not any(need.__name__ in has for need in metric.needs)}
            return replace(tokenizer, facts=tokenizer.facts._replace(lacks=tokenizer.facts.lacks | lacks))

        return self._replace(prepared=[completed(tokenizer) for tokenizer in self.prepared])


@contextmanager
def worker_pool(config: Config, progress: Progress, executor: Executor | None = None) -> Iterator[WorkerPool]:
    """Yield the pool of a configuration, or raise InputError if its executor cannot be had."""
    use_one_thread()
    with (executor or Executor()).pool(config.limits, progress) as pool:
        if not config.problems:
            pool.start()
        yield pool


def check(config: Config, pool: WorkerPool) -> Checked:
    """Find everything that is wrong, before anything is measured, and raise InputError with all problems."""
    pool.progress(READING, 0, None)  # at once, because reading may take long
    registry = load_registry(here=None if pool.size else ALL)
    limit_hosts(config.limits)
    plan = plan_tokenizers(config, registry)
    pool.isolate(registry, {tokenizer.name: tokenizer.spec for tokenizer in plan.tokenizers})

    def read() -> None:
        with pool.progress.phase("reading"):
            complete_plan(plan, registry, pool.progress)

    with pool.progress.phase("loading"):
        prepared = load_all(plan, pool, read)
    if plan.problems:
        error = InputError(reading_order(plan.problems))
        for tokenizer in prepared:
            if tokenizer.failure and tokenizer.failure.traceback:
                error.add_note(f"\nOf tokenizer {tokenizer.name!r}:\n{tokenizer.failure.traceback}")
        raise error
    return Checked(registry, plan, prepared)
