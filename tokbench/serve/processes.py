"""The processes of the playground, one for each open tokenizer."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tokbench.config.model import Limits
from tokbench.engine.workers.one_thread import ONE_THREAD
from tokbench.engine.workers.pool import WorkerDied
from tokbench.engine.workers.processes import ProcessPool
from tokbench.engine.workers.worker import LoadRecipe
from tokbench.foundation.errors import BackendError
from tokbench.foundation.failures import Failure, attempt
from tokbench.foundation.progress import silent
from tokbench.measuring.job import Job


class IsolatedProcess:
    """One worker process, and the thread that speaks to it; jobs run one after the other.

    A process that dies or exceeds its time is ended; the next job restarts it.
    """

    def __init__(self, limits: Limits, recipe: tuple[str, LoadRecipe] | None = None) -> None:
        self._limits = limits
        self._pool = ProcessPool(1, limits, silent, environment=ONE_THREAD, capture_output=True)
        if recipe:
            self._pool.keep(*recipe)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="tokbench-serve")
        self._ended = False
        self.waiting = 0

    async def ask(self, job: Job) -> Any | Failure:
        """Return the answer, or the failure; cancelling removes a waiting job."""
        self.waiting += 1
        try:
            return await asyncio.wrap_future(self._thread.submit(self._ask, job))
        finally:
            self.waiting -= 1

    def _ask(self, job: Job) -> Any | Failure:
        if self._ended:
            return Failure("the server is shutting down")
        answer = attempt(lambda: self._pool.ask(job))
        return self._death(answer) if isinstance(answer, WorkerDied) else answer

    def _death(self, died: WorkerDied) -> Failure:
        advice = "the next text starts it again"
        if died.failure.timed_out:
            advice += "; if it is only slow, use tokbench show or tokbench run"
        said = f"; it printed: {died.last_words}" if died.last_words else ""
        return Failure(f"{died.ended} while {died.heartbeat.verb}{said}; {advice}", died.failure.timed_out)

    def end(self) -> None:
        self._ended = True
        self._pool.end()
        self._thread.shutdown(wait=False, cancel_futures=True)


class TokenizerProcesses:
    """The open tokenizers, each in a process; above ``most``, the least recently used is ended."""

    def __init__(self, limits: Limits, most: int) -> None:
        self._limits, self._most = limits, most
        self._open: OrderedDict[str, IsolatedProcess] = OrderedDict()

    @property
    def names(self) -> list[str]:
        return list(self._open)

    async def ask(self, name: str, recipe: LoadRecipe, job: Job) -> Any | Failure:
        process = attempt(lambda: self._process(name, recipe))
        return process if isinstance(process, Failure) else await process.ask(job)

    def _process(self, name: str, recipe: LoadRecipe) -> IsolatedProcess:
        if name not in self._open:
            if len(self._open) >= self._most:
                idle = next((other for other, process in self._open.items() if not process.waiting), None)
                if idle is None:
                    raise BackendError(f"all {self._most} processes are at work; try again in a moment")
                self.close(idle)
            self._open[name] = IsolatedProcess(self._limits, (name, recipe))
        self._open.move_to_end(name)
        return self._open[name]

    def close(self, name: str) -> None:
        if process := self._open.pop(name, None):
            process.end()

    def end(self) -> None:
        for name in self.names:
            self.close(name)
