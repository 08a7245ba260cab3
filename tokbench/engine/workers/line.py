"""The line between the process of a run and a worker.

Foreign code in a worker may write to any file descriptor, so what comes from there may be anything. A message is a
pickle behind a head with its number and length. Keyed hashes protect the head and, from a worker, the pickle: nothing
is unpickled, and no length is believed, before its hash holds. What a worker gets was written by the process of the
run, so its texts are not hashed: that would take longer than to encode them.
"""

from __future__ import annotations

import hashlib
import pickle
import secrets
import socket
import struct
from multiprocessing.connection import wait
from numbers import Real
from typing import Any, Final

from tokbench.foundation.failures import Failure, attempt

SECRET_BYTES: Final = 32
"""Length of the key of the hashes, which is the first that a worker reads from the line."""

LONGEST: Final = 1 << 32
"""Bytes of a message at most: 4 GiB."""

DEAF_S: Final = 120.0
"""Seconds after which a process counts as one that does not read its line."""

_HEAD: Final = struct.Struct("<QQ")
_DIGEST_BYTES: Final = 16
_CHUNK: Final = 1 << 20
_PATIENCE_S: Final = 1.0
"""Seconds to wait for the next part of a message that has begun."""

_NOT_A_MESSAGE: Final = Failure("the process was ended, because foreign code had used its line to tokbench")


def _digest(secret: bytes, *parts: bytes | bytearray) -> bytes:
    digest = hashlib.blake2b(key=secret, digest_size=_DIGEST_BYTES)
    for part in parts:
        digest.update(part)
    return digest.digest()


def packed(secret: bytes, number: int, message: Any, *, hashed: bool) -> bytes:
    """Return a message as it goes over the line.

    Args:
        secret: the key of the hashes.
        number: how many messages were sent before.
        message: anything that can be pickled.
        hashed: ``True`` if the pickle is hashed, and not the head alone.

    Raises:
        ValueError: the message is longer than :data:`LONGEST`.
    """
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    if len(data) > LONGEST:
        raise ValueError(f"a message of {len(data):,} bytes is too long; at most {LONGEST:,} can be sent")
    head = _HEAD.pack(number, len(data))
    return b"".join([head, _digest(secret, head), data, _digest(secret, head, data) if hashed else b""])


class Unpacker:
    """Puts messages together from the bytes that come.

    Args:
        secret: the key of the hashes.
        hashed: ``True`` if pickles are hashed, and not heads alone.

    >>> unpacker = Unpacker(b"key", hashed=True)
    >>> data = packed(b"key", 0, "hello", hashed=True)
    >>> unpacker.take(data[: unpacker.missing]), pickle.loads(unpacker.take(data[-unpacker.missing :]))
    (None, 'hello')
    """

    def __init__(self, secret: bytes, *, hashed: bool) -> None:
        self._secret = secret
        self._hashed = hashed
        self._number = 0
        self._begin()

    def _begin(self) -> None:
        self._head = b""
        self._part = bytearray()
        self._wanted = _HEAD.size + _DIGEST_BYTES

    @property
    def missing(self) -> int:
        """The number of bytes after which :meth:`take` goes on: those of a head, or of what comes behind it."""
        return self._wanted - len(self._part)

    def take(self, data: bytes) -> bytes | None:
        """Take the bytes that came, at most those that are missing; return the pickle if it is complete.

        Raises:
            ValueError: they are no message, or not the next one.
        """
        self._part += data
        if self.missing:
            return None
        content = bytes(self._part)
        if not self._head:
            head, digest = content[: _HEAD.size], content[_HEAD.size :]
            number, length = _HEAD.unpack(head)
            if digest != _digest(self._secret, head) or number != self._number or not 0 < length <= LONGEST:
                raise ValueError(_NOT_A_MESSAGE.reason)
            self._head, self._part = head, bytearray()
            self._wanted = length + (_DIGEST_BYTES if self._hashed else 0)
            return None
        if self._hashed:
            content, digest = content[:-_DIGEST_BYTES], content[-_DIGEST_BYTES:]
            if digest != _digest(self._secret, self._head, content):
                raise ValueError(_NOT_A_MESSAGE.reason)
        self._number += 1
        self._begin()
        return content


class WorkerLine:
    """The end of a line at which the process of the run speaks to one worker. It never waits for a worker for long.

    Args:
        end: the end of a pair of sockets.
    """

    def __init__(self, end: socket.socket) -> None:
        self.socket = end
        """The end, for :func:`multiprocessing.connection.wait`."""
        self._secret = secrets.token_bytes(SECRET_BYTES)
        end.settimeout(DEAF_S)
        end.sendall(self._secret)
        self._sent = 0
        self._unpacker = Unpacker(self._secret, hashed=True)

    def close(self) -> None:
        """Hang up."""
        self.socket.close()

    def is_empty(self) -> bool:
        """Return ``True`` if nothing that came is unread."""
        return not wait([self.socket], 0)

    def send(self, message: Any) -> None:
        """Send a message.

        Raises:
            TimeoutError: the worker has not read it within :data:`DEAF_S` seconds.
            OSError: the worker has hung up.
        """
        self.socket.sendall(packed(self._secret, self._sent, message, hashed=False))
        self._sent += 1

    def receive(self) -> tuple[str, Any] | Failure | None:
        """Return the next message; the failure if there is something else; ``None`` if it is not complete yet.

        Raises:
            EOFError: the worker has hung up.
            OSError: the line is broken.
        """
        while wait([self.socket], _PATIENCE_S):
            data = self.socket.recv(min(self._unpacker.missing, _CHUNK))
            if not data:
                raise EOFError
            try:
                content = self._unpacker.take(data)
            except ValueError:
                return _NOT_A_MESSAGE
            if content is not None:
                return _message(content)
        return None


def _message(content: bytes) -> tuple[str, Any] | Failure:
    """Return the message of a worker in a pickle, or the failure if it cannot be read or has another shape."""
    message = attempt(lambda: pickle.loads(content), "its answer cannot be read")  # noqa: S301 - its hash holds
    if isinstance(message, Failure):
        return message
    match message:
        case (
            ("ready", None)
            | ("more" | "note", str())
            | ("done", int())
            | ("answer", ((int(), int()), _))
            | ("progress", (str(), Real(), Real() | None))
            | ("log", (str(), int(), str()))
        ) if type(message) is tuple:
            return message
    return _NOT_A_MESSAGE
