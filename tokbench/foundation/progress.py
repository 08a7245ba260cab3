"""The progress of a run: its steps, their speed, and the seconds of each phase.

Nothing is shown here: :mod:`tokbench.foundation.display` shows it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Protocol

Phase = str
"""A phase of a run: one of the names of :class:`tokbench.results.blocks.Durations`, or a study."""

_ABOUT: Final = {"training ": "tokenizer", "measuring ": "corpus", "timing on ": "corpus"}
"""By the beginning of a step's name, what its end names."""

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


class RunProgress:
    """The progress of one run. It can be called like any :class:`Progress`, for steps with units of their own.

    Args:
        show: called with a step whenever it has moved.

    >>> progress = RunProgress()
    >>> with progress.phase("measuring"):
    ...     progress.measured("pud", documents=2, n_bytes=30, total=3)
    ...     progress.measured("pud", documents=1, n_bytes=10, total=3, from_store=True)
    >>> progress.steps["measuring pud"].done, progress.from_store
    (3.0, 1)
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
        self._counted = 0.0
        self._lock = threading.RLock()

    @classmethod
    def of(cls, progress: Progress) -> RunProgress:
        """Return the progress itself, or one that passes every step on to the function."""
        if isinstance(progress, RunProgress):
            return progress
        return cls(lambda step: progress(step.name, step.done, step.total))

    @contextmanager
    def phase(self, name: Phase) -> Iterator[None]:
        """Add the wall time of the block to the seconds of a phase, without that of phases inside it."""
        self.phases.append(name)
        began, inside = _now(), self._counted
        try:
            yield
        finally:
            took = _now() - began
            self.seconds[name] = self.seconds.get(name, 0.0) + took - (self._counted - inside)
            self._counted, self.at_work = inside + took, ()

    def __call__(self, step: str, done: float, total: float | None, /) -> None:
        """Show that ``step`` has come from 0 to ``done`` of ``total`` (``None``: not known)."""
        with self._lock:
            moved = self._move(self._step(step), done, total)
        self._show(moved)  # without the lock, because a display may have one of its own

    def measuring(self, corpus: str, total: int) -> None:
        """Show that the measuring of a corpus has begun; ``total`` is its documents times the tokenizers."""
        if f"measuring {corpus}" not in self.steps:
            self.measured(corpus, documents=0, n_bytes=0, total=total)

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
            step = self._step(f"measuring {corpus}")
            if from_store:
                step.from_store += documents
                self.from_store += documents
            else:
                step.n_bytes += n_bytes
            self._move(step, step.done + documents, total)
        self._show(step)

    def tokenizers_at_work(self, *names: str) -> None:
        """Note which tokenizers are at work."""
        self.at_work = names

    def _step(self, name: str) -> Step:
        if name not in self.steps:
            about = {what: name.removeprefix(verb) for verb, what in _ABOUT.items() if name.startswith(verb)}
            self.steps[name] = Step(name, about.get("corpus", ""), about.get("tokenizer", ""))
        return self.steps[name]

    def _move(self, step: Step, done: float, total: float | None) -> Step:
        step.done, step.total = _bounded(done), None if total is None else _bounded(total)
        step.ended = _now() if step.total is not None and step.done >= step.total else None
        self.current = step
        return step
