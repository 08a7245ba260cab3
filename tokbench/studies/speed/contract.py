"""The contract of a metric that times all tokenizers together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from tokbench.foundation.progress import Progress
from tokbench.measuring.study import Outcome
from tokbench.results.cells import WHOLE
from tokbench.tokenizers.contract import Tokenizer


class TimedText(NamedTuple):
    """The text of a corpus, or of its held-out part."""

    corpus: str
    evaluated: bool
    """``False`` if only the key ``corpora`` of the family names it."""
    n_bytes: int
    """In UTF-8."""
    documents: Iterable[str]
    """They can be iterated once."""
    group: str = WHOLE
    """The group of the cells; ``*`` for the whole corpus."""


class TimedMetric(Protocol):
    """What a family of the study makes from its options.

    Two options are the study's: ``by_group`` asks for a :class:`TimedText` of each group, too, and with ``processes``
    everything is measured in as many fresh processes. A metric that has an attribute ``same_as`` gets there the
    tokenizers that are declared the same as another, with its name.
    """

    def measure(
        self, tokenizers: Mapping[str, Tokenizer], texts: Sequence[TimedText], progress: Progress, /
    ) -> Outcome:
        """Measure each tokenizer on each text, and return cells and notes; one that raises gets failed cells."""
