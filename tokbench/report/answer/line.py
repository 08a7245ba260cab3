"""A line of an answer, which the sections of plugins may add to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

PUBLISHED: Final = "Published"
OWN: Final = "Your own"
CONFIDENCE: Final = "Confidence"


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """One line of an answer: what it is about, and sentences; ``ranks`` if these say who uses the fewest tokens.

    ``leads`` is the number of its first sentences that are a pick with its margin. A report begins with those of the
    line that has the most, of equals with those of a verdict before those of a ranking.
    """

    label: str
    sentences: tuple[str, ...]
    ranks: bool = False
    leads: int = 0
