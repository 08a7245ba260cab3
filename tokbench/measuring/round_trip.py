"""The rule of loss: which tokenizers are ranked although decoding does not give their texts as they were.

Who drops text has less to encode, so lost text has a price: each lost character costs its UTF-8 bytes as tokens, the
most that any tokenizer with byte fallback would need for it. Both texts are put into NFC first: canonically equivalent
texts are the same text (Unicode Standard Annex #15). Unknown tokens are losses like others.

* *exact*: every document is decoded as it was.
* *equal up to NFC*: each document is, after NFC on both sides. Such a tokenizer is ranked, with a footnote.
* *lossy, ranked*: its character error rate is at most .0001, and the charge does not change its place.
* *lossy*: all others. They are not ranked.

Worked numbers. A tokenizer decodes one U+2581 of 149,534 characters as a space, in 49,766 tokens for 149,096 bytes.
Its error rate is 1 / 149,534 = .0000067, and three bytes are charged: 149,096 / 49,766 = 2.9959 bytes per token become
149,096 / 49,769 = 2.9958. If no other number lies between the two, it is ranked.

>>> one = Loss(exact=False, cer=1 / 149_534, charge=3 / 49_766)
>>> ratio = Number(2.9959, 2.9959 / one.factor, one)
>>> lossless = [Number(value, value, RoundTrip.EXACT) for value in (3.1, 2.9)]
>>> judge(ratio, lossless, higher=True).value
'lossy, ranked'
>>> judge(ratio, [Number(2.99585, 2.99585, RoundTrip.EXACT)], higher=True).value
'lossy'

The rate of long documents is summed over windows (:func:`tokbench.measuring.align.lost_text`): it may be too high, but
never too low.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from tokbench.measuring.sums import Sums

MOST_ERRORS: Final = 1e-4
"""A tokenizer with a higher character error rate, beyond canonical equivalence, is not ranked."""


class RoundTrip(StrEnum):
    """The round trip of the texts behind a number."""

    EXACT = "exact"
    """Every document is decoded as it was, or losing text cannot improve the number."""
    CANONICAL = "equal up to NFC"
    LOSSY_RANKED = "lossy, ranked"
    """Text is lost, too little to change the place of the number."""
    LOSSY = "lossy"
    UNKNOWN = "unknown"
    """It was not measured at this place, although the run has a round trip."""
    NOT_CHECKED = "not checked"
    """The run has no round trip; one legend says so for all numbers."""

    @property
    def ranked(self) -> bool:
        return self in {RoundTrip.EXACT, RoundTrip.CANONICAL, RoundTrip.LOSSY_RANKED}


class Loss(NamedTuple):
    """The loss of a tokenizer on some documents."""

    exact: bool
    cer: float = 0.0
    """Edits for each character, both texts in NFC."""
    charge: float = 0.0
    """UTF-8 bytes of lost characters for each token."""

    @property
    def factor(self) -> float:
        """The tokens with the charge for each token.

        >>> Loss(exact=False, cer=0.5, charge=0.25).factor
        1.25
        """
        return 1 + self.charge

    @classmethod
    def of(cls, sums: Sums) -> Loss:
        """Return the loss from sums with the columns of :attr:`EncodedShard.losses`, and tokens."""
        total = {name: float(column.sum()) for name, column in sums.columns.items()}
        cer = total["edits beyond NFC"] / (total["characters"] or 1.0)
        return cls(total["exact"] == sums.documents, cer, total["lost bytes"] / (total["tokens"] or 1.0))

    @classmethod
    def worst(cls, parts: Iterable[Loss]) -> Loss:
        """Return a bound for several groups together: no loss of theirs is higher.

        >>> Loss.worst([Loss(exact=True), Loss(exact=False, cer=0.1, charge=0.2)])
        Loss(exact=False, cer=0.1, charge=0.2)
        """
        exact, cer, charge = zip(*parts, strict=True)
        return cls(all(exact), max(cer), max(charge))


class Number(NamedTuple):
    """A number among those that it is compared with."""

    value: float
    charged: float
    """The number if every byte of lost text cost a token; the same for others, such as a speed."""
    loss: Loss | RoundTrip
    """The loss of its texts; or the answer, where the loss is not known or does not matter."""


def judge(number: Number, rivals: Iterable[Number], *, higher: bool | None) -> RoundTrip:
    """Return the round trip of a number by the rule of loss.

    Its place changes if it is better than a rival, and with both charged it is not; or equal, and then worse. It may be
    among the rivals; those that lose too much are passed over. ``higher`` tells whether higher numbers are better, and
    is ``None`` if they have no order.

    >>> bought = Number(2.0, 1.0, Loss(exact=False, cer=0.00001, charge=1.0))
    >>> judge(bought, [Number(1.5, 1.5, RoundTrip.EXACT)], higher=True).value
    'lossy'
    >>> judge(bought, [Number(1.5, 1.5, RoundTrip.EXACT)], higher=False).value
    'lossy, ranked'
    """
    loss = number.loss
    if isinstance(loss, RoundTrip):
        return loss
    if loss.exact or not loss.cer:
        return RoundTrip.EXACT if loss.exact else RoundTrip.CANONICAL
    sign = 0 if higher is None else 1 if higher else -1
    passed = (
        sign * _order(number.value, rival.value) > sign * _order(number.charged, rival.charged)
        for rival in rivals
        if (rival.loss.ranked if isinstance(rival.loss, RoundTrip) else rival.loss.cer <= MOST_ERRORS)
    )
    return RoundTrip.LOSSY if loss.cer > MOST_ERRORS or any(passed) else RoundTrip.LOSSY_RANKED


def _order(one: float, other: float) -> int:
    return 0 if math.isclose(one, other) else 1 if one > other else -1
