"""Sort the seconds of a run into parts: each second counts for the innermost part that it was spent in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from inspect import isgeneratorfunction
from time import process_time
from typing import Any

__all__ = ["Parts"]


class Parts:
    """The seconds of a process by part.

    Attributes:
        seconds: seconds of processor time by the name of the part, in order of first use.

    >>> parts = Parts("rest")
    >>> class Engine:
    ...     def encode(self, text):
    ...         return text.split()
    >>> parts.watch(Engine, "encode", "encode")
    >>> Engine().encode("a b"), list(parts.stop())
    (['a', 'b'], ['rest', 'encode'])
    """

    def __init__(self, rest: str, began: float | None = None) -> None:
        self.seconds: dict[str, float] = {rest: 0.0}
        self._open = [rest]
        self._since = process_time() if began is None else began

    def _turn(self) -> None:
        now = process_time()
        part = self._open[-1]
        self.seconds[part] = self.seconds.get(part, 0.0) + now - self._since
        self._since = now

    def inside(self, part: str, call: Callable[[], Any]) -> Any:
        """Return the result of a call whose seconds count for a part."""
        self._turn()
        self._open.append(part)
        try:
            return call()
        finally:
            self._turn()
            self._open.pop()

    def watch(self, owner: Any, name: str, part: str) -> None:
        """Let the seconds of a function or generator, an attribute of a module or class, count for a part."""
        function = getattr(owner, name)

        @wraps(function)
        def watched(*arguments: Any, **named: Any) -> Any:
            return self.inside(part, lambda: function(*arguments, **named))

        @wraps(function)
        def watched_steps(*arguments: Any, **named: Any) -> Iterator[Any]:
            steps, end = function(*arguments, **named), object()
            while (item := self.inside(part, lambda: next(steps, end))) is not end:
                yield item

        setattr(owner, name, watched_steps if isgeneratorfunction(function) else watched)

    def stop(self) -> dict[str, float]:
        """Return the seconds of all parts."""
        self._turn()
        return self.seconds
