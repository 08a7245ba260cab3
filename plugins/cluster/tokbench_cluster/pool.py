"""The pool of the workers of a dask cluster: jobs of workers that vanish or fall silent are retried elsewhere."""

from __future__ import annotations

import hashlib
import logging
import pickle
import queue
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn

from tokbench.config.model import Limits
from tokbench.engine.workers.one_thread import ONE_THREAD
from tokbench.engine.workers.pool import Feeds, WorkerDied, WorkerPool, text_batches
from tokbench.engine.workers.processes import ProcessPool
from tokbench.engine.workers.worker import Recipe
from tokbench.foundation.errors import WorkersLost
from tokbench.foundation.failures import Heartbeat
from tokbench.plugin import Failure, Progress, attempt
from tokbench.plugin.metrics import Job
from tokbench_cluster.admission import JOIN, Admission
from tokbench_cluster.cluster import Cluster, Member, joined, started
from tokbench_cluster.remote import (
    LEASE,
    Lacking,
    Lapsed,
    Order,
    RunKey,
    end_run,
    keep_texts,
    renew,
    run_order,
    settings_for_workers,
    topic_of,
)

if TYPE_CHECKING:
    from distributed import Future

_MOST_ATTEMPTS: Final = 3

_PATIENCE: Final = 30.0
"""Seconds without a sign of life of a dask worker after which its job is retried elsewhere."""

_BEAT: Final = 3.0
"""Seconds between two signs of life to the workers."""

_WAIT: Final = 0.5
_MOST_BATCHES: Final = 3
"""Batches of text, of a million characters each, on the way to one worker."""

_LOGGER: Final = logging.getLogger("tokbench")


@dataclass
class _Attempt:
    identity: str
    job: Job
    number: int
    """The number of earlier attempts at the job."""
    member: Member
    feeds: dict[str, Iterator[list[str]]]
    sent: dict[str, int] = field(default_factory=dict)
    futures: dict[str, Future[Any]] = field(default_factory=dict)
    order: str = ""
    """The key of the job, once it was sent."""

    def give_up(self) -> None:
        self.member.busy -= 1
        for future in self.futures.values():
            attempt(future.cancel)
        self.futures.clear()


