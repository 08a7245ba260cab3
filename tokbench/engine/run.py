"""The record of a run, which goes from phase to phase, and its one stop."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial, reduce
from types import FrameType
from typing import Any, Final, Generic, NamedTuple, TypeVar

from tokbench.corpus.shards import Shard
from tokbench.engine.stored import StoredWork
from tokbench.engine.workers.pool import WorkerPool
from tokbench.foundation.errors import STOPS
from tokbench.foundation.failures import Failure, attempt
from tokbench.measuring.metric import CorpusMetric, DocumentExample, TextMetric
from tokbench.measuring.plan import Plan
from tokbench.registry.foreign import distributions_of
from tokbench.registry.plugins import Registry
from tokbench.results.blocks import PartialRun
from tokbench.results.cells import WHOLE
from tokbench.results.model import Results

T = TypeVar("T")

Key = tuple[str, str, str, str]
"""Tokenizer, corpus, group, metric family."""


@dataclass
class States:
    """The states of the text metrics so far."""

    plan: Plan
    states: dict[Key, Any | Failure] = field(default_factory=dict)
    """By key, the merged state of the shards so far, or the failure: a part of a group never passes for the whole."""
    documents: dict[Key, int] = field(default_factory=dict)
    unreadable: dict[str, Failure] = field(default_factory=dict)
    """By corpus, why its table of counts could not be read to the end."""
    crashed: dict[tuple[str, str], Failure] = field(default_factory=dict)
    """By tokenizer and family, how it ended a process; nothing is measured from then on."""
    to_measure: Counter[str] = field(default_factory=Counter)
    """By corpus, the documents, each counted for every tokenizer and process that encodes it."""
    interrupted: bool = False

    @cached_property
    def _made(self) -> dict[str, TextMetric | CorpusMetric | Failure]:
        families = [(family.name, family.text, options) for family, options in self.plan.metrics]
        return {name: attempt(partial(make, options)) for name, make, options in families if make}

    @cached_property
    def metrics(self) -> dict[str, TextMetric | CorpusMetric]:
        return {name: metric for name, metric in self._made.items() if not isinstance(metric, Failure)}

    @cached_property
    def hosts(self) -> dict[str, tuple[str, ...]]:
        """By family, the distribution in whose processes it runs; none for tokbench's own."""
        return {family.name: distributions_of(family.text) for family, _ in self.plan.metrics if family.text}

    @property
    def foreign(self) -> frozenset[str]:
        """The families of third parties, whose crashes end no tokenizer."""
        return frozenset(name for name, plugins in self.hosts.items() if plugins)

    def fail_unmade(self) -> None:
        """Give every tokenizer the failure of a metric that could not be made."""
        failed = {name: metric for name, metric in self._made.items() if isinstance(metric, Failure)}
        for family, failure in failed.items():
            self.crashed |= {(tokenizer.name, family): failure for tokenizer in self.plan.tokenizers}

    @cached_property
    def of_groups(self) -> dict[str, TextMetric]:
        """The metrics that finish the groups of a corpus one by one."""
        return {name: metric for name, metric in self.metrics.items() if not isinstance(metric, CorpusMetric)}

    @cached_property
    def of_corpora(self) -> dict[str, CorpusMetric]:
        return {name: metric for name, metric in self.metrics.items() if isinstance(metric, CorpusMetric)}

    def add(self, key: Key, state: Any | Failure, documents: int) -> None:
        known = self.states.get(key)
        if isinstance(known, Failure):
            return
        self.documents[key] = self.documents.get(key, 0) + documents
        if known is None or isinstance(state, Failure):
            self.states[key] = state
        else:
            metric = self.metrics[key[3]]
            self.states[key] = attempt(lambda: metric.merge(known, state), "merging states")

    def state(self, key: Key, documents: int) -> Any | Failure:
        """Return the state of a group, if all its documents are in it, or the failure."""
        state = self.states.get(key)
        if isinstance(state, Failure) or self.documents.get(key) == documents:
            return state
        stopped = "the run was stopped before this was measured" if self.interrupted else "not measured"
        return self.crashed.get((key[0], key[3])) or self.unreadable.get(key[1]) or Failure(stopped)

    def group_state(self, key: Key, groups: Mapping[str, int]) -> Any | Failure:
        """Return the state of a group, or of the whole corpus; ``groups`` has the number of documents of each."""
        name, corpus, group, family = key
        if group != WHOLE:
            return self.state(key, groups[group])
        parts = [self.state((name, corpus, member, family), groups[member]) for member in groups]
        for part in parts:
            if isinstance(part, Failure):
                return part
        if family in self.of_corpora:
            return None  # it takes the groups one by one
        return attempt(lambda: reduce(self.metrics[family].merge, parts), "merging groups")

    @cached_property
    def planned_families(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """By corpus and tokenizer, the families that are to be measured; a pair with none is left out."""
        planned, only = {}, self.plan.only
        for corpus in self.plan.measured:
            families = [family.name for family in self.plan.families_on(corpus)]
            for name in self.plan.names_on(corpus):
                planned[corpus, name] = tuple(each for each in families if name in only.get(each, {name}))
        return {place: families for place, families in planned.items() if families}

    def open_families(self, name: str, shard: Shard) -> tuple[str, ...]:
        """Return the families that can still measure a shard with a tokenizer."""
        return tuple(
            family
            for family in self.planned_families.get((shard.corpus, name), ())
            if (name, family) not in self.crashed
            and not isinstance(self.states.get((name, shard.corpus, shard.group, family)), Failure)
        )


@dataclass
class Run:
    """A run whose configuration has been checked; every phase adds to ``results`` what it finds."""

    registry: Registry
    plan: Plan
    pool: WorkerPool
    stored: StoredWork
    results: Results
    states: States
    finished: bool = False
    """The states have become cells."""
    worst: dict[tuple[str, str, str], Sequence[DocumentExample]] = field(default_factory=dict)
    """By tokenizer, corpus and group, the documents that need the most tokens per byte."""

    def phase(self, name: str, step: Callable[[Run], object]) -> None:
        """Do a step, unless the run was stopped. Ctrl-C or the loss of the workers ends the step, and stops the run."""
        if self.results.interrupted:
            return
        try:
            with self.pool.progress.phase(name):
                step(self)
        except STOPS:
            self.pool.end()
            self.stop(name)

    def note(self, note: str) -> None:
        self.results.notes += [note] if note not in self.results.notes else []

    def stop(self, phase: str) -> None:
        self.results.interrupted = self.states.interrupted = True
        self.results.partial = self.results.partial or PartialRun(phase=phase, reason=self.pool.lost)


_SIGNALS: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Uninterrupted(NamedTuple, Generic[T]):
    """What a step returned, and whether a signal asked the run to stop meanwhile."""

    value: T
    stopped: bool


def uninterrupted(step: Callable[[], T]) -> Uninterrupted[T]:
    """Finish a step before a signal is handled; a Ctrl-C after that one does not wait, and raises KeyboardInterrupt.

    >>> uninterrupted(lambda: [signal.raise_signal(signal.SIGINT), "done"][1])
    Uninterrupted(value='done', stopped=True)
    """
    in_main = threading.current_thread() is threading.main_thread()  # other threads get no signals
    before = {number: signal.getsignal(number) for number in _SIGNALS if in_main}
    handlers = {number: handler for number, handler in before.items() if callable(handler)}
    waiting = list[tuple[int, FrameType | None]]()

    def wait(number: int, frame: FrameType | None) -> None:
        waiting.append((number, frame))
        if signal.SIGINT in handlers:
            signal.signal(signal.SIGINT, handlers[signal.SIGINT])

    try:
        for number in handlers:
            signal.signal(number, wait)
        value = step()
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    try:
        for number, frame in waiting:
            handlers[number](number, frame)
    except KeyboardInterrupt:
        return Uninterrupted(value, stopped=True)
    return Uninterrupted(value, stopped=False)
