"""Finds texts that contain bytes which are not UTF-8."""

from __future__ import annotations

import codecs
import random
import unicodedata
from collections.abc import Iterator
from itertools import product
from typing import Final

_CONTINUATION: Final = range(0x80, 0xC0)
_LEADS: Final = {2: range(0xC2, 0xE0), 3: range(0xE0, 0xF0), 4: range(0xF0, 0xF5)}
_LENGTHS: Final = (2, 3, 4)


def can_be_text(data: bytes) -> bool:
    r"""Tell whether any UTF-8 text contains these bytes.

    >>> can_be_text(b"\x98\x80 a\xe2\x82"), can_be_text(b"\xc0"), can_be_text(b"\xe4\xe4"), can_be_text(b"\x80" * 4)
    (True, False, False, False)
    >>> can_be_text(b"\xed"), can_be_text(b"\xed\x9f"), can_be_text(b"\xed\xa0")
    (True, True, False)
    """
    start = _continuations(data)
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(data[start:])
    except UnicodeDecodeError:
        return False
    pending, _ = decoder.getstate()
    # The decoder waits for the third byte of a surrogate, which no UTF-8 has.
    return start < max(_LENGTHS) and not (pending[:1] == b"\xed" and pending[1:] >= b"\xa0")


def _continuations(data: bytes) -> int:
    return next((k for k, byte in enumerate(data) if byte not in _CONTINUATION), len(data))


def completions(data: bytes, most: int) -> list[str]:
    r"""Complete the characters at both ends in at most ``most`` ways, always the same; letters first.

    >>> completions(b" \xd7", 100)[-1], len(completions(b" \xd7", 100))
    (' \u05ff', 64)
    >>> completions(b"\xf0\x9f\x98", 10**6)[0], completions(b"\xff", 10)
    ('😀', [])
    """
    if not can_be_text(data):
        return []
    distinct = dict.fromkeys(text for text in _candidates(data, most) if text)
    return sorted(distinct, key=_rank)[:most]


def _rank(text: str) -> tuple[bool, bool, str]:
    """Sort letters first, then assigned characters."""
    kinds = {unicodedata.category(char)[0] for char in text if not char.isascii()}
    return not kinds <= {"L", "M"}, "C" in kinds, text


def _candidates(data: bytes, most: int) -> Iterator[str]:
    drawn = random.Random(data)  # noqa: S311 - the same for the same bytes, and no secret
    shapes = list(_shapes(data))
    for before, after in shapes:
        room = [*before, *([_CONTINUATION] * after)]
        size = 1
        for choice in room:
            size *= len(choice)
        tries: Iterator[tuple[int, ...]]
        if size <= 4 * most:
            tries = iter(product(*room))
        else:
            tries = (tuple(drawn.choice(choice) for choice in room) for _ in range(4 * most // len(shapes) + 1))
        for bytes_ in tries:
            try:
                yield (bytes(bytes_[: len(before)]) + data + bytes(bytes_[len(before) :])).decode()
            except UnicodeDecodeError:
                continue


def _shapes(data: bytes) -> Iterator[tuple[list[range], int]]:
    """Yield bytes before, and the number of continuation bytes after."""
    head = _continuations(data)
    if head == len(data):  # all of it is inside one character
        for length in _LENGTHS:
            for before in range(1, length - head + 1):
                yield [_LEADS[length], *([_CONTINUATION] * (before - 1))], length - before - head
        return
    after = _missing(data)
    if not head:
        yield [], after
        return
    for length in _LENGTHS:
        if length > head:
            yield [_LEADS[length], *([_CONTINUATION] * (length - head - 1))], after


def _missing(data: bytes) -> int:
    """Count the bytes that the last character lacks."""
    for back in range(1, min(4, len(data) + 1)):
        byte = data[-back]
        if byte not in _CONTINUATION:
            return next((length - back for length, leads in _LEADS.items() if byte in leads and length > back), 0)
    return 0
