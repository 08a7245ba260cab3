"""Admits dask workers to a run; leaves out those whose numbers could differ, or that do not start.

The run begins when all have answered, or some seconds after the first usable one. Later workers join then.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from tokbench.plugin import BackendError, Failure, InputError, Problem, WorkerDied, WorkerPool, attempt
from tokbench_plugins.dask_executor.cluster import Cluster, Member
from tokbench_plugins.dask_executor.remote import RunKey, describe
from tokbench_plugins.dask_executor.surroundings import DescribeSurroundings, Surroundings

if TYPE_CHECKING:
    from distributed import Future

JOIN: Final = 60.0
"""Seconds to wait for a usable worker, if there is none."""

_OTHERS: Final = 10.0
"""Seconds that the first usable worker waits for the others."""

_MOST_NAMED: Final = 3


class Admission:
    """Asks the members of a cluster what their numbers depend on.

    ``here`` is a pool on this machine, which is asked the same; ``say`` receives warnings for the reader of the
    results; after ``patience`` seconds without a sign of life a worker is dropped.
    """

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
        self._first = 0.0

    def ask(self, key: RunKey) -> None:
        for member in self._cluster.members.values():
            if not member.asked:
                member.asked = True
                name = f"tokbench/check/{secrets.token_hex(8)}"
                self._asked[name] = member, self._cluster.send(member, name, describe, key)

    def takes(self, event: str) -> bool:
        """Return True if an event is the answer of a worker, and use it."""
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
        awaited = [member for member in members if member.usable is None and member.silent() < self._patience]
        usable = [member for member in members if member.usable]
        if usable:
            self._first = self._first or seconds
        all_answered = not awaited and len(members) >= expected
        if not usable and (all_answered or seconds > JOIN):
            raise InputError(self._refused or self.nobody())
        if all_answered:
            return True
        if not usable or seconds - self._first < _OTHERS:
            return False
        for member in awaited:
            self._say(f"the dask worker {member.address} is not ready yet, and the run begins without it")
        return True

    def nobody(self) -> str:
        if not self._scheduler:
            return "the workers of the local cluster do not start, or have ended; run without: --executor dask"
        refused = "".join(f"; {problem}" for problem in self._refused[:_MOST_NAMED])
        advice = f"start some with: dask worker {self._scheduler}"
        return f"no worker of {self._scheduler} can be used; {advice}{refused}"
