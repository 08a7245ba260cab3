"""Lets Ctrl-C wait until a step is done that must not be left half done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Final, Generic, NamedTuple, TypeVar

T = TypeVar("T")

_SIGNALS: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Uninterrupted(NamedTuple, Generic[T]):
    """What a step returned, and whether a signal asked the run to stop meanwhile."""

    value: T
    stopped: bool


def uninterrupted(step: Callable[[], T]) -> Uninterrupted[T]:
    """Finish a step before a signal is handled; a Ctrl-C after that one does not wait, and raises KeyboardInterrupt.

    >>> uninterrupted(lambda: [signal.raise_signal(signal.SIGINT), "done"][1])
    Uninterrupted(value='done', stopped=True)
    """
    in_main = threading.current_thread() is threading.main_thread()  # other threads get no signals
    before = {number: signal.getsignal(number) for number in _SIGNALS if in_main}
    handlers = {number: handler for number, handler in before.items() if callable(handler)}
    waiting = list[tuple[int, FrameType | None]]()

    def wait(number: int, frame: FrameType | None) -> None:
        waiting.append((number, frame))
        if signal.SIGINT in handlers:
            signal.signal(signal.SIGINT, handlers[signal.SIGINT])

    try:
        for number in handlers:
            signal.signal(number, wait)
        value = step()
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    try:
        for number, frame in waiting:
            handlers[number](number, frame)
    except KeyboardInterrupt:
        return Uninterrupted(value, stopped=True)
    return Uninterrupted(value, stopped=False)
