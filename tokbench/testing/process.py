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
from tokbench.registry.plugins import ALL
from tokbench.testing.findings import raised
from tokbench.testing.texts import generated
from tokbench.testing.under_test import CheckRequest, TokenizerUnderTest
from tokbench.tokenizers.contract import Tokenizer
from tokbench.tokenizers.members import missing_members

_KEPT: Final = "the tokenizer under test"


@dataclass(frozen=True)
class _Step(Job):
    limit: ClassVar[Literal["step", "train"]] = "train"
    retry_alone: ClassVar[bool] = False
    name: str
    step: Callable[[WorkerContext], Any]

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return (self.name,)

    def run(self, context: WorkerContext) -> Iterator[Any]:
        with doing("checking", tokenizer=self.name, place="load"):
            yield self.step(context)


@dataclass(frozen=True)
class _Ask:
    step: Callable[[TokenizerUnderTest], Any]

    def __call__(self, context: WorkerContext) -> Any:
        return self.step(context.kept[_KEPT])


@dataclass(frozen=True)
class _Load:
    request: bytes
    seconds: float
    generated: tuple[str, ...]

    def __call__(self, context: WorkerContext) -> TokbenchError | None:
        request: CheckRequest = pickle.loads(self.request)  # noqa: S301 - our parent process made it
        try:
            spec = request.spec(context.registry)
            tokenizer = request.make(spec)
        except BackendUnavailable as error:
            return BackendUnavailable(str(error))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - panics are not an Exception
            words = str(error) if isinstance(error, TokbenchError) else f"loading it {raised(error)}"
            return BackendError(f"backend {request.name!r}: {words}")
        if lacking := missing_members(tokenizer, "a tokenizer", Tokenizer):
            return BackendError(f"backend {request.name!r}: {lacking}")
        context.kept[_KEPT] = TokenizerUnderTest(request, spec, tokenizer, self.seconds, self.generated)
        return None


class CheckProcess:
    """A fresh process with a tokenizer, to be closed; another tokenizer may replace the first.

    Loading or training, and every later step, may take ``limit`` seconds.

    Raises:
        BackendUnavailable: the tokenizer is unavailable here.
        BackendError: it does not load, or loading kills the process or takes too long.
    """

    def __init__(self, request: CheckRequest, limit: float, *, hash_seed: int = 0) -> None:
        environment, limits = {"PYTHONHASHSEED": str(hash_seed)}, Limits(step=limit, train=limit)
        self._pool = ProcessPool(1, limits, silent, environment=environment, capture_output=True, hosts=ALL)
        self.close = weakref.finalize(self, self._pool.end)
        self._limit = limit
        self.load(request)

    def load(self, request: CheckRequest) -> None:
        """Replace the tokenizer; the process is closed if that fails."""
        self._name = request.name
        load = _Load(pickle.dumps(request), self._limit, generated(request.examples))
        problem = self._pool.ask(_Step(self._name, load))
        if isinstance(problem, WorkerDied):
            problem = BackendError(f"backend {request.name!r} does not load: {reason_of(problem)}")
        if problem is not None:
            self.close()
            raise problem

    def ask(self, step: Callable[[TokenizerUnderTest], Any]) -> Any | WorkerDied:
        """Return what a function, sent as a pickle, finds about the tokenizer there; a dead process is closed."""
        answer = self._pool.ask(_Step(self._name, _Ask(step)))
        if isinstance(answer, WorkerDied):
            self.close()
        return answer


def reason_of(died: WorkerDied) -> str:
    """Return how a process ended, and its last words."""
    ended = died.ended.rstrip(",")
    return f"{ended}: {died.last_words}" if died.last_words else ended
