"""Makes a failing input small."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import count
from typing import Any, Final, TypeVar

_CALLS: Final = 2_000
_SECONDS: Final = 10.0

S = TypeVar("S", str, list[str], list[int])


def shrink(whole: S, fails: Callable[[S], bool]) -> S:
    """Return a smaller input that fails too, within 2,000 calls and 10 seconds.

    Removes halves, then quarters, down to single elements (Zeller's delta debugging). Characters become ``a`` where
    that fails too.

    >>> shrink("a long text with <s> in it", lambda text: "<s" in text)
    '<s'
    >>> shrink([3, 14, 15, 92, 65], lambda ids: sum(ids) > 100)
    [92, 65]
    >>> shrink("x✓y", lambda text: len(text) > 1 and "✓" in text)
    'a✓'
    """
    calls, end = count(1), time.monotonic() + _SECONDS

    def still_fails(candidate: Any) -> bool:
        return next(calls) <= _CALLS and time.monotonic() < end and fails(candidate)

    smaller = _without_parts(whole, still_fails)
    while len(smaller) < len(whole):
        whole, smaller = smaller, _without_parts(smaller, still_fails)
    if isinstance(smaller, str):
        for position, char in enumerate(smaller):
            plain = f"{smaller[:position]}a{smaller[position + 1 :]}"
            if char != "a" and still_fails(plain):
                smaller = plain
    return smaller


def _without_parts(whole: S, fails: Callable[[Any], bool]) -> S:
    size = (len(whole) + 1) // 2
    while size:
        start = 0
        while start < len(whole):
            rest = whole[:start] + whole[start + size :]
            if fails(rest):
                whole = rest
            else:
                start += size
        size = 0 if size == 1 else (size + 1) // 2
    return whole
