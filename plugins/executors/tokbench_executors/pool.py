"""The pool whose workers are those of an executor: each job is a call."""

from __future__ import annotations

import logging
import pickle
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from typing import Any, ClassVar, Final, NamedTuple

from tokbench.config.model import Limits
from tokbench.engine.workers.pool import Feeds, WorkerDied, WorkerPool
from tokbench.engine.workers.processes import ProcessPool
from tokbench.engine.workers.worker import LoadRecipe
from tokbench.foundation.errors import WorkersLost
from tokbench.foundation.failures import Heartbeat
from tokbench.plugin import BackendError, Failure, InputError, Progress, attempt
from tokbench.plugin.metrics import Job
from tokbench_executors.made import Maker
from tokbench_executors.remote import Order, RemoteRun, describe, do, end_run
from tokbench_executors.surroundings import DescribeSurroundings, Surroundings

_MOST_ATTEMPTS: Final = 3

_JOIN: Final = 60.0
"""Seconds that the first workers have to answer."""

_END: Final = 10.0
"""Seconds that workers have to end their processes."""

_WAIT: Final = 0.5
_UNKNOWN: Final = 32
"""Workers of an executor that does not say how many it has."""

_LOGGER: Final = logging.getLogger("tokbench")


class _Attempt(NamedTuple):
    job: Job | None
    number: int = 1


class FuturesPool(WorkerPool):
    """Does jobs as calls of an executor, which has workers, queues and placement of its own.

    A call that fails is made again, twice at most; an executor that broke is made again. Jobs that must run here, such
    as timing, run in a process of this machine.
    """

    shared: ClassVar[bool] = True

    def __init__(self, make: Maker, limits: Limits, progress: Progress) -> None:
        super().__init__(progress)
        self._make = make
        self._local = ProcessPool(1, limits, progress)
        self._run = RemoteRun.of(limits)
        self._here = Surroundings({})
        self._executor, self._close = make()
        self._workers: int = getattr(self._executor, "_max_workers", 0) or _UNKNOWN

    def start(self) -> None:
        """Wait for workers, and check that they have the versions of this machine."""
        self._local.start()
        answer: Surroundings | WorkerDied = self._local.ask(DescribeSurroundings())
        if isinstance(answer, WorkerDied):
            raise BackendError(answer.failure.reason)
        self._here = answer
        calls = [self._executor.submit(describe, self._run, number) for number in range(self._workers)]
        done, late = wait(calls, _JOIN)
        for call in late:
            call.cancel()
        if not done:
            raise InputError(f"no worker of the executor answered within {_JOIN:g} s; does it have any?")
        for call in done:
            there = attempt(call.result)
            if isinstance(there, Failure):
                raise InputError(f"a worker of the executor cannot run tokbench: {there.reason}")
            if other := there.differences(answer):
                raise InputError(f"a worker of the executor: {other[0]}; install the same on every machine")

    def end(self, keep: int = 0) -> None:
        self._end_there()
        self._run = RemoteRun.of(self._run.limits)
        self._local.end(keep)

    def __exit__(self, *_: object) -> None:
        self._end_there()
        self._local.end()
        attempt(self._close)

    def _end_there(self) -> None:
        calls = range(self._workers)
        sent = attempt(lambda: [self._executor.submit(end_run, self._run.name, number) for number in calls])
        if not isinstance(sent, Failure):
            wait(sent, _END)

    def keep(self, name: str, recipe: LoadRecipe) -> None:
        super().keep(name, recipe)
        self._local.keep(name, recipe)

    def work(
        self,
        next_job: Callable[[], Job | None],
        meanwhile: Callable[[], object] = lambda: None,
        feeds: Callable[[Job], Feeds] = lambda _: {},
    ) -> Iterator[tuple[Job, Any | WorkerDied]]:
        """Run jobs; raise :class:`WorkersLost` if there can be no executor any more."""
        if self.lost:
            raise WorkersLost(self.lost)
        going: dict[Future[bytes], _Attempt] = {}
        again = deque[_Attempt]()
        try:
            while True:
                while len(going) < 2 * self._workers:
                    tried = again.popleft() if again else _Attempt(next_job())
                    if tried.job is None:
                        break
                    if tried.job.local_only:
                        yield from self._work_here(tried.job, meanwhile, feeds)
                    else:
                        going[self._submit(tried.job, feeds(tried.job))] = tried
                if not going:
                    return
                meanwhile()
                for call in wait(going, _WAIT, FIRST_COMPLETED).done:
                    yield from self._answers(call, going.pop(call), again)
        finally:
            for call in going:
                call.cancel()

    def _answers(
        self, call: Future[bytes], tried: _Attempt, again: deque[_Attempt]
    ) -> Iterator[tuple[Job, Any | WorkerDied]]:
        assert tried.job is not None
        outcome = attempt(call.result)
        if not isinstance(outcome, Failure):
            for answer in pickle.loads(outcome):  # noqa: S301 - of a worker
                yield tried.job, answer
        elif tried.number < _MOST_ATTEMPTS:
            self._say(f"a worker of the executor was lost, and its work done again: {outcome.reason}")
            again.append(_Attempt(tried.job, tried.number + 1))
        else:
            yield tried.job, _died(tried.job, outcome)

    def _work_here(
        self, job: Job, meanwhile: Callable[[], object], feeds: Callable[[Job], Feeds]
    ) -> Iterator[tuple[Job, Any | WorkerDied]]:
        self._local.strangers = self.strangers
        jobs = iter([job])
        yield from self._local.work(lambda: next(jobs, None), meanwhile, feeds)

    def _submit(self, job: Job, feeds: Feeds) -> Future[bytes]:
        recipes = {name: self.kept[name] for name in job.loads if name in self.kept}
        texts = {name: list(some) for name, some in feeds.items()}
        order = Order(self._run, self._here, job, recipes, texts, self.strangers)
        data = pickle.dumps(order, pickle.HIGHEST_PROTOCOL)
        try:
            return self._executor.submit(do, data)
        except BrokenExecutor:
            try:
                self._executor, self._close = self._make()
            except InputError as error:
                self.lost = str(error)
                raise WorkersLost(self.lost) from error
            return self._executor.submit(do, data)

    def _say(self, what: str) -> None:
        _LOGGER.warning("%s", what)
        self.notes.append(what)


def _died(job: Job, failure: Failure) -> WorkerDied:
    ended = f"its call failed {_MOST_ATTEMPTS} times, last: {failure.reason}"
    heartbeat = Heartbeat(next(iter(job.tokenizers), ""), "working")
    return WorkerDied(Failure(ended), heartbeat, crashed=False, ended=ended)
