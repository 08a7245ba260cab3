"""Admits dask workers to a run; leaves out those whose numbers could differ, or that do not start."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from tokbench.engine.workers.pool import WorkerDied, WorkerPool
from tokbench.plugin import BackendError, Failure, InputError, Problem, attempt
from tokbench_cluster.cluster import Cluster, Member
from tokbench_cluster.remote import RunKey, describe
from tokbench_cluster.surroundings import DescribeSurroundings, Surroundings

if TYPE_CHECKING:
    from distributed import Future

JOIN: Final = 60.0
"""Seconds to wait for workers."""

_MOST_NAMED: Final = 3


class Admission:
    """Asks the members of a cluster and ``here``, a pool on this machine, what their numbers depend on."""

    def __init__(
        self, cluster: Cluster, scheduler: str, here: WorkerPool, say: Callable[[str], None], patience: float
    ) -> None:
        self._cluster = cluster
        self._scheduler = scheduler
        self._here = here
        self._say = say
        self._patience = patience
        self._asked: dict[str, tuple[Member, Future[Any]]] = {}
        self._refused: list[Problem] = []

    def ask(self, key: RunKey) -> None:
        for member in self._cluster.members.values():
            if not member.asked:
                member.asked = True
                name = f"tokbench/check/{secrets.token_hex(8)}"
                self._asked[name] = member, self._cluster.send(member, name, describe, key)

    def takes(self, event: str) -> bool:
        """Use an event if it is the answer of a worker; return whether it is."""
        if event not in self._asked:
            return False
        member, future = self._asked.pop(event)
        reasons = self._reasons(attempt(lambda: future.result(timeout=self._patience)))
        member.usable = not reasons
        self._refused += [Problem(member.address, reason) for reason in reasons]
        if reasons:
            self._say(f"the dask worker {member.address} is not used: {reasons[0]}")
        return True

    def _reasons(self, there: Surroundings | Failure) -> list[str]:
        if isinstance(there, Surroundings):
            return [f"{other}; install the same on every machine" for other in there.differences(self._surroundings)]
        if there.timed_out:
            return [f"its processes do not start in time: {there.reason}"]
        return [f"tokbench cannot be used there: {there.reason}; install on every machine what is here"]

    @cached_property
    def _surroundings(self) -> Surroundings:
        answer: Surroundings | WorkerDied = self._here.ask(DescribeSurroundings())
        if isinstance(answer, WorkerDied):
            raise BackendError(answer.failure.reason)
        return answer

    def complete(self, expected: int, seconds: float) -> bool:
        """Return whether the run can begin: all ``expected`` workers have answered, or the time to wait is over.

        Raises:
            InputError: no worker can be used.
        """
        members = self._cluster.members.values()
        awaited = any(member.usable is None and member.silent() < self._patience for member in members)
        if seconds <= JOIN and (awaited or len(members) < expected):
            return False
        if not any(member.usable for member in members):
            raise InputError(self._refused or self.no_worker())
        return True

    def no_worker(self) -> str:
        if not self._scheduler:
            return "the workers of the local cluster do not start, or have ended; run without: --executor dask"
        refused = "".join(f"; {problem}" for problem in self._refused[:_MOST_NAMED])
        advice = f"start some with: dask worker {self._scheduler}"
        return f"no worker of {self._scheduler} can be used; {advice}{refused}"
