"""The line between the process of a run and a worker: pickles, each behind its length.

Plugins in a worker may write to any file descriptor, so the bytes may be anything: what cannot be read is a failure
of the tokenizer at work.
"""

from __future__ import annotations

import pickle
import socket
from multiprocessing.connection import wait
from numbers import Real
from typing import Any, Final

from tokbench.foundation.failures import Failure, attempt

LONGEST: Final = 1 << 32
"""Bytes of a message."""

DEAF_S: Final = 120.0
"""Seconds after which a process counts as one that does not read its line."""

CHUNK: Final = 1 << 20

_LENGTH_BYTES: Final = 8
_PATIENCE_S: Final = 1.0
"""Seconds to wait for the next part of a message that has begun."""

_MALFORMED: Final = Failure("the worker sent malformed data (a plugin wrote to tokbench's pipe)")


def packed(message: Any) -> bytes:
    """Return a message as it goes over the line, or raise ValueError if it is too long."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    if len(data) > LONGEST:
        raise ValueError(f"a message of {len(data):,} bytes is too long; at most {LONGEST:,} can be sent")
    return len(data).to_bytes(_LENGTH_BYTES, "little") + data


class MessageReader:
    """Puts messages together from the bytes that arrive.

    >>> reader, data = MessageReader(), packed("hello")
    >>> reader.take(data[: reader.missing]), pickle.loads(reader.take(data[-reader.missing :]))
    (None, 'hello')
    """

    def __init__(self) -> None:
        self._part = bytearray()
        self._length = 0

    @property
    def missing(self) -> int:
        """The bytes after which :meth:`take` goes on."""
        return (self._length or _LENGTH_BYTES) - len(self._part)

    def take(self, data: bytes) -> bytes | None:
        """Take some bytes, at most those that are missing; return the pickle if it is complete, or raise ValueError."""
        self._part += data
        if self.missing:
            return None
        content, self._part = bytes(self._part), bytearray()
        if self._length:
            self._length = 0
            return content
        self._length = int.from_bytes(content, "little")
        if not 0 < self._length <= LONGEST:
            raise ValueError(_MALFORMED.reason)
        return None


class WorkerLine:
    """The end of a line at which the process of the run speaks to one worker. It never waits for a worker for long."""

    def __init__(self, end: socket.socket) -> None:
        self.socket = end
        end.settimeout(DEAF_S)
        self._reader = MessageReader()

    def close(self) -> None:
        self.socket.close()

    def is_empty(self) -> bool:
        return not wait([self.socket], 0)

    def send(self, message: Any) -> None:
        """Send a message; raise TimeoutError if the worker does not read it for long, OSError if it has hung up."""
        self.socket.sendall(packed(message))

    def receive(self) -> tuple[str, Any] | Failure | None:
        """Return the next message, the failure if it is none, or ``None`` if it is not complete yet.

        Raises:
            EOFError: the worker has hung up.
            OSError: the line is broken.
        """
        while wait([self.socket], _PATIENCE_S):
            data = self.socket.recv(min(self._reader.missing, CHUNK))
            if not data:
                raise EOFError
            try:
                content = self._reader.take(data)
            except ValueError:
                return _MALFORMED
            if content is not None:
                return _message(content)
        return None


def _message(content: bytes) -> tuple[str, Any] | Failure:
    message = attempt(lambda: pickle.loads(content), "its answer cannot be read")  # noqa: S301 - of our worker
    if isinstance(message, Failure):
        return message
    match message:
        case (
            ("ready", None)
            | ("more", str())
            | ("done", int())
            | ("answer", ((int(), int()), _))
            | ("progress", (str(), Real(), Real() | None))
            | ("log", (str(), int(), str()))
        ) if type(message) is tuple:
            return message
    return _MALFORMED
