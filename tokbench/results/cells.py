"""One cell of a run: tokenizer x corpus x group x metric, with its value or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tokbench.foundation.failures import Failure

WHOLE: Final = "*"
"""The group that is the whole corpus."""

OWN_TEXTS: Final = "(own texts)"
"""The name in the place of the corpus in the cells of probes, which bring their texts; no corpus can have it."""


class Status(StrEnum):
    """Say whether a cell has a value, and if not, what kept it away."""

    OK = "ok"
    UNAVAILABLE = "unavailable"
    FAILED = "failed"
    TIMEOUT = "timeout"
    NOT_APPLICABLE = "not_applicable"

    @classmethod
    def of(cls, failure: Failure) -> Status:
        """Return the status of cells that a failure keeps from their value.

        >>> Status.of(Failure("no answer within 600 s", timed_out=True)).value
        'timeout'
        """
        if failure.no_ids:
            return cls.NOT_APPLICABLE
        return cls.TIMEOUT if failure.timed_out else cls.FAILED


FAILED: Final = frozenset({Status.FAILED, Status.TIMEOUT})
"""The statuses of cells that should have a value, and for which the run fails."""


class TokenizerState(StrEnum):
    """Say what became of a tokenizer that the configuration names."""

    READY = "ready"
    UNAVAILABLE = "unavailable"
    FAILED = "failed"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of a run."""

    tokenizer: str
    """The tokenizer."""
    corpus: str
    """The corpus."""
    group: str
    """The group; ``*`` is the whole corpus."""
    metric: str
    """The id of the metric."""
    value: float | None = None
    """The number, ``None`` unless ``status`` is ``ok``; never NaN."""
    unit: str = ""
    """Its unit. Where words are counted, the unit names the definition of a word."""
    ci_low: float | None = None
    """The lower end of its 95% interval; ``None`` where there is none."""
    ci_high: float | None = None
    """The upper end, likewise."""
    n: int = 0
    """The number of documents (for speed: rounds) behind the value."""
    status: Status = Status.OK
    """``ok``, or why the value is missing."""
    reason: str = ""
    """The same in words; always empty if the status is ``ok``."""
    in_sample: float | None = None
    """The share of the documents that this tokenizer was trained on, exactly; ``None`` if that is unknown. Reports mark
    it from :data:`TRAINED_ON_FROM` on."""
    caution: str = ""
    """What to know of the value, such as why it has no interval or a rough one; empty for nothing, and without a
    value."""


def group_name(group: str) -> str:
    """Return the name of a group for readers.

    >>> group_name("en"), group_name("*")
    ('en', 'whole corpus')
    """
    return "whole corpus" if group == WHOLE else group


COLUMNS: Final = tuple(Cell.__dataclass_fields__)
"""The columns of ``results.csv``, in order."""

TRAINED_ON_FROM: Final = 0.01
"""From this share of the evaluated documents on, a tokenizer counts as trained on them.

Fewer, such as a common phrase, do not move a ratio of sums by more than about its interval.
"""


def trained_on(share: float | None) -> bool:
    """Tell whether a tokenizer counts as trained on the text, from the share of the documents that it has seen.

    Args:
        share: the share of the evaluated documents, 0 to 1; ``None`` if it is not known.

    >>> trained_on(None), trained_on(1 / 2500), trained_on(0.01), trained_on(0.34)
    (False, False, True, True)
    """
    return share is not None and share >= TRAINED_ON_FROM
