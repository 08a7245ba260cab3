"""The part that runs inside a dask worker: it hands each job to a worker process of tokbench's own.

A tokenizer that ends its process costs its own cells by the same code as locally, and never the dask worker. Nothing
here imports dask but for showing progress; :mod:`tokbench.engine.workers.dask` is the other end.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import runpy
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from tokbench.config.model import Limits
from tokbench.engine.identity import file_digest, files_in, installed_versions, plain_name, required_by, source_of
from tokbench.engine.workers.pool import WorkerDied
from tokbench.engine.workers.processes import ProcessPool
from tokbench.engine.workers.worker import Recipe, WorkerContext, end_with_parent
from tokbench.foundation.errors import BackendError
from tokbench.foundation.progress import Progress, RunProgress, silent
from tokbench.measuring.job import Job

_IDLE: Final = 600.0
"""Seconds after which a process that nobody has asked anything is ended, because its run may have vanished."""


class RunKey(NamedTuple):
    """The facts that the parts of a run on a cluster share.

    Attributes:
        run: the identity of the run.
        limits: the limits of its jobs.
        environment: variables for the processes that hold tokenizers.
    """

    run: str
    limits: Limits
    environment: Mapping[str, str]


class Order(NamedTuple):
    """One job for a dask worker.

    Attributes:
        key: the run.
        identity: the identity of this attempt at the job, to which texts may have been sent before.
        job: the job.
        recipes: by tokenizer, the sha256 of its pickled recipe.
        sent: by sha256, the recipes that the worker may not have yet.
        feeds: by feed, the number of batches of text that were sent before.
    """

    key: RunKey
    identity: str
    job: Job
    recipes: Mapping[str, str]
    sent: Mapping[str, bytes]
    feeds: Mapping[str, int]


class Lacking(NamedTuple):
    """The answer of a worker that has not all recipes, by sha256; the job was not begun."""

    digests: tuple[str, ...]


class _RunEnded(Exception):  # noqa: N818 - the usual end of a job that nobody waits for
    """The run has ended, and nobody waits for the answer."""


@dataclass
class _Run:
    """The things that a dask worker keeps for one run.

    Attributes:
        key: the run.
        recipes: by sha256, the pickled recipes.
        folder: where texts for trainings are kept until they are read.
        idle: pools of one process each, which wait for a job; each with the timer that ends it.
        ended: set when the run has ended.
    """

    key: RunKey
    recipes: dict[str, bytes] = field(default_factory=dict)
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="tokbench-")))
    idle: list[tuple[ProcessPool, threading.Timer]] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    def check(self) -> None:
        """Leave the job if the run has ended.

        Raises:
            _RunEnded: it has.
        """
        if self.ended.is_set():
            raise _RunEnded

    @contextmanager
    def pool(self, progress: Progress) -> Iterator[ProcessPool]:
        """Yield a pool of one process, which nobody else uses meanwhile."""
        with _LOCK:
            found = self.idle.pop() if self.idle else None
        if found:
            pool, timer = found
            timer.cancel()
        else:
            pool = ProcessPool(1, self.key.limits, silent, environment=self.key.environment)
        pool.progress = RunProgress.of(progress)
        try:
            yield pool
        except BaseException:
            pool.end()
            raise
        timer = threading.Timer(_IDLE, self._end_idle, [pool])
        timer.daemon = True
        with _LOCK:
            kept = not self.ended.is_set()
            if kept:
                self.idle.append((pool, timer))
                timer.start()
        if not kept:
            pool.end()

    def _end_idle(self, pool: ProcessPool) -> None:
        with _LOCK:
            left = [each for each in self.idle if each[0] is not pool]
            waits, self.idle = len(left) < len(self.idle), left
        if waits:
            pool.end()

    def feeds(self, order: Order) -> dict[str, Iterator[str]]:
        """Return the texts that were sent for a job."""
        return {name: self._texts(order.identity, name, number) for name, number in order.feeds.items()}

    def _texts(self, identity: str, feed: str, number: int) -> Iterator[str]:
        for batch in range(number):
            yield from pickle.loads(_batch_path(self.folder, identity, feed, batch).read_bytes())  # noqa: S301 - sent by the run

    def end(self) -> None:
        """End what is idle, and let jobs that run end themselves."""
        with _LOCK:
            self.ended.set()
            idle, self.idle = self.idle, []
        for pool, timer in idle:
            timer.cancel()
            pool.end()
        shutil.rmtree(self.folder, ignore_errors=True)


_RUNS: Final[dict[str, _Run]] = {}
_LOCK: Final = threading.Lock()


def _run_of(key: RunKey) -> _Run:
    with _LOCK:
        return _RUNS.get(key.run) or _RUNS.setdefault(key.run, _Run(key))


def _batch_path(folder: Path, identity: str, feed: str, number: int) -> Path:
    return folder / identity / f"{hashlib.sha256(feed.encode()).hexdigest()[:16]}-{number}"


def keep_texts(key: RunKey, identity: str, feed: str, number: int, texts: bytes) -> None:
    """Keep a batch of the texts of a feed on disk, until the job that needs it has run.

    Args:
        key: the run.
        identity: of the attempt at the job.
        feed: the name of the feed.
        number: the number of the batch, from 0; batches may come in any order.
        texts: a pickled list of texts.
    """
    path = _batch_path(_run_of(key).folder, identity, feed, number)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(texts)


def run_order(data: bytes) -> bytes:
    """Do a job, and return its answers.

    Args:
        data: a pickled :class:`Order`.

    Returns:
        A pickled list of answers, of which the last may be a ``WorkerDied``; or a pickled :class:`Lacking`.
    """
    order: Order = pickle.loads(data)  # noqa: S301 - sent by the run
    run = _run_of(order.key)
    run.recipes.update(order.sent)
    lacking = tuple(digest for digest in dict.fromkeys(order.recipes.values()) if digest not in run.recipes)
    if lacking:
        return pickle.dumps(Lacking(lacking))
    try:
        with run.pool(_shown(order.key.run)) as pool:
            for name, digest in order.recipes.items():
                if name not in pool.kept:
                    pool.keep(name, _recipe(run.recipes[digest]))
            waiting = iter([order.job])
            answers = [
                answer for _, answer in pool.work(lambda: next(waiting, None), run.check, lambda _: run.feeds(order))
            ]
    except _RunEnded:
        return pickle.dumps([])
    finally:
        shutil.rmtree(run.folder / order.identity, ignore_errors=True)
    return pickle.dumps(answers, pickle.HIGHEST_PROTOCOL)


def _recipe(data: bytes) -> Recipe:
    recipe: Recipe = pickle.loads(data)  # noqa: S301 - sent by the run
    return recipe


def topic_of(run: str) -> str:
    """Return the topic under which a run's progress is shown."""
    return f"tokbench-{run}"


