"""The progress of a run: documents, speeds, the time left, and the seconds of each phase.

Nothing is shown here: :mod:`tokbench.foundation.display` shows it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

Phase = str
"""A phase of a run: one of the names of :class:`tokbench.results.blocks.Durations`, or a study."""

_ESTIMATED: Final[tuple[Phase, ...]] = ("training", "measuring", "timing")
"""The phases that are long, and whose length follows from the bytes that they take; studies may be more of them."""

_STEPS: Final[Mapping[Phase, str]] = {"training": "training ", "timing": "timing on "}
"""The beginnings of the names of steps; what follows is the tokenizer or the corpus."""

_WINDOW_SECONDS: Final = 5.0
"""The speed of a phase is that of the last seconds, because starting and compiling make its beginning slow."""

_WINDOW_SHARE: Final = 0.3
"""It is that of this share of the phase where that is longer, because tokenizers are of different speeds."""

_NOTE_SECONDS: Final = 0.5
"""The least time between two notes of how far a phase has come."""

_LEAST_SHARE: Final = 0.005
"""It is known when so much was done in one window at least."""

_SURE_SHARE: Final = 0.25
_SURE_SECONDS: Final = 30
"""From this share or time on the speed is known in any case, counted from the beginning of the phase."""

_CELL_SECONDS: Final[Mapping[Phase, float]] = {"cells": 5e-5, "reports": 1e-4}
"""The time that a cell takes in the phases after measuring, on a machine of 2026: about, but never nothing."""

_now = time.monotonic


class Progress(Protocol):
    """The function that a long step calls to show how far it has come."""

    def __call__(self, step: str, done: float, total: float | None, /) -> None:
        """Show that ``step`` has come from 0 to ``done`` of ``total`` (``None``: not known)."""


def silent(*_: object) -> None:
    """Show nothing, of a run or training that nobody watches."""


@dataclass
class Step:
    """A step of a run, such as the training of one tokenizer or the measuring of one corpus."""

    name: str
    """The step in words, such as ``measuring pud``."""
    corpus: str = ""
    """The corpus that it is about; empty if it is about none, or several."""
    tokenizer: str = ""
    """The tokenizer that it is about, likewise."""
    done: float = 0.0
    """Its progress, in documents x tokenizers while a corpus is measured."""
    total: float | None = None
    """Its goal; ``None`` if that is not known."""
    n_bytes: int = 0
    """The UTF-8 bytes that tokenizers have encoded in it, those of a document once for each tokenizer."""
    from_store: int = 0
    """The documents x tokenizers whose numbers came from the store, which are in ``done``, too."""
    began: float = field(default_factory=lambda: _now())  # noqa: PLW0108 - looked up when it is called
    """The time of its first sign of life, seconds of the monotonic clock."""
    ended: float | None = None
    """The time at which it reached its total; ``None`` before."""

    @property
    def seconds(self) -> float:
        """The time since its first sign of life, or until its end."""
        return (_now() if self.ended is None else self.ended) - self.began

    @property
    def mb_per_s(self) -> float | None:
        """The 10⁶ bytes a second that all workers together have encoded, decoded and measured; ``None`` for others."""
        return self.n_bytes / 1e6 / self.seconds if self.n_bytes and self.seconds > 0 else None


_MOST: Final = 10**15
"""The largest number that is counted to; a tokenizer may tell of 10**400 merges, which no float can hold."""


def _bounded(number: float) -> float:
    """Return a number from 0 to a bound; what is none is 0."""
    if 0 <= number <= _MOST:
        return number
    return _MOST if number > 0 else 0


class _Sight(NamedTuple):
    """The progress of a phase at some time."""

    time: float
    """Seconds of the monotonic clock."""
    done: float
    """The bytes that were worked on."""


class TimeLeft(NamedTuple):
    """An estimate of the time that the rest of a run takes."""

    seconds: float | None
    """The time of all phases that can be estimated; ``None`` if there is no such phase left."""
    unknown: tuple[Phase, ...]
    """The phases that are to come and cannot be estimated yet; ``seconds`` is without them."""


class RunProgress:
    """The progress of one run. It can be called like any :class:`Progress`, for steps with units of their own.

    Args:
        show: called with a step whenever it has moved.

    >>> progress = RunProgress()
    >>> progress.expect({"mine": 10}, {"pud": 40}, {})
    >>> with progress.phase("measuring"):
    ...     progress.measured("pud", documents=2, n_bytes=30, total=3)
    ...     progress.measured("pud", documents=1, n_bytes=10, total=3, from_store=True)
    >>> progress.steps["measuring pud"].done, progress.from_store
    (3.0, 1)
    >>> progress.time_left().unknown
    ('training',)
    """

    def __init__(self, show: Callable[[Step], object] = silent) -> None:
        self.steps: dict[str, Step] = {}
        """All steps so far, by name, in the order of their beginning."""
        self.current: Step | None = None
        """The step that moved last; ``None`` at the very beginning."""
        self.at_work: tuple[str, ...] = ()
        """The tokenizers at work, as far as that is known."""
        self.seconds: dict[Phase, float] = {}
        """Wall time of the phases that have ended, whichever way."""
        self.phases: list[Phase] = []
        """The phases that were begun, in order."""
        self.from_store = 0
        """Documents x tokenizers whose numbers came from the store, over all corpora."""
        self._show = show
        self._began: float | None = None
        self._counted = 0.0
        self._workers = 1
        self._expected: dict[Phase, dict[str, int]] = {phase: {} for phase in _ESTIMATED}
        self._steps = dict(_STEPS)
        self._trained: dict[str, bool] = {}
        self._stored_bytes = 0
        self._after: dict[Phase, float] = {}
        self._sights: dict[Phase, list[_Sight]] = {}
        self._lock = threading.RLock()

    @classmethod
    def of(cls, progress: Progress) -> RunProgress:
        """Return the progress itself, or one that passes every step on to the function."""
        if isinstance(progress, RunProgress):
            return progress
        return cls(lambda step: progress(step.name, step.done, step.total))

    def expect(
        self,
        training: Mapping[str, int],
        measuring: Mapping[str, int],
        timing: Mapping[str, int],
        workers: int = 1,
        cells: int = 0,
    ) -> None:
        """Say what is to come, so that the time left can be estimated.

        Args:
            training: by tokenizer, the bytes of its training text.
            measuring: by corpus, the bytes that are encoded, those of a document once for each tokenizer.
            timing: by corpus, the bytes that are timed, likewise.
            workers: the processes that measure side by side; timings have one.
            cells: the cells that the run has at most.
        """
        with self._lock:
            self._after = {phase: cells * seconds for phase, seconds in _CELL_SECONDS.items()}
            for phase, amounts in zip(_ESTIMATED, (training, measuring, timing), strict=True):
                self._expected[phase] = dict(amounts)
            self._workers = max(1, workers)

    def expect_study(self, name: str, step: str, amounts: Mapping[str, int]) -> None:
        """Say what a long study is to work on, see :meth:`expect`.

        Args:
            name: the study.
            step: the beginning of the names of its steps; what follows is the corpus.
            amounts: by corpus, the bytes that it works on.
        """
        with self._lock:
            timing = self._expected.pop("timing")
            self._expected |= {name: dict(amounts), "timing": timing}
            self._steps[name] = step

    @contextmanager
    def phase(self, name: Phase) -> Iterator[None]:
        """Add the wall time of the block to the seconds of a phase, without that of phases inside it."""
        with self._lock:
            self.phases.append(name)
            self._began = began = _now()
            inside = self._counted
        try:
            yield
        finally:
            with self._lock:
                took = _now() - began
                self.seconds[name] = self.seconds.get(name, 0.0) + took - (self._counted - inside)
                self._counted = inside + took
                self._began, self.at_work = None, ()

    def __call__(self, step: str, done: float, total: float | None, /) -> None:
        """Show that ``step`` has come from 0 to ``done`` of ``total`` (``None``: not known)."""
        with self._lock:
            moved = self._move(self._step(step), done, total)
        self._show(moved)  # without the lock, because a display may have one of its own

    def measuring(self, corpus: str, total: int) -> None:
        """Show that the measuring of a corpus has begun; ``total`` is its documents times the tokenizers."""
        name = f"measuring {corpus}"
        if name not in self.steps:
            with self._lock:
                step = self._move(self._step(name, corpus=corpus), 0, total)
            self._show(step)

    def measured(
        self, corpus: str, *, documents: int, n_bytes: int, total: int | None = None, from_store: bool = False
    ) -> None:
        """Count documents of a corpus that one tokenizer has finished with.

        Args:
            corpus: the corpus.
            documents: the number of documents.
            n_bytes: their size in UTF-8 bytes.
            total: the documents x tokenizers of the corpus.
            from_store: ``True`` if nothing was encoded, because the store had the numbers.
        """
        with self._lock:
            step = self._step(f"measuring {corpus}", corpus=corpus)
            if from_store:
                step.from_store += documents
                self.from_store += documents
                self._stored_bytes += n_bytes
            else:
                step.n_bytes += n_bytes
            self._move(step, step.done + documents, total)
        self._show(step)

    def trained(self, tokenizer: str, *, from_store: bool = False) -> None:
        """Note the end of the training of a tokenizer, or that the store had it."""
        with self._lock:
            self._trained[tokenizer] = from_store

    def tokenizers_at_work(self, *names: str) -> None:
        """Note which tokenizers are at work."""
        self.at_work = names

    def _step(self, name: str, corpus: str = "", tokenizer: str = "") -> Step:
        if name not in self.steps:
            training = name.removeprefix("training ")
            if training in self._expected["training"] and training != name:
                tokenizer = training
            for phase in (phase for phase in self._steps if phase != "training"):
                place = name.removeprefix(self._steps[phase])
                if place in self._expected[phase] and place != name:
                    corpus = place
            self.steps[name] = Step(name, corpus, tokenizer)
        return self.steps[name]

    def _move(self, step: Step, done: float, total: float | None) -> Step:
        done, total = _bounded(done), None if total is None else _bounded(total)
        step.done, step.total = done, total
        step.ended = _now() if total is not None and done >= total else None
        self.current = step
        phase = self._now_in()
        if phase in self._expected:
            self._note(phase)
        return step

    def _note(self, phase: Phase) -> None:
        """Note how far a phase has come, if it has begun its work and was not noted just before."""
        sights = self._sights.setdefault(phase, [])
        if sights and _now() - sights[-1].time < _NOTE_SECONDS:
            return
        if done := self._bytes_done(phase):
            sights.append(_Sight(_now(), done))

    def time_left(self) -> TimeLeft:
        """Estimate the time left, from the bytes of each phase and the speed of what was done so far.

        Timings that have not begun are taken to be as fast as one worker was at measuring. Nothing is known while a
        study is at work whose length cannot be estimated.
        """
        with self._lock:
            seconds: float | None = None
            unknown: list[Phase] = []
            for phase in self._expected:
                done = self._bytes_done(phase)
                left = sum(self._expected[phase].values()) - done - self._bytes_from_store(phase)
                if left <= 0 or phase in self.seconds:
                    continue
                speed = self._speed(phase, done)
                if speed:
                    seconds = (seconds or 0.0) + left / speed
                else:
                    unknown.append(phase)
            if self._now_in() not in {None, *self._expected, *self._after}:
                return TimeLeft(None, tuple(unknown))  # a study that takes as long as it takes
            after = self._seconds_after()
            return TimeLeft((seconds or 0.0) + after if after else seconds, tuple(unknown))

    def _seconds_after(self) -> float:
        """Return the time that is left of the phases whose length follows from the cells."""
        left = 0.0
        for phase, seconds in self._after.items():
            if phase == self._now_in():
                left += max(0.0, seconds - self._seconds_in(phase))
            elif phase not in self.seconds:
                left += seconds
        return left

    def _now_in(self) -> Phase | None:
        return self.phases[-1] if self.phases and self._began is not None else None

    def _seconds_in(self, phase: Phase) -> float:
        """Return the wall time of a phase so far."""
        running = _now() - self._began if self._began is not None and self._now_in() == phase else 0.0
        return self.seconds.get(phase, 0.0) + running

    def _bytes_done(self, phase: Phase) -> float:
        """Return the bytes of a phase that were worked on, without those that came from the store."""
        if phase == "measuring":
            return float(sum(step.n_bytes for step in self.steps.values()))
        verb = self._steps[phase]
        done = 0.0
        for name, n_bytes in self._expected[phase].items():
            step = self.steps.get(verb + name)
            if phase == "training" and name in self._trained:
                done += 0 if self._trained[name] else n_bytes
            elif step and step.total:
                done += n_bytes * min(1.0, step.done / step.total)
        return done

    def _bytes_from_store(self, phase: Phase) -> int:
        if phase == "measuring":
            return self._stored_bytes
        trainings = self._expected["training"].items() if phase == "training" else ()
        return sum(n_bytes for name, n_bytes in trainings if self._trained.get(name))

    def _speed(self, phase: Phase, done: float) -> float | None:
        """Return the bytes a second of a phase; ``None`` if they are not known."""
        total = max(sum(self._expected[phase].values()), 1)
        if sights := self._sights.get(phase):
            window = max(_WINDOW_SECONDS, _WINDOW_SHARE * (_now() - sights[0].time))
            began, before = next((sight for sight in reversed(sights) if _now() - sight.time >= window), sights[0])
            since, gained = _now() - began, done - before
            if since >= _WINDOW_SECONDS and gained / total >= _LEAST_SHARE:
                return gained / since
        seconds = self._seconds_in(phase)
        if done and seconds and (done / total >= _SURE_SHARE or seconds >= _SURE_SECONDS):
            return done / seconds
        if phase == "timing":
            measured = self._speed("measuring", self._bytes_done("measuring"))
            return measured and measured / self._workers
        return None
