"""Jobs and what they find where they run; and the main function of a worker process.

A worker process does one job after the other. It knows no configuration and reads no corpus: what a job needs comes
with the job.
"""

from __future__ import annotations

import gc
import io
import logging
import mmap
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from multiprocessing.connection import Connection
from numbers import Real
from pathlib import Path
from typing import Any, Final

from tokbench.foundation.errors import LONGEST_MESSAGE, BackendError, ContractError, one_line, shortened
from tokbench.foundation.failures import HEARTBEAT_BYTES, LOADING, Failure, attempt, doing, keep_heartbeat, set_ended
from tokbench.foundation.progress import Progress
from tokbench.measuring.encoded_shard import LoadedTokenizer
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import CorpusMetric, TextMetric
from tokbench.registry.plugins import Registry, load_registry
from tokbench.tokenizers.batch import vocab_size_of
from tokbench.tokenizers.contract import Tokenizer
from tokbench.tokenizers.members import missing_members
from tokbench.tokenizers.options import Options

_PROGRESS_SECONDS = 0.1
_NEW_OBJECTS: Final = 50_000
"""New objects after which the garbage collector looks: a vocabulary has 100,000 tokens and more, but no cycle."""


# Messages between the process of a run and a worker are pickles. Those of a worker are checked: plugins may write to
# any file descriptor, so they may be anything. What cannot be read is a failure of the tokenizer at work.

LONGEST: Final = 1 << 32
"""Bytes of a message."""

MALFORMED: Final = Failure("the worker sent malformed data (a plugin wrote to tokbench's pipe)")


