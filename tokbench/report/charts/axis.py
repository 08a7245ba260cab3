"""The axes of pictures: from values to places, and the lines of the grid."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Axis", "Tick"]


@dataclass(frozen=True, slots=True)
class Tick:
    """A line of the grid and what stands at it."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Axis:
    """From a value to a place between ``start`` and ``end``; logarithmic if asked."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def exactly(self, value: float) -> float:
        """The place of a value."""
        low, high = (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)
        value = math.log(max(value, self.low / 10)) if self.log else value
        return self.start + (value - low) / (high - low) * (self.end - self.start)

    def at(self, value: float) -> float:
        """The place of a value, to a tenth; one beyond an end is put there."""
        return round(min(max(self.exactly(value), min(self.start, self.end)), max(self.start, self.end)), 1)

    def ticks(self) -> list[Tick]:
        """Some lines of the grid."""
        values = _decades(self.low, self.high) if self.log else []
        if len(values) < 2:  # noqa: PLR2004 - a scale needs two
            values = _steps(self.low, self.high)
        return [Tick(self.at(value), f"{value:g}") for value in values]


def _decades(low: float, high: float) -> list[float]:
    spans = math.log10(high / low)
    leads = (1,) if spans > 4 else (1, 2, 5)  # noqa: PLR2004
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [lead * 10.0**power for power in powers for lead in leads if low <= lead * 10.0**power <= high]


def _steps(low: float, high: float) -> list[float]:
    raw = (high - low) / 6
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(lead * power for lead in (1, 2, 5, 10) if lead * power >= raw)
    first = math.ceil(low / step - 1e-9)
    return [round(step * number, 10) for number in range(first, math.floor(high / step + 1e-9) + 1)]
