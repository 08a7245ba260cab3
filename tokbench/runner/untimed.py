"""The reason why a tokenizer is not timed."""

from __future__ import annotations

from typing import NamedTuple

from tokbench.failures import Failure
from tokbench.results.cells import Status


class Untimed(NamedTuple):
    """The reason why a tokenizer has no timings.

    >>> Untimed.of(Failure("no answer within 600 s", timed_out=True)).status.value
    'timeout'
    """

    status: Status
    reason: str

    @classmethod
    def of(cls, failure: Failure) -> Untimed:
        """Return the status and reason of its cells after a failure."""
        return cls(Status.TIMEOUT if failure.timed_out else Status.FAILED, failure.reason)