def _shown(run: str) -> Progress:
    """Return a function that shows the client how far a step has come."""

    def show(step: str, done: float, total: float | None) -> None:
        from distributed.worker import get_worker

        with suppress(ValueError):  # not in a task
            get_worker().log_event(topic_of(run), (step, float(done), None if total is None else float(total)))

    return show


def end_run(run: str) -> None:
    """End all that a run has left in this dask worker; jobs of it that still run end within a second or so."""
    with _LOCK:
        found = _RUNS.pop(run, None)
    if found:
        found.end()


class Surroundings(NamedTuple):
    """The versions that must be the same on every machine of a run, because numbers depend on them.

    Attributes:
        versions: by the name of a thing (Python, a plugin, a library), its version; empty if it is not there.
    """

    versions: Mapping[str, str]

    def differences(self, here: Surroundings) -> list[str]:
        """Return what is not the same here.

        >>> Surroundings({"numpy": "2.1", "regex": ""}).differences(Surroundings({"numpy": "2.0", "regex": "1"}))
        ['numpy is 2.1 there and 2.0 here', 'regex is missing there and 1 here']
        """
        names = dict.fromkeys([*here.versions, *self.versions])
        pairs = [(name, self.versions.get(name, ""), here.versions.get(name, "")) for name in names]
        return [f"{name} is {a or 'missing'} there and {b or 'missing'} here" for name, a, b in pairs if a != b]


@dataclass(frozen=True)
class DescribeSurroundings(Job):
    """Say what the numbers depend on where the job runs; the answer is :class:`Surroundings`."""

    @property
    def tokenizers(self) -> tuple[str, ...]:
        """None is at work."""
        return ()

    def run(self, context: WorkerContext) -> Iterator[Surroundings]:
        """See :class:`tokbench.measuring.job.Job`."""
        plugins = [each for each in context.registry.plugins if not each.excluded]
        distributions = sorted({each.distribution for each in plugins if each.distribution})
        libraries = sorted({name for each in distributions for name in required_by(each)} - set(distributions))
        packages = sorted({each.module.partition(".")[0] for each in plugins if not each.reason} | {"tokbench"})
        versions = installed_versions()
        yield Surroundings({
            "Python": ".".join(platform.python_version_tuple()[:2]),
            **{each: versions.get(plain_name(each), "") for each in distributions},
            **{f"the plugin {each.name!r}": "broken" if each.reason else "usable" for each in plugins},
            **{f"the library {each}": versions.get(plain_name(each), "") for each in libraries},
            **{f"the code of {each}": _code(each) for each in packages},
        })  # fmt: skip


def _code(package: str) -> str:
    """Return the beginning of the sha256 of all Python files of a package or module; nothing if it has no file."""
    try:
        source = source_of(package)
    except LookupError:
        return ""
    digest = hashlib.sha256()
    for path in [source] if source.is_file() else files_in(source):
        if path.suffix == ".py":
            digest.update(f"{path.relative_to(source.parent).as_posix()}\0{file_digest(path)}\0".encode())
    return digest.hexdigest()[:12]


def describe(key: RunKey) -> Surroundings:
    """Return the surroundings of tokenizers in this dask worker, as a process of the run sees them.

    Raises:
        BackendError: the process does not start, or ends.
    """
    with _run_of(key).pool(silent) as pool:
        answer: Surroundings | WorkerDied = pool.ask(DescribeSurroundings())
    if isinstance(answer, WorkerDied):
        raise BackendError(answer.failure.reason)
    return answer


def main(module: str, parent: str, *arguments: str) -> None:
    """Run a command of dask in this process, which ends with its parent.

    Args:
        module: the module of the command.
        parent: the parent's process id.
        *arguments: of the command.
    """
    end_with_parent(int(parent))
    sys.argv[:] = [module, *arguments]
    runpy.run_module(module, run_name="__main__")


def settings_for_workers(names: Mapping[str, str]) -> dict[str, str]:
    """Return those variables of this process's environment that its workers elsewhere must have, too."""
    return {
        name: os.environ[name] for name in (*names, "TOKBENCH_NO_THIRD_PARTY", "TOKBENCH_PLUGINS") if name in os.environ
    }
