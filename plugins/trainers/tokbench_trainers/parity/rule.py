"""The rule of parity-aware BPE."""

from __future__ import annotations

from math import inf
from typing import NamedTuple


class ParityRule(NamedTuple):
    """Which language chooses the next merge.

    The language with the most tokens per unit of its text chooses (Foroutan et al. 2025, "Parity-Aware Byte-Pair
    Encoding"). A unit is a byte, or a document that has a translation in each language.
    """

    global_merges: int = 0
    """First merges that plain BPE makes on all languages (hybrid variant)."""

    window: int = 0
    """The number of last choices in which a language must not be too frequent (moving-window variant); 0 for no
    limit."""

    alpha: float = 2.0
    """The limit, as a multiple of a language's equal share of the window."""

    def most_choices(self, languages: int) -> float:
        """Return how often a language may be among the last choices and choose again.

        >>> ParityRule(window=100).most_choices(4), ParityRule().most_choices(4)
        (50.0, inf)
        """
        return self.alpha * self.window / languages if self.window else inf
