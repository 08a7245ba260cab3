"""Appends: ids that change when text is added, and continuations that add none."""

from __future__ import annotations

import random
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import ceil
from typing import NamedTuple

import regex

_TWO = 2
_WORD_END = regex.compile(r"(?w)\b")


class AppendCut(NamedTuple):
    """A text cut in two."""

    context: str
    continuation: str
    """From the cut to the end of its word."""


def cuts_of(text: str, count: int) -> list[AppendCut]:
    """Cut at random characters, which depend only on the text; leave out cuts without context.

    White space before the cut belongs to the continuation, as in evaluation harnesses.

    >>> cuts_of("ab", 2)
    [AppendCut(context='a', continuation='b'), AppendCut(context='a', continuation='b')]
    >>> sorted({cut.continuation for cut in cuts_of("one two", 50)})
    [' two', 'e', 'ne', 'o', 'wo']
    """
    if len(text) < _TWO:
        return []
    draw = random.Random(f"1:append:{zlib.crc32(text.encode())}")  # noqa: S311 - no secret
    cuts = []
    for place in (draw.randrange(1, len(text)) for _ in range(count)):
        start = len(text[:place].rstrip())
        first = next((k for k in range(start, len(text)) if not text[k].isspace()), len(text) - 1)
        word_end = _WORD_END.search(text, first + 1)
        if start:
            cuts.append(AppendCut(text[:start], text[start : word_end.start() if word_end else len(text)]))
    return cuts


def changed_ids(before: Sequence[int], after: Sequence[int]) -> int:
    """Count the last ids that change when a text goes on.

    >>> changed_ids([1, 2, 3], [1, 2, 4, 5]), changed_ids([1], [1, 2])
    (1, 0)
    """
    same = next((k for k, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), None)
    return len(before) - (min(len(before), len(after)) if same is None else same)


def is_empty(context: Sequence[int], whole: Sequence[int]) -> bool:
    """Tell whether a continuation adds no id: not more ids with it than without it."""
    return len(whole) <= len(context)


class AppendWindows(NamedTuple):
    """How many ids appends changed."""

    counts: Mapping[int, int]

    def __add__(self, other: AppendWindows) -> AppendWindows:  # type: ignore[override]
        counts = dict(self.counts)
        for changed, times in other.counts.items():
            counts[changed] = counts.get(changed, 0) + times
        return AppendWindows(counts)

    @property
    def appends(self) -> int:
        return sum(self.counts.values())

    def percentile(self, share: float) -> int:
        """Return the changed ids by nearest rank; ``share`` is between 0 and 1.

        >>> AppendWindows({0: 98, 1: 1, 7: 1}).percentile(0.99), AppendWindows({0: 98, 1: 1, 7: 1}).percentile(1)
        (1, 7)
        """
        rank, seen = ceil(share * self.appends), 0
        for changed in sorted(self.counts):
            seen += self.counts[changed]
            if seen >= rank:
                break
        return changed


def append_windows(text: str, cuts: Sequence[AppendCut], encode: Callable[[str], Sequence[int]]) -> AppendWindows:
    """Append the rest of the text to the text before each cut."""
    whole = encode(text)
    return AppendWindows(dict(Counter(changed_ids(encode(cut.context), whole) for cut in cuts)))