class DaskPool(WorkerPool):
    """Sends jobs to the workers of a dask cluster, one to each of their threads. Workers may join during a run.

    An empty ``scheduler`` starts a cluster of ``size`` workers on this machine.
    """

    shared: ClassVar[bool] = True

    def __init__(self, scheduler: str, size: int, limits: Limits, progress: Progress) -> None:
        super().__init__(progress)
        self._scheduler = scheduler
        self._patience = min(_PATIENCE, limits.step)
        self._started = size
        self._local = ProcessPool(1, limits, progress)
        self._recipes: dict[str, tuple[str, bytes]] = {}
        self._attempts: dict[str, _Attempt] = {}
        self._again: deque[tuple[Job, int]] = deque()
        self._number = 0
        self._alone_since = time.monotonic()
        with ExitStack() as stack:
            self._cluster: Cluster = stack.enter_context(joined(scheduler) if scheduler else started(size))
            self._stack = stack.pop_all()
        self._admission = Admission(self._cluster, scheduler, self._local, self._say, self._patience)
        self._key = self._new_run(limits)
        self._over = threading.Event()
        self._beats = threading.Thread(target=self._beat, daemon=True)
        self._beats.start()

    def _beat(self) -> None:
        while not self._over.wait(_BEAT):
            self._cluster.tell(renew, self._key.run, patience=self._patience, wait=_BEAT)

    def _new_run(self, limits: Limits) -> RunKey:
        key = RunKey(secrets.token_hex(8), limits, settings_for_workers(ONE_THREAD))
        self._cluster.listen(topic_of(key.run))
        return key

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._beats.join(_BEAT)
        self._end_run()
        self._local.end()
        self._stack.close()

    def start(self) -> None:
        """Wait for the present workers, and check that they have the versions of this machine."""
        self._local.start()
        expected, since = 1 if self._scheduler else self._started, time.monotonic()
        while not self._admission.complete(expected, time.monotonic() - since):
            self._losses()
            self._take_events()

    def end(self, keep: int = 0) -> None:
        self._end_run()
        self._key = self._new_run(self._key.limits)  # what comes late finds nothing of it
        self._local.end(keep)

    def _end_run(self) -> None:
        self._drop_all()
        self._cluster.tell(end_run, self._key.run, patience=self._patience)

    def keep(self, name: str, recipe: Recipe) -> None:
        super().keep(name, recipe)
        self._local.keep(name, recipe)
        data = pickle.dumps(recipe, pickle.HIGHEST_PROTOCOL)
        self._recipes[name] = (hashlib.sha256(data).hexdigest(), data)

    def work(
        self,
        next_job: Callable[[], Job | None],
        meanwhile: Callable[[], object] = lambda: None,
        feeds: Callable[[Job], Feeds] = lambda _: {},
    ) -> Iterator[tuple[Job, Any | WorkerDied]]:
        """Run jobs; raise :class:`WorkersLost` if there was no worker, or no scheduler, for a minute."""
        if self.lost:
            self._lose(self.lost)
        self._drop_all()
        while True:
            yield from self._losses()
            while (member := self._free()) or not (self._attempts or self._again):
                job, number = self._again.popleft() if self._again else (next_job(), 0)
                if job is None:
                    break
                if job.local_only:
                    self._local.strangers = self.strangers
                    alone = iter([job])
                    yield from self._local.work(lambda alone=alone: next(alone, None), meanwhile, feeds)  # type: ignore[misc]
                elif member:
                    self._begin(job, number, member, feeds(job))
                else:
                    self._again.append((job, number))
            if not self._attempts and not self._again:
                return
            if not self._attempts and time.monotonic() - self._alone_since > JOIN:
                self._lose(self._admission.no_worker())
            meanwhile()
            yield from self._take_events()

    def _lose(self, reason: str) -> NoReturn:
        self.lost = reason
        raise WorkersLost(reason)

    def _drop_all(self) -> None:
        for tried in list(self._attempts.values()):
            self._forget(tried)
        self._again.clear()
        self._alone_since = time.monotonic()

    def _free(self) -> Member | None:
        members = self._cluster.members.values()
        usable = [member for member in members if member.usable and member.silent() < self._patience]
        if usable:
            self._alone_since = time.monotonic()
        free = [member for member in usable if member.busy < member.slots]
        return min(free, key=lambda member: (member.busy / member.slots, member.silent()), default=None)

    def _losses(self) -> Iterator[tuple[Job, WorkerDied]]:
        self._cluster.look()
        if self._cluster.out_of_reach:
            self._lose(self._cluster.out_of_reach)
        self._admission.ask(self._key)
        present = list(self._cluster.members.values())
        lost = list[tuple[Job, WorkerDied]]()
        for tried in list(self._attempts.values()):
            if not any(tried.member is member for member in present):
                lost += self._lost(tried, "left the cluster")
            elif tried.member.silent() > self._patience:
                lost += self._lost(tried, f"did not answer for {self._patience:g} s")
        return iter(lost)

    def _begin(self, job: Job, number: int, member: Member, feeds: Feeds) -> None:
        self._number += 1
        batches = {name: text_batches(texts) for name, texts in feeds.items()}
        tried = _Attempt(f"{self._key.run}-{self._number}", job, number, member, batches, dict.fromkeys(batches, 0))
        self._attempts[tried.identity] = tried
        member.busy += 1
        self._send_more(tried)

    def _send_more(self, tried: _Attempt) -> None:
        while tried.feeds and len(tried.futures) < _MOST_BATCHES:
            name, batches = next(iter(tried.feeds.items()))
            texts = next(batches, None)
            if texts is None:
                del tried.feeds[name]
                continue
            number = tried.sent[name]
            tried.sent[name] += 1
            data = pickle.dumps(texts, pickle.HIGHEST_PROTOCOL)
            self._send(
                tried, f"{len(tried.sent)}-{name}-{number}", keep_texts, self._key, tried.identity, name, number, data
            )
        if not tried.feeds and not tried.futures:
            self._send_order(tried)

    def _send_order(self, tried: _Attempt) -> None:
        known = tried.member.recipes
        digests = {name: digest for name, (digest, _) in self._recipes.items()}
        new = {digest: data for digest, data in self._recipes.values() if digest not in known}
        known.update(new)
        order = Order(self._key, tried.identity, tried.job, digests, new, tried.sent, self.strangers)
        tried.order = self._send(
            tried, f"job-{secrets.token_hex(4)}", run_order, pickle.dumps(order, pickle.HIGHEST_PROTOCOL)
        )

    def _send(self, tried: _Attempt, what: str, step: Callable[..., Any], *arguments: object) -> str:
        key = f"tokbench/{tried.identity}/{what}"
        tried.futures[key] = self._cluster.send(tried.member, key, step, *arguments)
        return key

    def _take_events(self) -> Iterator[tuple[Job, Any | WorkerDied]]:
        answers = list[tuple[Job, Any | WorkerDied]]()
        timeout: float | None = _WAIT
        while True:
            try:
                event = self._cluster.events.get(timeout=timeout) if timeout else self._cluster.events.get_nowait()
            except queue.Empty:
                return iter(answers)
            timeout = None
            if not isinstance(event, str):
                self.progress(*event)
            elif self._cluster.closed:
                continue  # all is cancelled, and the next look at the cluster says why
            elif not self._admission.takes(event) and (tried := self._attempts.get(event.split("/")[1])):
                answers += self._answered(tried, event)

    def _answered(self, tried: _Attempt, key: str) -> list[tuple[Job, Any | WorkerDied]]:
        future = tried.futures.pop(key, None)
        if future is None:
            return []
        outcome = attempt(lambda: future.result(timeout=self._patience))
        if isinstance(outcome, Failure):
            return self._lost(tried, self._how_lost(tried.member, str(future.status), outcome.reason))
        if key != tried.order:
            self._send_more(tried)
            return []
        answers = pickle.loads(outcome)  # noqa: S301 - of our own worker
        if isinstance(answers, Lapsed):
            return self._lost(tried, f"heard nothing of this run for {LEASE} s")
        if self._lacks(tried, answers):
            self._send_order(tried)
            return []
        self._forget(tried)
        return [(tried.job, answer) for answer in answers]

    @staticmethod
    def _how_lost(member: Member, status: str, reason: str) -> str:
        if status == "error":
            member.usable = False
            return f"cannot do it and gets no more jobs: {reason}"
        if status == "cancelled":
            return "was cut off from the run"
        return f"did it, but its answer cannot be fetched: {reason}"

    @staticmethod
    def _lacks(tried: _Attempt, answers: Any) -> bool:
        if isinstance(answers, Lacking):
            tried.member.recipes.difference_update(answers.digests)
            return True
        return False

    def _lost(self, tried: _Attempt, how: str) -> list[tuple[Job, Any | WorkerDied]]:
        self._forget(tried)
        who, number = f"the dask worker {tried.member.address} {how}", tried.number + 1
        if number < _MOST_ATTEMPTS:
            self._say(f"{who}; another worker did its work")
            self._again.append((tried.job, number))
            return []
        ended = f"{who}; before that, {number - 1} others were lost with the same job"
        self._say(ended)
        heartbeat = Heartbeat(next(iter(tried.job.tokenizers), ""), "working")
        return [(tried.job, WorkerDied(Failure(ended), heartbeat, crashed=False, ended=ended))]

    def _forget(self, tried: _Attempt) -> None:
        tried.give_up()
        self._attempts.pop(tried.identity, None)

    def _say(self, what: str) -> None:
        _LOGGER.warning("%s", what)
        self.notes.append(what)
