"""Answers what a study of another package asks of its run; the study is in the process of its plugin."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from tokbench.measuring.study import AskedJobs, StudyContext
from tokbench.registry.hosted_study import PluginJob


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
