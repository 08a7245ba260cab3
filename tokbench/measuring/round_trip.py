"""The rule of loss: which tokenizers are ranked although decoding does not give their texts as they were.

Who drops text has less to encode. So a tokenizer that loses more than a thousandth of the characters of a corpus is not
ranked there; one that loses less is, and its loss is named. Lost is what tables show as *characters lost*: deleted, or
replaced, as by an unknown token. What decoding only inserts saves no tokens. Both texts are put into NFC first:
canonically equivalent texts are the same text (Unicode Standard Annex #15).

* *exact*: every document is decoded as it was.
* *equal up to NFC*: each document is, after NFC on both sides.
* *inserts characters*: no character is lost, and some are inserted.
* *lossy, ranked*: the share of characters lost on the corpus is at most .001, or what the configuration allows.
* *lossy*: all others, which are not ranked. The share may be too high, and never too low (:mod:`.align`).
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
    INSERTS = "inserts characters"
    LOSSY_RANKED = "lossy, ranked"
    LOSSY = "lossy"
    UNKNOWN = "unknown"
    """It was not measured at this place, although the run has a round trip."""
    NOT_CHECKED = "not checked"
    """The run has no round trip; one legend says so for all numbers."""

    @property
    def ranked(self) -> bool:
        return self not in {RoundTrip.LOSSY, RoundTrip.UNKNOWN, RoundTrip.NOT_CHECKED}


class SumsOfLosses(Protocol):
    """Sums with the columns of :attr:`EncodedShard.losses`."""

    documents: int

    @property
    def columns(self) -> Mapping[str, NDArray[np.float64]]: ...


class Loss(NamedTuple):
    """The loss of a tokenizer on some documents."""

    exact: bool
    lost: float = 0.0
    """The share of the characters that are deleted or replaced, both texts in NFC."""
    edits: float = 0.0
    """Edits for each character, with those that insert; never fewer than characters lost."""

    def round_trip(self, most: float = MOST_LOST) -> RoundTrip:
        """Return the round trip by the rule of loss; ``most`` is the largest share lost that is ranked.

        >>> Loss(exact=False, lost=0.01).round_trip().value, Loss(exact=False, lost=0.01).round_trip(most=0.02).value
        ('lossy', 'lossy, ranked')
        """
        if self.exact:
            return RoundTrip.EXACT
        if self.lost:
            return RoundTrip.LOSSY_RANKED if self.lost <= most else RoundTrip.LOSSY
        return RoundTrip.INSERTS if self.edits else RoundTrip.CANONICAL

    def within(self, corpus: Loss) -> Loss:
        """Return the loss that decides in a group of a corpus: the group says whether, the corpus how much.

        >>> Loss(exact=False, lost=0.5).within(Loss(exact=False, lost=0.001)).lost
        0.001
        """
        return corpus if self.lost else self

    @classmethod
    def of(cls, sums: SumsOfLosses) -> Loss:
        """Return the loss from the sums of some documents."""
        total = {name: float(column.sum()) for name, column in sums.columns.items()}
        shares = (total[name] / (total["characters"] or 1.0) for name in ("lost characters", "edits beyond NFC"))
        return cls(total["exact"] == sums.documents, *shares)

    @classmethod
    def worst(cls, parts: Iterable[Loss]) -> Loss:
        """Return a bound for several groups together: no loss of theirs is higher.

        >>> Loss.worst([Loss(exact=True), Loss(False, lost=0.1), Loss(False, edits=0.2)])
        Loss(exact=False, lost=0.1, edits=0.2)
        """
        exact, lost, edits = zip(*parts, strict=True)
        return cls(all(exact), max(lost), max(edits))
