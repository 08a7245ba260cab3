"""The processes of plugins that are not tokbench's own, one for each distribution."""

from __future__ import annotations

import io
import os
import pickle
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import distribution as installed
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Final

from tokbench.config.model import Limits
from tokbench.corpus.corpus import Corpus
from tokbench.engine.workers.one_thread import ONE_THREAD
from tokbench.engine.workers.pool import WorkerDied
from tokbench.engine.workers.processes import ProcessPool
from tokbench.engine.workers.worker import WorkerContext
from tokbench.foundation.errors import InputError
from tokbench.foundation.failures import Failure, PluginError, attempt, doing
from tokbench.foundation.progress import silent
from tokbench.measuring.job import Job
from tokbench.registry import hosted
from tokbench.registry.foreign import MemberPlace
from tokbench.registry.hookspecs import GROUP
from tokbench.registry.hosted_study import VALUES
from tokbench.registry.plugins import ALLOWED, OWN_ONLY
from tokbench.results.study_blocks import StudyBlocks

_ALL_OF_IT: Final = ("", "")

_IMPORT_S: Final = 60.0
"""Seconds that a distribution may take to be imported and described."""


@dataclass(frozen=True)
class Call(Job):
    """A call of a plugin; the answer is that of :func:`tokbench.registry.hosted.answer`."""

    retry_alone: ClassVar[bool] = False
    distribution: str
    verb: str
    place: str
    request: bytes
    callback: Any = field(default=None, compare=False)
    """What answers the calls that it sends back."""

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"callback": None}

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return ()

    @property
    def plugins(self) -> tuple[str, ...]:
        return (self.distribution,)

    def called(self, request: bytes) -> bytes:
        answer: bytes = self.callback(request)
        return answer

    def run(self, _context: WorkerContext) -> Any:
        with doing(self.verb, tokenizer="", place=self.place):
            yield hosted.answer(self.request)


class PluginHost:
    """The process of one distribution; one of its specs that ends it is not called again."""

    def __init__(self, distribution: str, stamp: tuple[object, ...]) -> None:
        self.distribution = distribution
        self.stamp = stamp
        self._limits = Limits()
        self._pool: ProcessPool | None = None
        self._turn = threading.RLock()
        self._busy = False
        self._ended: dict[tuple[str, str], Failure] = {}
        self._description: Any = None

    def call(self, function: str, place: MemberPlace, *arguments: Any) -> Any:
        """Return what the plugin answers.

        Raises:
            InputError: the plugin refuses the input.
            PluginError: it failed, ended its process or took too long.
        """
        with self._turn:
            if function == "describe" and self._description is not None:
                return self._description
            answer = self._answer(function, place, arguments)
            if function == "describe":
                self._description = answer
            return answer

    def limit(self, limits: Limits) -> None:
        """Let calls have these limits from now on; what ended the process before may be tried again, but no import."""
        with self._turn:
            self._ended = {place: failure for place, failure in self._ended.items() if place == _ALL_OF_IT}
            if limits.memory != self._limits.memory and not self._busy:
                self.end()
            self._limits = limits

    def end(self) -> None:
        """End the process."""
        if self._pool:
            self._pool.end()
            self._pool = None

    def _answer(self, function: str, place: MemberPlace, arguments: tuple[Any, ...]) -> Any:
        known = self._ended.get(place[:2])
        if known:
            raise PluginError(known)
        verb = {"describe": "importing", "validate": "checking options"}.get(function, "calling")
        member = next(
            (argument for argument in arguments if function in {"metric", "source"} and isinstance(argument, str)), ""
        )
        doing_what = (
            f"{member or place.member} of {place.name}" if place.name else f"the plugins of {self.distribution}"
        )
        callback = _callback(arguments)
        job = Call(
            self.distribution, verb, doing_what, packed((function, place, arguments), self.distribution), callback
        )
        answer = self._asked(job, describing=function == "describe")
        if isinstance(answer, WorkerDied):
            failure = answer.failure
            if place.name not in failure.reason:  # it closed the line, and its heartbeat had ended
                failure = failure._replace(reason=f"{verb} {doing_what}: {failure.reason}")
            self._ended[place[:2]] = failure
            raise PluginError(failure)
        kind, content = pickle.loads(answer)  # noqa: S301 - plain data, see hosted
        if kind == "input":
            raise InputError(content)
        if function == "source" and kind == "error":
            content = content._replace(reason=f"the corpus source {place.name!r}: {content.reason}")
        if kind == "error":
            raise PluginError(content)
        return content

    def _asked(self, job: Call, *, describing: bool) -> bytes | WorkerDied:
        limits = self._limits
        if describing:
            limits = limits.model_copy(update={"step": min(limits.step, _IMPORT_S)})
        if self._busy:  # a study asks for a state of the same plugin
            with ProcessPool(1, limits, silent, environment=ONE_THREAD) as other:
                answer: bytes | WorkerDied = other.ask(job)
                return answer
        self._pool = self._pool or ProcessPool(1, limits, silent, environment=ONE_THREAD)
        self._pool.limits = limits
        self._busy = True
        try:
            return self._pool.ask(job)
        except BaseException:
            self.end()
            raise
        finally:
            self._busy = False


