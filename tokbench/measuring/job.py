"""The contract of a job: a piece of work on tokenizers that a worker process does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

from tokbench.foundation.failures import Failure, attempt, doing
from tokbench.measuring.encoded_shard import LoadedTokenizer
from tokbench.measuring.family import MetricFamily
from tokbench.tokenizers.contract import Tokenizer


class JobContext(Protocol):
    """The surroundings of a job in its process."""

    def tokenizer(self, name: str, /) -> Tokenizer:
        """Return a tokenizer of the run; load it if it is not there yet."""

    def loaded(self, name: str, /) -> LoadedTokenizer:
        """Return a tokenizer of the run, with what is computed about it once."""

    def family(self, name: str, /) -> MetricFamily:
        """Return a metric family."""

    def texts(self, feed: str, /) -> Iterator[str]:
        """Yield the texts of a feed of the job, which the process of the run sends."""

    def progress(self, step: str, done: float, total: float | None, /) -> None:
        """Show how far a step has come."""


class Job(ABC):
    """Something to do in a worker; it is sent there as a pickle."""

    limit: ClassVar[Literal["step", "train"]] = "step"
    """Its time limit in the configuration: ``step`` begins again with each sign of life, ``train`` is for the whole."""

    retry_alone: ClassVar[bool] = True
    """The pool tries it once more in a fresh process where its process died before the first answer."""

    @property
    def local_only(self) -> bool:
        """It must run on the machine of the run: it measures time, or writes into the run's folder."""
        return False

    @property
    def needs_fresh_process(self) -> bool:
        """No other tokenizers may have been in its process."""
        return False

    @property
    def loads(self) -> tuple[str, ...]:
        """The names of all tokenizers that it uses; one of another plugin gets a process of its own."""
        return self.tokenizers

    @property
    def plugins(self) -> tuple[str, ...]:
        """The distributions beyond tokbench's own whose plugins it uses, apart from those of its tokenizers."""
        return ()

    def called(self, _request: bytes) -> bytes:
        """Answer, in the process of the run, what the job asks for where it runs."""
        return b""

    @property
    @abstractmethod
    def tokenizers(self) -> tuple[str, ...]:
        """The names of the tokenizers that are at work, in order: one of them is to blame for whatever happens."""

    @abstractmethod
    def run(self, context: Any, /) -> Iterator[Any]:
        """Do it, and yield the answers, which are sent as pickles; ``context`` is a :class:`JobContext` or more."""


@dataclass(frozen=True)
class TokenizerJob(Job):
    """Compute something of tokenizers; the answer is what ``step`` returns, or the failure."""

    names: tuple[str, ...]
    """The tokenizers; the first is at work, as the heartbeat says."""
    verb: str
    place: str
    step: Callable[..., Any]
    """It takes the tokenizers, and is sent as a pickle, too."""
    local_only: bool = False

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return self.names[:1]

    @property
    def loads(self) -> tuple[str, ...]:
        return self.names

    def run(self, context: JobContext) -> Iterator[Any | Failure]:
        with doing(self.verb, tokenizer=self.names[0], place=self.place):
            yield attempt(lambda: self.step(*map(context.tokenizer, self.names)))
