"""The progress of a run: its steps, their speed, and the seconds of each phase."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Protocol

Phase = str
"""A name of :class:`tokbench.results.blocks.Durations`, or a study."""

_ABOUT: Final = {"training ": "tokenizer", "measuring ": "corpus", "timing on ": "corpus"}
"""What the end of a step's name is."""

_now = time.monotonic


class Progress(Protocol):
    """Called by a long step to show how far it is."""

    def __call__(self, step: str, done: float, total: float | None, /) -> None:
        """Set ``step`` to ``done`` of ``total`` (``None``: not known)."""


def silent(*_: object) -> None:
    """Show nothing."""


@dataclass
class Step:
    """A step of a run."""

    name: str
    """Such as ``measuring pud``."""
    corpus: str = ""
    """Empty for none, or several."""
    tokenizer: str = ""
    done: float = 0.0
    """Documents x tokenizers while a corpus is measured."""
    total: float | None = None
    n_bytes: int = 0
    """UTF-8 bytes encoded, once for each tokenizer."""
    from_store: int = 0
    """The cache hits in ``done``."""
    began: float = field(default_factory=lambda: _now())  # noqa: PLW0108 - looked up when it is called
    """Its first sign of life, by the monotonic clock."""
    ended: float | None = None
    """When it reached its total."""

    @property
    def seconds(self) -> float:
        return (_now() if self.ended is None else self.ended) - self.began

    @property
    def mb_per_s(self) -> float | None:
        """10⁶ bytes a second of all workers together; ``None`` for other steps."""
        return self.n_bytes / 1e6 / self.seconds if self.n_bytes and self.seconds > 0 else None


_MOST: Final = 10**15
"""A tokenizer may report 10**400 merges, which no float can hold."""


def _bounded(number: float) -> float:
    """Return 0 for what is not a number."""
    if 0 <= number <= _MOST:
        return number
    return _MOST if number > 0 else 0


class RunProgress:
    """The progress of one run; called like any :class:`Progress`, for steps with other units.

    Args:
        show: called with each step that has moved.

    >>> progress = RunProgress()
    >>> with progress.phase("measuring"):
    ...     progress.measured("pud", documents=2, n_bytes=30, total=3)
    ...     progress.measured("pud", documents=1, n_bytes=10, total=3, from_store=True)
    >>> progress.steps["measuring pud"].done, progress.from_store
    (3.0, 1)
    """

    def __init__(self, show: Callable[[Step], object] = silent) -> None:
        self.steps: dict[str, Step] = {}
        self.current: Step | None = None
        self.at_work: tuple[str, ...] = ()
        self.seconds: dict[Phase, float] = {}
        """Wall time of ended phases."""
        self.phases: list[Phase] = []
        self.from_store = 0
        """Documents x tokenizers that were cache hits."""
        self._show = show
        self._counted = 0.0
        self._lock = threading.RLock()

    @classmethod
    def of(cls, progress: Progress) -> RunProgress:
        """Wrap a function that gets every step."""
        if isinstance(progress, RunProgress):
            return progress
        return cls(lambda step: progress(step.name, step.done, step.total))

    @contextmanager
    def phase(self, name: Phase) -> Iterator[None]:
        """Add the block's wall time to a phase, without nested phases."""
        self.phases.append(name)
        began, inside = _now(), self._counted
        try:
            yield
        finally:
            took = _now() - began
            self.seconds[name] = self.seconds.get(name, 0.0) + took - (self._counted - inside)
            self._counted, self.at_work = inside + took, ()

    def __call__(self, step: str, done: float, total: float | None, /) -> None:
        with self._lock:
            moved = self._move(self._step(step), done, total)
        self._show(moved)  # without the lock, because a display may have one of its own

    def measuring(self, corpus: str, total: int) -> None:
        """Begin a corpus; ``total`` is documents x tokenizers."""
        if f"measuring {corpus}" not in self.steps:
            self.measured(corpus, documents=0, n_bytes=0, total=total)

    def measured(
        self, corpus: str, *, documents: int, n_bytes: int, total: int | None = None, from_store: bool = False
    ) -> None:
        """Count documents that one tokenizer has finished; ``total`` is documents x tokenizers."""
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
