"""Jobs and what they find where they run; and the main function of a worker process.

A worker process is handed one job after the other and answers; if it dies,
:mod:`tokbench.runner.workers.processes` says so and starts another. It knows no configuration and reads no corpus:
what a job needs comes with the job.
"""

from __future__ import annotations

import io
import logging
import mmap
import os
import pickle
import signal
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from multiprocessing.connection import Connection
from typing import Any, ClassVar, Literal

from tokbench.contracts.members import missing_members
from tokbench.contracts.metric import CorpusMetric, TextMetric
from tokbench.contracts.options import Options
from tokbench.contracts.tokenizer import TOKENIZER_MEMBERS, Tokenizer
from tokbench.errors import BackendError, ContractError
from tokbench.failures import HEARTBEAT_BYTES, Failure, attempt, doing, keep_heartbeat
from tokbench.metrics.encoded_shard import LoadedTokenizer
from tokbench.progress import Progress
from tokbench.registry import load_registry

_PROGRESS_SECONDS = 0.1


class Job(ABC):
    """Something to do in a worker; it is sent there as a pickle.

    Attributes:
        limit: its time limit in the configuration: ``step``, which begins anew with every sign of life, or ``train``,
            which is for the whole job.
    """

    limit: ClassVar[Literal["step", "train"]] = "step"

    @abstractmethod
    def run(self, context: WorkerContext, /) -> Iterator[Any]:
        """Do it, and yield the answers, which are sent back as pickles, one by one."""


@dataclass(frozen=True)
class TokenizerJob(Job):
    """Compute something of tokenizers; the answer is what ``step`` returns, or the failure.

    Attributes:
        names: the tokenizers; the first is at work, as the heartbeat says.
        verb, place: of the heartbeat.
        step: takes the tokenizers; it is sent as a pickle, too.
    """

    names: tuple[str, ...]
    verb: str
    place: str
    step: Callable[..., Any]

    def run(self, context: WorkerContext) -> Iterator[Any | Failure]:
        """See :class:`tokbench.runner.workers.worker.Job`."""
        with doing(self.verb, tokenizer=self.names[0], place=self.place):
            yield attempt(lambda: self.step(*map(context.tokenizer, self.names)))


@dataclass(frozen=True)
class Recipe:
    """The instructions by which any worker gets at a tokenizer.

    Attributes:
        backend, options: what loads it;
        pickled: or, if it was trained, the tokenizer itself.
    """

    backend: str
    options: Options
    pickled: bytes = b""


class WorkerContext:
    """The surroundings of a job in its process: plugins, tokenizers, and the parent.

    Args:
        next_batch: asks the parent for the next texts of a feed; it answers with an empty list after the last.
        show_progress: tells the parent how far a step has come.

    Attributes:
        registry: the plugins.
        recipes: by name, how to get at each tokenizer.
        kept: what a job leaves for later jobs in the same process.
    """

    def __init__(self, next_batch: Callable[[str], list[str]], show_progress: Progress) -> None:
        self.registry = load_registry()
        self.recipes: dict[str, Recipe] = {}
        self.kept: dict[str, Any] = {}
        self._next_batch = next_batch
        self._show_progress = show_progress
        self._tokenizers: dict[str, LoadedTokenizer] = {}
        self._metrics: dict[str, TextMetric | CorpusMetric] = {}
        self._last_progress = 0.0

    def keep(self, name: str, tokenizer: Tokenizer) -> None:
        """Keep a tokenizer, so that it is loaded once."""
        self._tokenizers[name] = LoadedTokenizer(name, tokenizer)

    def loaded(self, name: str) -> LoadedTokenizer:
        """Return a tokenizer of the run, with what is computed about it once; load it if it is not there yet."""
        if name not in self._tokenizers:
            recipe = self.recipes[name]
            with doing("loading", tokenizer=name, place=""):
                if recipe.pickled:
                    tokenizer = pickle.loads(recipe.pickled)  # noqa: S301 - pickled by another of our workers
                else:
                    load = self.registry.backends.get(recipe.backend).load
                    assert load is not None
                    tokenizer = load(recipe.options)
                self.keep(name, checked(tokenizer))
        return self._tokenizers[name]

    def tokenizer(self, name: str) -> Tokenizer:
        """Return a tokenizer of the run."""
        return self.loaded(name).tokenizer

    def metric(self, family: str, options: Options) -> TextMetric | CorpusMetric:
        """Return the text metric of a family; a run has one of each."""
        if family not in self._metrics:
            make = self.registry.metrics.get(family).text
            assert make is not None
            self._metrics[family] = make(options)
        return self._metrics[family]

    def texts(self, feed: str) -> Iterator[str]:
        """Yield the texts of a feed of the job."""
        return chain.from_iterable(self.batches(feed))

    def batches(self, feed: str) -> Iterator[list[str]]:
        """Yield the texts of a feed as the parent reads and sends them, batch by batch."""
        while batch := self._next_batch(feed):
            yield batch

    def progress(self, step: str, done: float, total: float | None) -> None:
        """Show how far a step has come; of many calls a few are passed on."""
        now = time.monotonic()
        if done == total or now - self._last_progress > _PROGRESS_SECONDS:
            self._last_progress = now
            self._show_progress(step, done, total)


