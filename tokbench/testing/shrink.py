"""Makes a failing input small."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, Final, TypeVar

_CALLS: Final = 500

S = TypeVar("S", str, list[str], list[int])


def shrink(whole: S, fails: Callable[[S], bool]) -> S:
    """Return a smaller input that fails too, within 500 calls.

    Removes halves, then quarters, down to single elements (Zeller's delta debugging). Characters become ``a`` where
    that fails too.

    >>> shrink("a long text with <s> in it", lambda text: "<s" in text)
    '<s'
    >>> shrink([3, 14, 15, 92, 65], lambda ids: sum(ids) > 100)
    [15, 92]
    """
    calls = count(1)

    def still_fails(candidate: Any) -> bool:
        return next(calls) <= _CALLS and fails(candidate)

    size = len(whole)
    while size:
        start = 0
        while start < len(whole):
            rest = whole[:start] + whole[start + size :]
            if still_fails(rest):
                whole = rest
            else:
                start += size
        size = min(size // 2, len(whole)) if size > 1 else 0
    for position in range(len(whole) if isinstance(whole, str) else 0):
        plain: Any = f"{whole[:position]}a{whole[position + 1 :]}"
        if plain != whole and still_fails(plain):
            whole = plain
    return whole
