"""A timed tokenizer, the turns of several, and cells."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, NamedTuple, TypeVar

from tokbench.foundation.failures import Failure, attempt, doing
from tokbench.measuring.timing.contract import TimedText
from tokbench.results.cells import Cell, Status
from tokbench.statistics.quantiles import median_interval
from tokbench.tokenizers.contract import Tokenizer, WarmsUp

LEAST_ROUNDS: Final = 6
"""A median of fewer has no interval: :func:`tokbench.statistics.quantiles.median_interval`."""


class TimingPlace(NamedTuple):
    """The place and unit of a :class:`tokbench.plugin.metrics.Cell`."""

    tokenizer: str
    corpus: str
    group: str
    metric: str
    unit: str

    def with_value(self, value: float, interval: Sequence[float | None], count: int, of: str, needs: str = "") -> Cell:
        """Return a cell; without an interval, ``count`` values of a kind (``of``) are too few.

        >>> TimingPlace("t", "c", "*", "m", "s").with_value(2.0, (None, None), 3, "rounds", "it needs 6").caution
        'no interval: 3 rounds are too few; it needs 6'
        """
        low, high = interval
        caution = "" if low is not None else f"no interval: {count} {of} are too few{needs and '; '}{needs}"
        return Cell(*self[:4], value, self.unit, low, high, count, caution=caution)

    def of_rounds(self, values: Sequence[float], of: str = "rounds") -> Cell:
        """Return a cell with the median."""
        return self.with_value(median(values), median_interval(values)[:2], len(values), of, f"it needs {LEAST_ROUNDS}")

    def without_value(self, reason: str, status: Status = Status.NOT_APPLICABLE) -> Cell:
        return Cell(*self[:4], unit=self.unit, status=status, reason=reason)

    def failed(self, failure: Failure) -> Cell:
        return self.without_value(failure.reason, Status.of(failure))


@dataclass
class Contender:
    """A tokenizer that is timed until it fails."""

    name: str
    tokenizer: Tokenizer
    text: TimedText
    failure: Failure | None = None

    @property
    def where(self) -> str:
        return f"on corpus {self.text.corpus}"

    def place(self, metric: str, unit: str) -> TimingPlace:
        return TimingPlace(self.name, self.text.corpus, self.text.group, metric, unit)

    def get_ready(self) -> None:
        if isinstance(self.tokenizer, WarmsUp):
            self.tokenizer.warm_up()

    def guarded(self, step: Callable[[], None]) -> None:
        """Do a step unless the tokenizer has failed; keep its exception."""
        if self.failure is None:
            with doing("timing", tokenizer=self.name, place=self.where):
                outcome = attempt(step)
            self.failure = outcome if isinstance(outcome, Failure) else None


C = TypeVar("C", bound=Contender)


def take_turns(contenders: Sequence[C], order: random.Random, step: Callable[[C], None]) -> None:
    """Do a step in random order, each after a garbage collection."""
    gc.collect()
    for contender in order.sample(contenders, len(contenders)):
        contender.guarded(lambda contender=contender: step(contender))  # type: ignore[misc]