def checked(tokenizer: Any) -> Tokenizer:
    """Return the tokenizer, if it is one.

    Raises:
        ContractError: it lacks ``encode``, ``decode`` or ``vocab_size``.
        TypeError: its ``vocab_size`` is not positive.
    """
    if lacking := missing_members(tokenizer, "a tokenizer", TOKENIZER_MEMBERS):
        raise ContractError(lacking)
    if tokenizer.vocab_size < 1:
        raise TypeError(f"vocab_size is {tokenizer.vocab_size}")
    valid: Tokenizer = tokenizer
    return valid


class _Line(Connection):
    """The line to the parent process, on which several threads may speak, as loggers do."""

    def __init__(self, handle: int) -> None:
        super().__init__(handle)
        self._turn = threading.Lock()

    def send(self, obj: Any) -> None:
        """Send one message."""
        with self._turn:
            super().send(obj)

    def next_batch(self, feed: str) -> list[str]:
        """Return the next texts of a feed, or an empty list after the last."""
        self.send(("more", feed))
        texts: list[str] = self.recv()
        return texts


class _ToParent(logging.Handler):
    """Sends log messages to the parent, which shows them."""

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection

    def emit(self, record: logging.LogRecord) -> None:
        self._connection.send(("log", (record.name, record.levelno, record.getMessage())))


def main(connection: int, memory: int, parent: int, level: int) -> None:
    """Answer jobs until the parent hangs up.

    Args:
        connection: file descriptor of the line to the parent.
        memory: file descriptor of the memory for the heartbeat.
        parent: the parent's process id.
        level: the least level of log messages that the parent shows.
    """
    _die_with(parent)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # what tokenizers print is not lost when the process is ended
    keep_heartbeat(mmap.mmap(memory, HEARTBEAT_BYTES))
    line = _Line(connection)
    logger = logging.getLogger("tokbench")
    logger.addHandler(_ToParent(line))
    logger.setLevel(level)
    code = 0
    try:
        context = WorkerContext(line.next_batch, lambda *step: line.send(("progress", step)))
        line.send(("ready", None))
        while True:
            job, recipes = line.recv()
            context.recipes.update(recipes)
            for answer in job.run(context):
                line.send(("answer", answer))
            line.send(("done", None))
    except (EOFError, ConnectionError):
        pass  # the parent is through, or gone
    except KeyboardInterrupt:
        code = 128 + signal.SIGINT
    os._exit(code)  # without tearing down vocabularies of a gigabyte


def _die_with(parent: int) -> None:
    """End with the parent, even in the middle of a job and if the parent is killed, where the system can do that.

    Raises:
        BackendError: the parent has ended already.
    """
    if sys.platform == "linux":
        import ctypes

        attempt(lambda: ctypes.CDLL(None).prctl(1, signal.SIGKILL))  # 1: PR_SET_PDEATHSIG
    if os.getppid() != parent:
        raise BackendError("the parent of this worker has gone")