_HOSTS: Final[dict[str, PluginHost]] = {}


def host_of(distribution: str, *, renewed: bool) -> PluginHost:
    """Return the process of a distribution; a new one where ``renewed`` is asked for and its code has changed."""
    known = _HOSTS.get(distribution)
    stamp = _stamp(distribution) if renewed or known is None else known.stamp
    if known is None or known.stamp != stamp:
        if known:
            known.end()
        _HOSTS[distribution] = PluginHost(distribution, stamp)
    return _HOSTS[distribution]


def limit_hosts(limits: Limits) -> None:
    """Let the processes of all plugins have the limits of a configuration."""
    for host in _HOSTS.values():
        host.limit(limits)


def _stamp(distribution: str) -> tuple[object, ...]:
    """Return what shows that the code of a distribution has changed: version, entry points, and times of its files."""
    found = installed(distribution)
    entries = [entry for entry in found.entry_points if entry.group == GROUP]
    folders = []
    for top in dict.fromkeys(entry.value.partition(":")[0].partition(".")[0] for entry in entries):
        spec = attempt(lambda top=top: find_spec(top))  # type: ignore[misc]
        origin = getattr(spec, "origin", None)
        if origin and Path(origin).is_file():
            path = Path(origin)
            files = path.parent.rglob("*.py") if path.name == "__init__.py" else [path]
            folders += [(str(file), file.stat().st_mtime_ns) for file in files]
    surroundings = tuple(sys.path), os.environ.get(ALLOWED), os.environ.get(OWN_ONLY)
    return (surroundings, found.version, tuple((entry.name, entry.value) for entry in entries), tuple(sorted(folders)))


def packed(value: Any, distribution: str) -> bytes:
    """Return a pickle for the process of a plugin; specs are named there, and texts stay here."""
    data = io.BytesIO()
    packer = _Packer(data, pickle.HIGHEST_PROTOCOL)
    packer.distribution = distribution
    packer.dump(value)
    return data.getvalue()


class _Packer(pickle.Pickler):
    distribution = ""

    def reducer_override(self, value: Any) -> Any:
        kind = hosted.CATALOGUES.get(type(value).__name__)
        if kind:
            return hosted.spec_named, (kind, value.name)
        if isinstance(value, StudyBlocks):  # as plain data: the plugin has the classes
            return StudyBlocks, (value.plain(),)
        if isinstance(value, Corpus):
            return hosted.without_texts, ({k: v for k, v in vars(value).items() if k not in _TEXTS},)
        if type(value).__name__ == "CellTables":
            return type(value), (value.results,)
        if hasattr(type(value), "answer_plugin"):
            return hosted.study_context, (self.distribution, {name: getattr(value, name) for name in VALUES})
        return NotImplemented


_TEXTS: Final = {"source", "_spool", "_counted"}


def _callback(arguments: tuple[Any, ...]) -> Callable[[bytes], bytes] | None:
    return next((argument.answer_plugin for argument in arguments if hasattr(type(argument), "answer_plugin")), None)
