"""The contract of a metric that measures one tokenizer at a time, in a process that may die."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from tokbench.tokenizers.contract import Tokenizer

if TYPE_CHECKING:
    from tokbench.foundation.failures import Failure
    from tokbench.measuring.metric import TimedOutcome


class StepAnswers(NamedTuple):
    """The answers of one tokenizer in one step of an isolated metric.

    Attributes:
        answers: what the step has yielded, in order.
        failure: the reason why it went no further; ``None`` if it came to its end. ``timed_out`` is set if the
            process was ended because an answer took too long.
        crashed: ``True`` if the process died.
    """

    answers: list[Any]
    failure: Failure | None = None
    crashed: bool = False


class TrainedIn(NamedTuple):
    """The cost of a training.

    Attributes:
        seconds: the wall time of the training.
        memory: the most memory that it took, in bytes; ``None`` if it was not measured.
        n_bytes: the size of its text, UTF-8.
        like: equal for trainings that differ in nothing but how much of one text they had.
        earlier: ``True`` if an earlier run trained the tokenizer; seconds and memory are then what it took there.
    """

    seconds: float
    memory: int | None
    n_bytes: int
    like: str
    earlier: bool


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
        """``True`` if every step needs a fresh process, in which the tokenizer was not loaded yet.

        Otherwise it is loaded and warmed up before the first step.
        """

    @property
    def seconds(self) -> float | None:
        """Seconds that one answer may take; ``None`` for the limit of the configuration, which always holds, too."""

    def measure(self, step: str, load: Callable[[], Tokenizer], /) -> Iterator[Any]:
        """Yield the answers of a step, which can be pickled. ``load`` returns the tokenizer, and loads it if need be.

        What it raises ends the step and is its failure.
        """

    def finish(
        self, answers: Mapping[str, Mapping[str, StepAnswers]], facts: Mapping[str, TrainedIn], /
    ) -> TimedOutcome:
        """Make cells of the answers.

        Args:
            answers: by tokenizer and step, the answers.
            facts: by tokenizer, the cost of its training, for those that were trained.
        """
