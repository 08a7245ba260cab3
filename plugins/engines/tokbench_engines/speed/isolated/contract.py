"""The contract of a metric that measures one tokenizer at a time, in a process that may die."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from tokbench.plugin import Tokenizer

if TYPE_CHECKING:
    from tokbench.plugin import Failure
    from tokbench.plugin.metrics import Outcome


class StepAnswers(NamedTuple):
    """The answers of one tokenizer in one step of an isolated metric; ``failure`` says why it went no further."""

    answers: list[Any]
    failure: Failure | None = None
    crashed: bool = False


class TrainedIn(NamedTuple):
    """The cost of a training."""

    seconds: float
    memory: int | None
    """The most bytes that it took; ``None`` if not measured."""
    n_bytes: int
    """The size of its text, UTF-8."""
    like: str
    """Equal for trainings that differ in nothing but how much of one text they had."""
    earlier: bool
    """An earlier run trained it, and measured seconds and memory."""


@runtime_checkable
class IsolatedMetric(Protocol):
    """A metric that measures one tokenizer at a time, on texts of its own, in a process that may die.

    The steps of a tokenizer come one after the other. If its process dies in a step, the step keeps the answers that it
    gave before, and a fresh process goes on with the next one.
    """

    @property
    def steps(self) -> Sequence[str]:
        """The names of the steps, in order; error messages name them."""

    @property
    def fresh(self) -> bool:
        """Every step needs a fresh process and loads the tokenizer; else it is loaded and warm before the first."""

    @property
    def seconds(self) -> float | None:
        """Seconds that one answer may take; ``None`` for the limit of the configuration, which always holds, too."""

    def measure(self, step: str, load: Callable[[], Tokenizer], /) -> Iterator[Any]:
        """Yield the answers of a step, which can be pickled. What it raises ends the step and is its failure."""

    def finish(self, answers: Mapping[str, Mapping[str, StepAnswers]], facts: Mapping[str, TrainedIn], /) -> Outcome:
        """Make cells of the answers, by tokenizer and step; ``facts`` has the tokenizers that were trained."""
