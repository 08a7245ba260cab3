"""Finds the stretches that a shortest edit between two texts changes, in time linear in the length."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Final, NamedTuple

_WINDOW: Final = 2048
_STEP: Final = 4096
_EXACT: Final = 1 << 32
"""The distance is exact up to this product of the lengths."""


class Hunk(NamedTuple):
    """A changed stretch: ``text[start:end]`` became ``back[back_start:back_end]``; one of them may be empty."""

    start: int
    end: int
    back_start: int
    back_end: int


class LostText(NamedTuple):
    """The part of a text that decoding does not give, beyond canonical equivalence."""

    edits: int
    """The edits of the text into what is decoded, in code points."""
    characters: int
    """The characters of the text that are deleted or replaced; what is only added loses none."""


def lost_text(text: str, back: str) -> LostText:
    r"""Return what is lost of a text, with both sides in NFC.

    Longer texts are compared by windows of 2,048 characters: never too small, and too large only where a text repeats
    itself.

    >>> lost_text("a▁b", "a b"), lost_text("cafe\u0301", "café")
    (LostText(edits=1, characters=1), LostText(edits=0, characters=0))
    >>> lost_text("ab", " ab")
    LostText(edits=1, characters=0)
    """
    text, back = (unicodedata.normalize("NFC", side) for side in (text, back))
    changed = list(_raw(text, back))
    gone = sum(hunk.end - hunk.start for hunk in changed)
    edited = sum(max(hunk.end - hunk.start, hunk.back_end - hunk.back_start) for hunk in changed)
    return LostText(edited, gone)


def first_difference(text: str, back: str, start: int = 0, back_start: int = 0) -> int:
    """Return the number of characters that are equal from the two positions on.

    >>> first_difference("round trip", "round tip"), first_difference("ab", "abc")
    (7, 2)
    """
    length = min(len(text) - start, len(back) - back_start)
    for at in range(0, length, _STEP):
        one = text[start + at : start + min(at + _STEP, length)]
        other = back[back_start + at : back_start + min(at + _STEP, length)]
        if one != other:
            return at + next(k for k, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
    return length


def edits(text: str, back: str) -> int:
    """Return the Levenshtein distance in code points.

    For long texts it is summed over windows: it is never too small, and too large only where a text repeats itself.

    >>> edits("round trip", "round tip"), edits("ab" * 50_000, "aB" * 50_000)
    (1, 50000)
    """
    from rapidfuzz.distance import Levenshtein

    if len(text) * len(back) <= _EXACT:
        return Levenshtein.distance(text, back)
    return sum(Levenshtein.distance(text[a:b], back[c:d]) for a, b, c, d in _raw(text, back))


def hunks(text: str, back: str) -> list[Hunk]:
    r"""Return the changed stretches, in order.

    They make up a shortest edit (Levenshtein 1966), found in windows of 2,048 characters. Unchanged
    combining marks after a change belong to it, because their order may be what changed.

    >>> hunks("Ab  cd", "ab cd")
    [Hunk(start=0, end=1, back_start=0, back_end=1), Hunk(start=2, end=3, back_start=2, back_end=2)]
    >>> hunks("xe\u0302\u0323y", "xe\u0323\u0302y")
    [Hunk(start=2, end=4, back_start=2, back_end=4)]
    """
    merged: list[Hunk] = []
    for hunk in _with_marks(text, _raw(text, back)):
        if merged and merged[-1].end >= hunk.start and merged[-1].back_end >= hunk.back_start:
            hunk = Hunk(merged[-1].start, hunk.end, merged[-1].back_start, hunk.back_end)  # noqa: PLW2901
            merged.pop()
        merged.append(hunk)
    return merged


def _with_marks(text: str, raw: Iterator[Hunk]) -> Iterator[Hunk]:
    held: Hunk | None = None
    for hunk in raw:
        if held:
            yield _widened(text, held, hunk.start)
        held = hunk
    if held:
        yield _widened(text, held, len(text))


def _widened(text: str, hunk: Hunk, limit: int) -> Hunk:
    end = hunk.end
    while end < limit and unicodedata.category(text[end])[0] == "M":
        end += 1
    return hunk._replace(end=end, back_end=hunk.back_end + end - hunk.end)


def _raw(text: str, back: str) -> Iterator[Hunk]:
    """A stretch that crosses the end of a window comes in parts that touch."""
    at, back_at = 0, 0
    while at < len(text) or back_at < len(back):
        same = first_difference(text, back, at, back_at)
        at, back_at = at + same, back_at + same
        if at == len(text) or back_at == len(back):
            if at < len(text) or back_at < len(back):
                yield Hunk(at, len(text), back_at, len(back))
            return
        for hunk in _of_window(text, back, at, back_at):
            yield hunk
            at, back_at = hunk.end, hunk.back_end


def _of_window(text: str, back: str, at: int, back_at: int) -> Iterator[Hunk]:
    """Yield the changes in one window: all if the texts end in it, else the changes in its first half, or the first."""
    from rapidfuzz.distance import Levenshtein

    one, other = text[at : at + _WINDOW], back[back_at : back_at + _WINDOW]
    whole = at + _WINDOW >= len(text) and back_at + _WINDOW >= len(back)
    merged: list[Hunk] = []
    for op in Levenshtein.opcodes(one, other):
        if op.tag == "equal":
            continue
        hunk = Hunk(at + op.src_start, at + op.src_end, back_at + op.dest_start, back_at + op.dest_end)
        if merged and (merged[-1].end, merged[-1].back_end) == (hunk.start, hunk.back_start):
            hunk = Hunk(merged[-1].start, hunk.end, merged[-1].back_start, hunk.back_end)
            merged.pop()
        merged.append(hunk)
    for number, hunk in enumerate(merged):
        inside = hunk.end <= at + _WINDOW // 2 and hunk.back_end <= back_at + _WINDOW // 2
        if number and not whole and not inside:
            return
        yield hunk
