"""The interface of a pool, which runs jobs, and the pool that runs them in this very process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple, Self

from tokbench.engine.workers.worker import LoadRecipe, WorkerContext
from tokbench.foundation.failures import Failure, Heartbeat
from tokbench.foundation.progress import Progress, RunProgress
from tokbench.measuring.job import Job, TokenizerJob
from tokbench.registry.foreign import distributions_of
from tokbench.registry.plugins import ALL, Registry, load_registry
from tokbench.tokenizers.backend import BackendSpec

_BATCH_CHARS: Final = 1 << 20

Feeds = Mapping[str, Iterable[str]]
"""The texts that a job may ask for, by name."""


class WorkerDied(NamedTuple):
    """A worker process ended in the middle of a job."""

    failure: Failure
    """Why it ended, and what the process was doing."""
    heartbeat: Heartbeat
    crashed: bool
    ended: str
    """Why it ended."""
    last_words: str = ""
    """The end of what it printed, if its output is captured."""


class InMemory(NamedTuple):
    """The tokenizers that the workers of a pool have in memory."""

    here: Collection[str]
    """Those of the worker that requests a job."""
    elsewhere: Collection[str]
    workers: int


class Strangers(NamedTuple):
    """What is not tokbench's own, by name, with the distributions whose plugins may run in its processes."""

    tokenizers: Mapping[str, tuple[str, ...]]
    families: Mapping[str, tuple[str, ...]]


class WorkerPool(ABC):
    """Runs jobs, in worker processes or in this process; ``size`` processes can load tokenizers side by side."""

    shared: ClassVar[bool] = False
    """Whether the jobs of others may run at the same time, so that times cannot be compared."""

    def __init__(self, progress: Progress, size: int = 1) -> None:
        self.size = size
        self.progress = RunProgress.of(progress)
        self.kept: dict[str, LoadRecipe] = {}
        """The recipe of each tokenizer."""
        self.notes: list[str] = []
        """For the reader of the results."""
        self.lost = ""
        """Why its workers are out of reach for good, if they are."""
        self.strangers = Strangers({}, {})
        """Each has processes that no other tokenizer shares, and no family of another distribution."""
        self._registry: Registry | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def start(self) -> None:  # noqa: B027 - nothing to do for most
        """Start the workers that will be needed."""

    def isolate(self, registry: Registry, specs: Mapping[str, BackendSpec]) -> None:
        """Give every stranger among the tokenizers of a run, by name, processes of its own."""
        self._registry = registry
        tokenizers = {name: registry.distributions_of(spec) for name, spec in specs.items() if self.size}
        families = {metric.name: distributions_of(metric.text, metric.make) for metric in registry.metrics}
        self.strangers = Strangers(
            *({k: some for k, some in hosts.items() if some} for hosts in (tokenizers, families))
        )

    @property
    def in_memory(self) -> InMemory | None:
        """The tokenizers loaded in the worker that requests a job; ``None`` if jobs need not be chosen by that."""
        return None

    @abstractmethod
    def end(self, keep: int = 0) -> None:
        """End all workers, whatever they are doing, or all but the first few."""

    def keep(self, name: str, recipe: LoadRecipe) -> None:
        self.kept[name] = recipe

    def ask(self, job: Job, feeds: Callable[[], Feeds] = dict) -> Any | WorkerDied:
        """Run one job on an idle pool, and return its only answer."""
        jobs = iter([job])
        answers = list(self.work(lambda: next(jobs, None), feeds=lambda _: feeds()))  # to its end
        return answers[0][1]

    @abstractmethod
    def work(
        self,
        next_job: Callable[[], Job | None],
        meanwhile: Callable[[], object] = lambda: None,
        feeds: Callable[[Job], Feeds] = lambda _: {},
    ) -> Iterator[tuple[Job, Any | WorkerDied]]:
        """Yield jobs and answers, as they come; the last answer of a job may be the death of its worker.

        A job whose worker dies before it has begun is given to another worker. One that ends its process is tried once
        more in a fresh one, see :attr:`Job.retry_alone`.

        Args:
            next_job: returns the next job, or ``None``. It is asked again after every answer.
            meanwhile: called while the workers work.
            feeds: makes the texts that a job may ask for, each time that it is given to a worker.

        Raises:
            WorkersLost: the workers are out of reach for good; :attr:`lost` says why.
        """

    def ask_each(self, jobs: Sequence[TokenizerJob], step: str) -> Iterator[tuple[str, Any | Failure | WorkerDied]]:
        """Yield the answers to some jobs as they come, with the names of their tokenizers."""
        waiting = iter(jobs)
        for done, (job, answer) in enumerate(self.work(lambda: next(waiting, None)), 1):
            assert isinstance(job, TokenizerJob)
            yield job.names[0], answer
            self.progress(step, done, len(jobs))


class InProcessPool(WorkerPool):
    """Runs every job in this process, so that a debugger works in plugins. Nothing is isolated or limited in time."""

    def __init__(self, progress: Progress) -> None:
        super().__init__(progress, 0)
        self._context: WorkerContext | None = None
        self._feeds: dict[str, Iterator[list[str]]] = {}

    def end(self, keep: int = 0) -> None:
        if not keep:
            self._context = None

    def work(
        self,
        next_job: Callable[[], Job | None],
        meanwhile: Callable[[], object] = lambda: None,  # noqa: ARG002 - one process has no meanwhile
        feeds: Callable[[Job], Feeds] = lambda _: {},
    ) -> Iterator[tuple[Job, Any]]:
        while (job := next_job()) is not None:
            if self._context is None:
                self._context = WorkerContext(
                    lambda feed: next(self._feeds[feed], []), self.progress, self._registry or load_registry(here=ALL)
                )
            self._context.recipes.update(self.kept)
            self._feeds = {name: text_batches(texts) for name, texts in feeds(job).items()}
            for answer in job.run(self._context):
                yield job, answer


def text_batches(texts: Iterable[str]) -> Iterator[list[str]]:
    """Yield the texts in lists of about a million characters.

    >>> list(text_batches(["one", "two"]))
    [['one', 'two']]
    """
    batch: list[str] = []
    chars = 0
    for text in texts:
        batch.append(text)
        chars += len(text) + 1
        if chars >= _BATCH_CHARS:
            yield batch
            batch, chars = [], 0
    if batch:
        yield batch
