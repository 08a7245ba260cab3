"""The pool of worker processes: one that dies or does not answer in time costs the tokenizer at work alone."""

from __future__ import annotations

import logging
import signal
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from itertools import chain
from multiprocessing.connection import wait
from typing import Any, Final, NamedTuple

from tokbench.config.model import Limits, memory_text
from tokbench.engine.workers import process
from tokbench.engine.workers.pool import Feeds, InMemory, WorkerDied, WorkerPool
from tokbench.engine.workers.process import Ended, WorkerProcess, how_ended
from tokbench.foundation.errors import BackendError
from tokbench.foundation.failures import Failure, Heartbeat
from tokbench.foundation.progress import Progress
from tokbench.measuring.job import Job
from tokbench.registry.foreign import DESCRIBED

_CHECKS_PER_LIMIT: Final = 4

_EXIT_GRACE_S: Final = 10.0
"""Seconds that a process has, after it hung up, to end itself: it may be writing a core dump."""

_MOST_IDLE_DEATHS: Final = 3
"""So many workers in a row may die while no tokenizer is at work."""

_MIXED: Final = "*"
"""The process of a slot for jobs that mix a stranger's tokenizer with others; each such job gets a new one."""


class _Waiting(NamedTuple):
    job: Job | None
    retrying: bool = False


class _Slot:
    """A place for one job at a time, with a process for tokbench's own tokenizers and one for each stranger's."""

    def __init__(self) -> None:
        self.processes: dict[str, WorkerProcess] = {}
        """By stranger's tokenizer; tokbench's own have an empty string."""

    @property
    def busy(self) -> WorkerProcess | None:
        return next((worker for worker in self.processes.values() if worker.job is not None), None)

    @property
    def loaded(self) -> set[str]:
        return set[str]().union(*(worker.loaded for worker in self.processes.values()))

    def end(self, *, keep_own: bool = False) -> None:
        for name in [name for name in self.processes if name or not keep_own]:
            self.processes.pop(name).end()

    def remove(self, worker: WorkerProcess) -> None:
        self.processes = {name: other for name, other in self.processes.items() if other is not worker}