def packed(message: Any) -> bytes:
    """Return a message as it goes over the line, or raise ValueError if it is too long."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    if len(data) > LONGEST:
        raise ValueError(f"a message of {len(data):,} bytes is too long; at most {LONGEST:,} can be sent")
    return data


def from_worker(content: bytes) -> tuple[str, Any] | Failure:
    """Return the message of a worker, or the failure if it cannot be read."""
    message = attempt(lambda: pickle.loads(content), "its answer cannot be read")  # noqa: S301 - of our worker
    if isinstance(message, Failure):
        return message
    match message:
        case (
            (("ready" | "done"), None)
            | ("more", str())
            | ("call", bytes())
            | ("answer", _)
            | ("progress", (str(), Real(), Real() | None))
            | ("log", (str(), int(), str()))
        ) if type(message) is tuple:
            return message
    return MALFORMED


@dataclass(frozen=True)
class LoadRecipe:
    """The instructions by which any worker gets at a tokenizer."""

    backend: str
    options: Options
    pickled: bytes = b""


class WorkerContext:
    """The surroundings of a job in its process: plugins, tokenizers, and the parent.

    Args:
        next_batch: asks the parent for the next texts of a feed; it answers with an empty list after the last.
        show_progress: tells the parent how far a step has come.
        registry: the plugins, if they are loaded already.
        hosts: the distributions beyond tokbench's own whose plugins may run here.
    """

    def __init__(
        self,
        next_batch: Callable[[str], list[str]],
        show_progress: Progress,
        registry: Registry | None = None,
        hosts: Collection[str] = (),
    ) -> None:
        self._registry = registry
        self._hosts = frozenset(hosts)
        self.call: Callable[[bytes], bytes] = lambda _: b""
        """Sends something to :meth:`Job.called` in the process of the run, and returns its answer."""
        self.recipes: dict[str, LoadRecipe] = {}
        self.kept: dict[str, Any] = {}
        """What a job leaves for later jobs in the same process."""
        self._next_batch = next_batch
        self._show_progress = show_progress
        self._tokenizers: dict[str, LoadedTokenizer] = {}
        self._metrics: dict[str, TextMetric | CorpusMetric] = {}
        self._last_progress = 0.0

    @property
    def registry(self) -> Registry:
        if self._registry is None:
            self._registry = load_registry(here=self._hosts)
        return self._registry

    def keep(self, name: str, tokenizer: Tokenizer) -> LoadedTokenizer:
        self._tokenizers[name] = LoadedTokenizer(name, tokenizer)
        return self._tokenizers[name]

    def loaded(self, name: str) -> LoadedTokenizer:
        """Return a tokenizer of the run, with what is computed about it once."""
        if name not in self._tokenizers:
            recipe = self.recipes[name]
            with doing(LOADING, tokenizer=name, place=""):
                return self.keep(name, self.load(recipe))
        return self._tokenizers[name]

    def load(self, recipe: LoadRecipe) -> Tokenizer:
        if recipe.pickled:
            return checked(pickle.loads(recipe.pickled))  # noqa: S301 - pickled by another of our workers
        load = self.registry.backends.get(recipe.backend).load
        assert load is not None
        return checked(load(recipe.options))

    def tokenizer(self, name: str) -> Tokenizer:
        return self.loaded(name).tokenizer

    def metric(self, family: str, options: Options) -> TextMetric | CorpusMetric:
        if family not in self._metrics:
            make = self.registry.metrics.get(family).text
            assert make is not None
            self._metrics[family] = make(options)
        return self._metrics[family]

    def family(self, name: str) -> MetricFamily:
        return self.registry.metrics.get(name)

    def texts(self, feed: str) -> Iterator[str]:
        return chain.from_iterable(self.batches(feed))

    def batches(self, feed: str) -> Iterator[list[str]]:
        """Yield the texts of a feed as the parent reads and sends them, batch by batch."""
        while batch := self._next_batch(feed):
            yield batch

    def progress(self, step: str, done: float, total: float | None) -> None:
        """Show how far a step has come; of many calls a few are passed on."""
        if not isinstance(done, Real) or not isinstance(total, Real | None):
            return  # a trainer may say anything
        now = time.monotonic()
        if done == total or now - self._last_progress > _PROGRESS_SECONDS:
            self._last_progress = now
            self._show_progress(step, done, total)


def checked(tokenizer: Any) -> Tokenizer:
    """Return the tokenizer, or raise ContractError if it lacks ``encode``, ``decode`` or ``vocab_size``."""
    if lacking := missing_members(tokenizer, "a tokenizer", Tokenizer):
        raise ContractError(lacking)
    vocab_size_of(tokenizer)
    valid: Tokenizer = tokenizer
    return valid


class _ParentGone(Exception):  # noqa: N818 - the usual end
    """The parent is through, or has ended."""


class _Line:
    """The line to the parent process, on which several threads may speak, as loggers do."""

    def __init__(self, handle: int) -> None:
        os.set_inheritable(handle, False)  # noqa: FBT003 - what a tokenizer starts gets no end of it
        self._connection = Connection(handle)
        self._turn = threading.Lock()
        self._process = os.getpid()

    def send(self, message: Any) -> None:
        """Send one message. A child that a plugin forked ends here instead: its parent answers."""
        if os.getpid() != self._process:
            os._exit(0)
        with self._turn:
            try:
                self._connection.send_bytes(packed(message))
            except ConnectionError as error:
                raise _ParentGone from error

    def receive(self) -> Any:
        try:
            return pickle.loads(self._connection.recv_bytes())  # noqa: S301 - sent by our parent
        except (EOFError, ConnectionError) as error:
            raise _ParentGone from error

    def call(self, data: bytes) -> bytes:
        self.send(("call", data))
        answer: bytes = self.receive()
        return answer

    def next_batch(self, feed: str) -> list[str]:
        self.send(("more", feed))
        texts: list[str] = self.receive()
        return texts


class _ToParent(logging.Handler):
    def __init__(self, line: _Line) -> None:
        super().__init__()
        self._line = line

    def emit(self, record: logging.LogRecord) -> None:
        text = attempt(record.getMessage)
        if not isinstance(text, Failure):
            name, level = str(record.name), int(record.levelno)
            self._line.send(("log", (name, level, shortened(text, LONGEST_MESSAGE))))


def main(connection: int, memory: int, parent: int, level: int, hosts: Sequence[str]) -> None:
    """Answer jobs until the parent hangs up.

    Args:
        connection: file descriptor of the line to the parent.
        memory: file descriptor of the memory for the heartbeat.
        parent: the parent's process id.
        level: the least level of log messages that the parent shows.
        hosts: the distributions beyond tokbench's own whose plugins may run here.
    """
    _settle_down(parent)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # what tokenizers print is not lost when the process is ended
    line = _Line(connection)
    logger = logging.getLogger("tokbench")
    logger.addHandler(_ToParent(line))
    logger.setLevel(level)
    context = WorkerContext(line.next_batch, lambda *step: line.send(("progress", step)), hosts=hosts)
    context.call = line.call
    load_registry(here=frozenset())  # tokbench's own; strangers are imported in a job, whose time is limited
    if hosts:
        from tokbench.registry import hosted

        hosted.use(context)
    gc.freeze()  # modules and plugins stay until the end
    gc.set_threshold(_NEW_OBJECTS)
    gc.enable()
    keep_heartbeat(mmap.mmap(memory, HEARTBEAT_BYTES))
    code = 0
    try:
        line.send(("ready", None))
        while True:
            _answer(line, context)
    except KeyboardInterrupt:
        code = 128 + signal.SIGINT
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except _ParentGone:
        pass
    except BaseException as error:  # noqa: BLE001 - the parent gets the reason
        code = 1
        set_ended(f"the process was ended by {one_line(error)}", error)
    os._exit(code)  # without tearing down vocabularies of a gigabyte


def _answer(line: _Line, context: WorkerContext) -> None:
    """Take one job, and answer it."""
    job, recipes = line.receive()
    context.recipes.update(recipes)
    with doing("working", tokenizer=next(iter(job.tokenizers), ""), place=""):
        for answer in job.run(context):
            line.send(("answer", answer))
    line.send(("done", None))


def _settle_down(parent: int) -> None:
    """End with the parent, and be the first to go if memory runs out, where the system can do that."""
    if sys.platform == "linux":
        attempt(lambda: Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii"))
    end_with_parent(parent)


def end_with_parent(parent: int) -> None:
    """Let this process be killed when its parent ends; raise BackendError if it has ended already."""
    if sys.platform == "linux":
        import ctypes

        attempt(lambda: ctypes.CDLL(None).prctl(1, signal.SIGKILL))  # 1: PR_SET_PDEATHSIG
    if os.getppid() != parent:
        raise BackendError("the parent of this worker has gone")
