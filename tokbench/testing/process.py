"""A worker process with the tokenizer under test."""

from __future__ import annotations

import pickle
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

from tokbench.config.model import Limits
from tokbench.engine.workers.pool import WorkerDied
from tokbench.engine.workers.processes import ProcessPool
from tokbench.engine.workers.worker import WorkerContext
from tokbench.foundation.errors import BackendError, BackendUnavailable, TokbenchError
from tokbench.foundation.failures import doing
from tokbench.foundation.progress import silent
from tokbench.measuring.job import Job
from tokbench.testing.findings import raised
from tokbench.testing.texts import generated
from tokbench.testing.under_test import CheckRequest, TokenizerUnderTest
from tokbench.tokenizers.contract import Tokenizer
from tokbench.tokenizers.members import missing_members

_KEPT: Final = "the tokenizer under test"


@dataclass(frozen=True)
class _Check(Job):
    limit: ClassVar[Literal["step", "train"]] = "train"
    retry_alone: ClassVar[bool] = False
    step: Callable[[TokenizerUnderTest], Any]

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return ()

    def run(self, context: WorkerContext) -> Iterator[Any]:
        subject = context.kept[_KEPT]
        with doing("checking", tokenizer=subject.request.name, place=""):
            yield self.step(subject)


@dataclass(frozen=True)
class _Load(Job):
    limit: ClassVar[Literal["step", "train"]] = "train"
    retry_alone: ClassVar[bool] = False
    name: str
    request: bytes
    seconds: float
    avoid: frozenset[str]
    generated: tuple[str, ...]

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return (self.name,)

    def run(self, context: WorkerContext) -> Iterator[TokbenchError | None]:
        with doing("checking", tokenizer=self.name, place="load"):
            problem: TokbenchError | None = None
            try:
                context.kept[_KEPT] = self._load(context)
            except BackendUnavailable as error:
                problem = BackendUnavailable(str(error))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - panics are not an Exception
                words = str(error) if isinstance(error, TokbenchError) else f"loading it {raised(error)}"
                problem = BackendError(f"backend {self.name!r}: {words}")
            yield problem

    def _load(self, context: WorkerContext) -> TokenizerUnderTest:
        request: CheckRequest = pickle.loads(self.request)  # noqa: S301 - our parent process made it
        spec = request.spec(context.registry)
        tokenizer = request.make(spec)
        if lacking := missing_members(tokenizer, "a tokenizer", Tokenizer):
            raise BackendError(lacking)
        return TokenizerUnderTest(request, spec, tokenizer, self.seconds, self.avoid, self.generated)


class CheckProcess:
    """A fresh process with a tokenizer, to be closed; another tokenizer may replace the first.

    Loading or training, and every later job, may take ``limit`` seconds. ``avoid`` are calls that killed a process.

    Raises:
        BackendUnavailable: the tokenizer is unavailable here.
        BackendError: it does not load, or loading kills the process or takes too long.
    """

    def __init__(
        self, request: CheckRequest, limit: float, *, hash_seed: int = 0, avoid: frozenset[str] = frozenset()
    ) -> None:
        environment, limits = {"PYTHONHASHSEED": str(hash_seed)}, Limits(step=limit, train=limit)
        self._pool = ProcessPool(1, limits, silent, environment=environment, capture_output=True)
        self.close = weakref.finalize(self, self._pool.end)
        self._limit = limit
        self.load(request, avoid=avoid)

    def load(self, request: CheckRequest, *, avoid: frozenset[str] = frozenset()) -> None:
        """Replace the tokenizer; the process is closed if that fails."""
        problem = self._ask(_Load(request.name, pickle.dumps(request), self._limit, avoid, generated(request.examples)))
        if isinstance(problem, WorkerDied):
            raise BackendError(f"backend {request.name!r} does not load: {reason_of(problem)}")
        if problem is not None:
            self.close()
            raise problem

    def ask(self, step: Callable[[TokenizerUnderTest], Any]) -> Any | WorkerDied:
        """Return what a function, sent as a pickle, finds about the tokenizer there."""
        return self._ask(_Check(step))

    def _ask(self, job: Job) -> Any | WorkerDied:
        answer = self._pool.ask(job)
        if isinstance(answer, WorkerDied):
            self.close()
        return answer


def reason_of(died: WorkerDied) -> str:
    """Return how a process ended, and its last words."""
    ended = died.ended.rstrip(",")
    return f"{ended}: {died.last_words}" if died.last_words else ended
