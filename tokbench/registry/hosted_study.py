"""What a study of another package sees of a run, in the process of its plugin; the run answers what it asks."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple

from tokbench.foundation.failures import Failure
from tokbench.foundation.progress import RunProgress, silent
from tokbench.measuring.job import Job

VALUES: Final = ("plan", "tokenizers", "ended", "unmeasurable", "cells", "worst")
"""The members of a study's context that are sent with it."""


@dataclass(frozen=True)
class PluginJob(Job):
    """A job that only the processes of its plugin can read; its answers are pickles, too."""

    retry_alone: ClassVar[bool] = True
    data: bytes
    at_work: tuple[str, ...]
    used: tuple[str, ...]
    plugins: tuple[str, ...] = ()
    local_only: bool = False
    needs_fresh_process: bool = False
    kept: Any = None
    feeds: Any = None

    @classmethod
    def of(
        cls, job: Job, plugins: tuple[str, ...], kept: Any = None, feeds: Mapping[str, Any] | None = None
    ) -> PluginJob:
        texts = {name: list(some) for name, some in (feeds or {}).items()}
        alone = job.local_only, job.needs_fresh_process
        return cls(pickle.dumps(job), tuple(job.tokenizers), tuple(job.loads), plugins, *alone, kept, texts)

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return self.at_work

    @property
    def loads(self) -> tuple[str, ...]:
        return self.used

    def run(self, context: Any) -> Iterator[Any]:
        job: Job = pickle.loads(self.data)  # noqa: S301 - of the plugin's own process
        for answer in job.run(context):
            yield answer if isinstance(answer, Failure) else pickle.dumps(answer)


class _Answer(NamedTuple):
    job: Job
    value: Any
    crashed: bool = False


class HostedContext:
    """See :class:`tokbench.measuring.study.StudyContext`."""

    def __init__(self, distribution: str, values: Mapping[str, Any], call: Callable[..., Any]) -> None:
        self._plugins = (distribution,)
        self._call = call
        vars(self).update(values)
        self.progress = RunProgress.of(silent)

    def state(self, role: Any, tokenizer: str, corpus: str, group: str) -> Any:
        return self._call("state", role, tokenizer, corpus, group)

    def ask(self, asked: Any) -> Iterator[Any]:
        jobs = [PluginJob.of(job, self._plugins, asked.kept(job), asked.feeds(job)) for job in asked.jobs]
        for number, value, crashed in self._call("ask", jobs, asked.step, asked.keep_asking):
            yield _Answer(asked.jobs[number], _opened(value), crashed)

    def stored(self, tokenizers: Sequence[str], kept: Any) -> Any:
        return _opened(self._call("stored", tokenizers, kept))

    def keep(self, tokenizers: Sequence[str], kept: Any, value: object) -> None:
        self._call("keep", tokenizers, kept, pickle.dumps(value))

    def key(self, tokenizers: Sequence[str], kept: Any) -> Any:
        return self._call("key", tokenizers, kept)

    @contextmanager
    def alone(self, seconds: float | None = None) -> Iterator[_HostedPool]:
        self._call("begin alone", seconds)
        try:
            yield _HostedPool(self._plugins, self._call)
        finally:
            self._call("end alone")


class _HostedPool:
    """The pool of a study that is alone on the machine."""

    def __init__(self, plugins: tuple[str, ...], call: Callable[..., Any]) -> None:
        self._plugins = plugins
        self._call = call

    def ask(self, job: Job, feeds: Callable[[], Mapping[str, Any]] = dict) -> Any:
        return _opened(self._call("ask alone", PluginJob.of(job, self._plugins, feeds=feeds())))

    def ask_each(self, jobs: Sequence[Job], _step: str) -> Iterator[tuple[str, Any]]:
        for job in jobs:
            yield job.tokenizers[0], self.ask(job)

    def end(self, keep: int = 0) -> None:
        self._call("end pool", keep)


def _opened(value: Any) -> Any:
    return pickle.loads(value) if isinstance(value, bytes) else value  # noqa: S301 - of the plugin's own process
