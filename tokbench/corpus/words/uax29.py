"""Finds words by the default boundaries of Unicode: ASCII text in bulk, everything else by ``regex``."""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

from tokbench.corpus.words.positions import byte_positions

_PATTERN: Final = r"(?ws)[\p{L}\p{N}\p{M}_].*?\b"
_SPACE: Final = 0x20
_LINE_FEED: Final = 0x0A
_ASCII: Final = 0x80
_BREAK: Final = re.compile(rb"[ \n]")
_FEW: Final = 200
"""If fewer than one byte in this many is beyond ASCII, searching around each of them is faster."""


class _Classes(NamedTuple):
    """For every ASCII character, bool[256] each: its class, and ``True`` if it may join two letters or two digits."""

    letter: NDArray[np.bool_]
    digit: NDArray[np.bool_]
    word: NDArray[np.bool_]
    between_letters: NDArray[np.bool_]
    between_digits: NDArray[np.bool_]
    between: NDArray[np.bool_]


@cache
def _compiled() -> regex.Pattern[str]:
    return regex.compile(_PATTERN)


@cache
def _classes() -> _Classes:
    """Return the classes by ``regex``, so that they are of its version of Unicode."""

    def of(what: str, template: str = "{}") -> NDArray[np.bool_]:
        matches = regex.compile(what).fullmatch
        found = [chr(byte).isascii() and bool(matches(template.format(chr(byte)))) for byte in range(256)]
        return np.array(found)

    letter, digit, word = of(r"\p{L}"), of(r"\p{N}"), of(r"[\p{L}\p{N}_]")
    letters, digits = (of(r"(?ws).\B.\B.", template) & ~word for template in ("a{}a", "1{}1"))
    return _Classes(letter, digit, word, letters, digits, letters | digits)


def uax29_spans(data: bytes) -> NDArray[np.int64]:
    r"""Return int64[w, 2], the start and end of each word of a text in UTF-8, in bytes.

    No word crosses a space or a line end. Words of ASCII text are runs of letters, digits and underscores, with single
    signs inside that join two letters or two digits (rules WB5 to WB13 of UAX #29). Stretches with other characters are
    searched by ``regex``.

    >>> uax29_spans("It's 3.5 km,\nné?".encode()).tolist()
    [[0, 4], [5, 8], [9, 11], [13, 16]]
    """
    codes = np.frombuffer(data, dtype=np.uint8)
    plain = _plain_spans(codes)
    if data.isascii():
        return plain
    first, last = _foreign_stretches(data, np.flatnonzero(codes >= _ASCII))
    inside = np.searchsorted(first, plain[:, 0], side="right") - 1
    kept = plain[(inside < 0) | (plain[:, 0] >= last[inside])]
    found = np.concatenate([kept, _foreign_spans(codes, first, last)])
    return found[np.argsort(found[:, 0], kind="stable")]


def _plain_spans(codes: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the words as if all of the text were ASCII."""
    classes = _classes()
    word = np.zeros(len(codes) + 2, dtype=np.bool_)  # no word at either end
    word[1:-1] = classes.word[codes]
    at = np.flatnonzero(classes.between[codes[1:-1]]) + 1
    sign, before, after = codes[at], codes[at - 1], codes[at + 1]
    joins = (classes.between_letters[sign] & classes.letter[before] & classes.letter[after]) | (
        classes.between_digits[sign] & classes.digit[before] & classes.digit[after]
    )
    word[at[joins] + 1] = True
    return np.flatnonzero(word[1:] != word[:-1]).reshape(-1, 2)


def _foreign_stretches(data: bytes, beyond: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the starts and ends of stretches, cut at spaces and line feeds, that have bytes beyond ASCII."""
    if _FEW * len(beyond) < len(data):
        return _few_stretches(data, beyond)
    codes = np.frombuffer(data, dtype=np.uint8)
    breaks = np.flatnonzero((codes == _SPACE) | (codes == _LINE_FEED))
    foreign = np.unique(np.searchsorted(breaks, beyond, side="right"))
    return np.append(0, breaks)[foreign], np.append(breaks, len(codes))[foreign]


def _few_stretches(data: bytes, beyond: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the same where such bytes are far apart, without reading the text between them."""
    found: list[tuple[int, int]] = []
    end = 0
    for at in beyond.tolist():
        if at < end:
            continue
        start = max(data.rfind(b" ", end, at), end)
        start = max(data.rfind(b"\n", start, at), start)
        following = _BREAK.search(data, at)
        end = following.start() if following else len(data)
        found.append((start, end))
    spans = np.array(found, dtype=np.int64).reshape(-1, 2)
    return spans[:, 0], spans[:, 1]


def _foreign_spans(codes: NDArray[np.uint8], first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the words of some stretches, by ``regex``."""
    lengths = last - first
    before = np.cumsum(lengths) - lengths
    places = np.repeat(first - before, lengths) + np.arange(int(lengths.sum()))
    # A line feed comes first, because regex treats a combining mark at the very beginning of a text differently.
    text = (b"\n" + codes[places].tobytes()).decode()
    chars = np.array([match.span() for match in _compiled().finditer(text)], dtype=np.int64).reshape(-1, 2)
    positions = byte_positions(text)
    assert positions is not None
    places = np.append(-1, places)
    return np.column_stack([places[positions[chars[:, 0]]], places[positions[chars[:, 1]] - 1] + 1])
