"""A configuration -> a plan in which nothing is wrong: corpora are read and tokenizers loaded, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

from tokbench.config.model import Config
from tokbench.engine.load import LoadTokenizer
from tokbench.engine.planning import READING, complete_plan, plan_tokenizers
from tokbench.engine.run import Run, States
from tokbench.engine.stored import StoredWork
from tokbench.engine.workers.executor import Executor, usable_cores
from tokbench.engine.workers.one_thread import use_one_thread
from tokbench.engine.workers.pool import WorkerDied, WorkerPool
from tokbench.engine.workers.worker import LoadRecipe
from tokbench.foundation.errors import InputError, Problem
from tokbench.foundation.progress import Progress
from tokbench.foundation.store import Store
from tokbench.measuring.plan import VOCABULARY, Plan, reading_order
from tokbench.registry.foreign import limit_hosts
from tokbench.registry.plugins import ALL, load_registry
from tokbench.results.model import Results

_CORES_TO_SHARE: Final = 2
"""With fewer cores, reading would disturb the times of loading."""


def _load_all(plan: Plan, pool: WorkerPool, meanwhile: Callable[[], object]) -> None:
    """Load every tokenizer that is not to be trained, shared by several workers."""
    once = cache(meanwhile)
    if not pool.size or usable_cores() < _CORES_TO_SHARE:
        once()
    due = {
        tokenizer.name: tokenizer for tokenizer in plan.tokenizers if not tokenizer.failure and not tokenizer.train_on
    }
    jobs = iter([LoadTokenizer(name, LoadRecipe(each.spec.name, each.options)) for name, each in due.items()])
    done = set()
    for job, answer in pool.work(lambda: next(jobs, None), once):
        assert isinstance(job, LoadTokenizer)
        tokenizer, outcome = due[job.name], answer.failure if isinstance(answer, WorkerDied) else answer
        if isinstance(outcome, str):
            tokenizer.info.sha256[VOCABULARY] = outcome
        elif not tokenizer.ready:  # else it died when its vocabulary was read
            tokenizer.take(outcome)
        if tokenizer.ready:
            pool.keep(job.name, job.recipe)
        done.add(job.name)
        pool.progress("loading tokenizers", len(done), len(due))
    once()
    for tokenizer in due.values():
        if tokenizer.failure and not tokenizer.info.optional:
            message = f"tokenizer {tokenizer.name!r} (backend {tokenizer.spec.name}): {tokenizer.failure.reason}"
            plan.problems.append(Problem(tokenizer.location, message))


@contextmanager
def worker_pool(config: Config, progress: Progress, executor: Executor | None = None) -> Iterator[WorkerPool]:
    """Yield the pool of a configuration, or raise InputError if its executor cannot be had."""
    use_one_thread()
    with (executor or Executor()).pool(config.limits, progress) as pool:
        if not config.problems:
            pool.start()
        yield pool


def check(config: Config, pool: WorkerPool, store: Store | None = None) -> Run:
    """Find everything that is wrong, before anything is measured, and raise InputError with all problems.

    In the run that is returned, tokenizers are loaded, but for those that are to be trained.
    """
    pool.progress(READING, 0, None)  # at once, because reading may take long
    registry = load_registry(here=None if pool.size else ALL)
    limit_hosts(config.limits)
    plan = plan_tokenizers(config, registry)
    pool.isolate(registry, {tokenizer.name: tokenizer.spec for tokenizer in plan.tokenizers})

    def read() -> None:
        with pool.progress.phase("reading"):
            complete_plan(plan, registry, pool.progress)

    with pool.progress.phase("loading"):
        _load_all(plan, pool, read)
    if plan.problems:
        error = InputError(reading_order(plan.problems))
        for tokenizer in plan.tokenizers:
            if tokenizer.failure and tokenizer.failure.traceback:
                error.add_note(f"\nOf tokenizer {tokenizer.name!r}:\n{tokenizer.failure.traceback}")
        raise error
    infos = {tokenizer.name: tokenizer.info for tokenizer in plan.tokenizers}
    results = Results(name=config.name, tokenizers=infos, notes=plan.notes)
    return Run(registry, plan, pool, StoredWork(store, registry, plan), results, States(plan))
