"""The messages between the process of a run and a worker: pickles, of which a worker's are checked.

Plugins in a worker may write to any file descriptor, so the bytes may be anything: what cannot be read is a failure
of the tokenizer at work.
"""

from __future__ import annotations

import pickle
from numbers import Real
from typing import Any, Final

from tokbench.foundation.failures import Failure, attempt

LONGEST: Final = 1 << 32
"""Bytes of a message."""

MALFORMED: Final = Failure("the worker sent malformed data (a plugin wrote to tokbench's pipe)")


def packed(message: Any) -> bytes:
    """Return a message as it goes over the line, or raise ValueError if it is too long."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    if len(data) > LONGEST:
        raise ValueError(f"a message of {len(data):,} bytes is too long; at most {LONGEST:,} can be sent")
    return data


def from_worker(content: bytes) -> tuple[str, Any] | Failure:
    """Return the message of a worker, or the failure if it cannot be read."""
    message = attempt(lambda: pickle.loads(content), "its answer cannot be read")  # noqa: S301 - of our worker
    if isinstance(message, Failure):
        return message
    match message:
        case (
            (("ready" | "done"), None)
            | ("more", str())
            | ("call", bytes())
            | ("answer", _)
            | ("progress", (str(), Real(), Real() | None))
            | ("log", (str(), int(), str()))
        ) if type(message) is tuple:
            return message
    return MALFORMED