class ProcessPool(WorkerPool):
    """Some worker processes, which are started when they are needed and replaced when they die.

    Args:
        size: the number of jobs that run side by side.
        limits: of jobs in time, and of each process in memory.
        progress: called with every step that a job reports.
        environment: variables for the processes.
        capture_output: keep what they print, instead of printing it; see :attr:`WorkerDied.last_words`.
        hosts: the distributions beyond tokbench's own whose plugins may run in all processes.
    """

    def __init__(
        self,
        size: int,
        limits: Limits,
        progress: Progress,
        *,
        environment: Mapping[str, str] | None = None,
        capture_output: bool = False,
        hosts: Collection[str] = (),
    ) -> None:
        super().__init__(progress, size)
        self.limits = limits
        self._new_worker = partial(WorkerProcess, limits.memory, environment or {}, capture_output=capture_output)
        self._hosts = tuple(hosts)
        self._slots = [_Slot() for _ in range(size)]
        self._again: deque[_Waiting] = deque()
        self._idle_deaths = 0
        self._asking = 0

    @property
    def in_memory(self) -> InMemory | None:
        if self.size == 1:
            return None
        others = [slot.loaded for number, slot in enumerate(self._slots) if number != self._asking]
        return InMemory(self._slots[self._asking].loaded, set[str]().union(*others), self.size)

    def start(self) -> None:
        for slot in self._slots:
            if "" not in slot.processes:
                slot.processes[""] = self._new_worker(self._hosts)

    def end(self, keep: int = 0) -> None:
        for number, slot in enumerate(self._slots):
            slot.end(keep_own=number < keep)

    def work(
        self,
        next_job: Callable[[], Job | None],
        meanwhile: Callable[[], object] = lambda: None,
        feeds: Callable[[Job], Feeds] = lambda _: {},
    ) -> Iterator[tuple[Job, Any | WorkerDied]]:
        self._again.clear()
        while True:
            for number, slot in enumerate(self._slots):
                if slot.busy:
                    continue
                self._asking = number
                job, retrying = self._again.popleft() if self._again else _Waiting(next_job())
                if job is not None:
                    worker = self._worker_for(slot, job, fresh=retrying)
                    worker.begin(job, self.kept, feeds(job), retrying=retrying)
            busy = {worker.line: worker for worker in self._busy()}
            if not busy:
                return
            meanwhile()
            for end in wait(list(busy), timeout=self._seconds_between_checks):
                yield from self._receive(busy[end])  # type: ignore[index]
            for worker in self._busy():
                timed_out = worker.timed_out(self.limits)
                if timed_out or worker.has_ended():
                    yield from self._end_worker(worker, timed_out=timed_out)

    def _busy(self) -> list[WorkerProcess]:
        return [slot.busy for slot in self._slots if slot.busy]

    def _worker_for(self, slot: _Slot, job: Job, *, fresh: bool) -> WorkerProcess:
        strangers = {name: distributions for name in job.loads if (distributions := self._distributions_of(name, job))}
        place = "" if not strangers else job.loads[0] if len(set(job.loads)) == 1 else _MIXED
        plugins = job.plugins or self.strangers.families.get(getattr(job, "family", ""), ())
        hosts = [*self._hosts, *plugins, *chain.from_iterable(strangers.values())]
        place = " ".join([*plugins, place])  # no name of a distribution has a space
        worker = slot.processes.get(place)
        if worker and (
            place.endswith(_MIXED)
            or (fresh and worker.loaded)
            or (job.needs_fresh_process and not worker.loaded.keys() <= set(job.loads))
        ):
            worker.end()
            worker = None
        slot.processes[place] = worker or self._new_worker(tuple(dict.fromkeys(hosts)))
        return slot.processes[place]

    def _distributions_of(self, name: str, job: Job) -> tuple[str, ...]:
        """Return the third parties whose plugins a tokenizer of a job needs."""
        recipe = self.kept.get(name) or getattr(job, "recipe", None)
        described = DESCRIBED.get(("backends", recipe.backend)) if recipe else None
        return self.strangers.tokenizers.get(name) or ((described,) if described else ())

    @property
    def _seconds_between_checks(self) -> float:
        return min(self.limits.step, self.limits.train, 4.0) / _CHECKS_PER_LIMIT

    def _receive(self, worker: WorkerProcess) -> Iterator[tuple[Job, Any | WorkerDied]]:
        assert worker.job is not None
        try:
            message = worker.receive()
        except (EOFError, OSError):
            yield from self._end_worker(worker)
            return
        if message is None:
            return
        if isinstance(message, Failure):
            yield from self._end_worker(worker, unreadable=message)
            return
        kind, content = message
        if kind == "answer":
            worker.answers += 1
            yield worker.job, content
        elif kind == "done":
            worker.job = None
            self._idle_deaths = 0
        elif kind == "progress":
            self.progress(*content)
        elif kind == "log":
            name, level, text = content
            logging.getLogger(name).log(level, text)

    def _end_worker(
        self, worker: WorkerProcess, *, timed_out: bool = False, unreadable: Failure | None = None
    ) -> Iterator[tuple[Job, WorkerDied]]:
        """End a worker that died, ``timed_out`` or sent what is ``unreadable``; yield its job and how it ended."""
        job = worker.job
        assert job is not None
        for slot in self._slots:
            slot.remove(worker)
        ended = worker.end(0.0 if timed_out or unreadable else _EXIT_GRACE_S)
        heartbeat = ended.heartbeat
        if unreadable and not heartbeat.verb:  # it has done its job since
            heartbeat = Heartbeat(next(iter(job.tokenizers), ""), "working")
        self._idle_deaths = 0 if heartbeat.verb else self._idle_deaths + 1
        if self._idle_deaths > _MOST_IDLE_DEATHS:
            if not worker.ready:
                how = f"took more than {process.START_S:g} s" if timed_out else how_ended(ended.code)
                seen = ended.last_words or "see what it wrote above"
                raise BackendError(f"worker processes do not start: the last one {how}; {seen}")
        elif not heartbeat.verb and not worker.answers:
            self._again.append(_Waiting(job))
            return
        if not heartbeat.verb:  # the job itself could not be begun
            heartbeat = Heartbeat(next(iter(job.tokenizers), ""), "beginning")
        died = self._death(job, ended._replace(heartbeat=heartbeat), timed_out=timed_out, unreadable=unreadable)
        if job.retry_alone and not (worker.answers or timed_out or worker.retrying):
            self._again.append(_Waiting(job, retrying=True))
        else:
            yield job, died

    def _death(self, job: Job, ended: Ended, *, timed_out: bool, unreadable: Failure | None) -> WorkerDied:
        heartbeat = ended.heartbeat
        doing = " ".join(part for part in (heartbeat.verb, heartbeat.place) if part)
        if ended.too_large:
            limit = self.limits.memory or 0
            how = f"the process used more memory than {memory_text(limit)}"
            advice = f"if it needs more, allow more: limits: {{memory: {memory_text(2 * limit)}}}"
            return WorkerDied(Failure(f"{how} while {doing}; {advice}"), heartbeat, crashed=False, ended=how)
        if timed_out:
            seconds: float = getattr(self.limits, job.limit)
            how = f"no answer within {seconds:g} s"
            advice = f"if it is only slow, allow more: limits: {{{job.limit}: {10 * seconds:g}}}"
            failure = Failure(f"{how} while {doing}; {advice}", timed_out=True)
            return WorkerDied(failure, heartbeat, crashed=False, ended=how)
        if unreadable:
            failure = unreadable._replace(reason=f"{unreadable.reason} while {doing}")
            return WorkerDied(failure, heartbeat, crashed=False, ended=unreadable.reason)
        failure = Failure(f"{ended.how} while {doing}")
        return WorkerDied(failure, heartbeat, ended.code != -signal.SIGKILL, ended.how, ended.last_words)
