"""The rule of loss: which tokenizers are ranked although decoding does not give their texts as they were.

Who drops text has less to encode. So a tokenizer that loses more than a thousandth of the characters of a corpus is not
ranked there. One that loses less is ranked, and its loss is named. Both texts are put into NFC first: canonically
equivalent texts are the same text (Unicode Standard Annex #15). Unknown tokens are losses like others.

* *exact*: every document is decoded as it was.
* *equal up to NFC*: each document is, after NFC on both sides.
* *lossy, ranked*: the character error rate on the corpus is at most .001, or what the configuration allows.
* *lossy*: all others. They are not ranked.

A tokenizer that decodes one U+2581 of 149,534 characters as a space is ranked, and one that loses 1% is not:

>>> Loss(exact=False, cer=1 / 149_534).round_trip().value, Loss(exact=False, cer=0.01).round_trip().value
('lossy, ranked', 'lossy')

The rate of long documents is summed over windows (:func:`tokbench.measuring.align.lost_text`): it may be too high, but
never too low.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tokbench.results.blocks import MOST_LOST


class RoundTrip(StrEnum):
    """The round trip of the texts behind a number."""

    EXACT = "exact"
    """Every document is decoded as it was, or losing text cannot improve the number."""
    CANONICAL = "equal up to NFC"
    LOSSY_RANKED = "lossy, ranked"
    """Text is lost, so little that the tokenizer is ranked."""
    LOSSY = "lossy"
    UNKNOWN = "unknown"
    """It was not measured at this place, although the run has a round trip."""
    NOT_CHECKED = "not checked"
    """The run has no round trip; one legend says so for all numbers."""

    @property
    def ranked(self) -> bool:
        return self in {RoundTrip.EXACT, RoundTrip.CANONICAL, RoundTrip.LOSSY_RANKED}


class SumsOfLosses(Protocol):
    """Sums with the columns of :attr:`EncodedShard.losses`."""

    documents: int

    @property
    def columns(self) -> Mapping[str, NDArray[np.float64]]: ...


class Loss(NamedTuple):
    """The loss of a tokenizer on some documents."""

    exact: bool
    cer: float = 0.0
    """Edits for each character, both texts in NFC."""

    def round_trip(self, most: float = MOST_LOST) -> RoundTrip:
        """Return the round trip by the rule of loss; ``most`` is the highest error rate that is ranked.

        >>> Loss(exact=False, cer=0.01).round_trip(most=0.02).value, Loss(exact=False).round_trip().value
        ('lossy, ranked', 'equal up to NFC')
        """
        if self.exact or not self.cer:
            return RoundTrip.EXACT if self.exact else RoundTrip.CANONICAL
        return RoundTrip.LOSSY_RANKED if self.cer <= most else RoundTrip.LOSSY

    @classmethod
    def of(cls, sums: SumsOfLosses) -> Loss:
        """Return the loss from the sums of some documents."""
        total = {name: float(column.sum()) for name, column in sums.columns.items()}
        return cls(total["exact"] == sums.documents, total["edits beyond NFC"] / (total["characters"] or 1.0))

    @classmethod
    def worst(cls, parts: Iterable[Loss]) -> Loss:
        """Return a bound for several groups together: no loss of theirs is higher.

        >>> Loss.worst([Loss(exact=True), Loss(exact=False, cer=0.1)])
        Loss(exact=False, cer=0.1)
        """
        exact, cer = zip(*parts, strict=True)
        return cls(all(exact), max(cer))
