"""Finds words by the default word boundaries of Unicode, UAX #29.

Rules: https://www.unicode.org/reports/tr29/#Word_Boundary_Rules, on arrays, with a short cut for ASCII; character
classes: ``regex``.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.words.unicode_tables import bit_table, bits_of, every_second

# What the rules ask about a character, a bit each.
_LETTER, _DIGIT, _HEBREW = (np.uint16(1 << k) for k in range(3))
_BETWEEN_LETTERS, _BETWEEN_DIGITS, _BETWEEN_HEBREW = (np.uint16(1 << k) for k in range(3, 6))
_IN_WORD, _KATAKANA, _SPACE, _APOSTROPHE = (np.uint16(1 << k) for k in range(6, 10))
_NEWLINE, _ATTACHED, _JOINER, _REGIONAL = (np.uint16(1 << k) for k in range(10, 14))
_PICTOGRAPH, _WRITTEN = (np.uint16(1 << k) for k in range(14, 16))

_SIDES: Final = _LETTER | _DIGIT | _HEBREW
_MIDDLES: Final = _BETWEEN_LETTERS | _BETWEEN_DIGITS | _BETWEEN_HEBREW
_SHIFT: Final = 3
"""A middle's bits, moved right, are the bits of the characters that it joins."""

_ALIKE: Final = _IN_WORD | _KATAKANA
"""Neighbours that share a bit are not separated (WB5, WB8 to WB10, WB13 to WB13b)."""

_KINDS: Final = {
    "ALetter": _LETTER | _IN_WORD,
    "Hebrew_Letter": _LETTER | _HEBREW | _IN_WORD,
    "Numeric": _DIGIT | _IN_WORD,
    "Katakana": _KATAKANA,
    "ExtendNumLet": _IN_WORD | _KATAKANA,
    "MidLetter": _BETWEEN_LETTERS,
    "MidNum": _BETWEEN_DIGITS,
    "MidNumLet": _BETWEEN_LETTERS | _BETWEEN_DIGITS,
    "Single_Quote": _BETWEEN_LETTERS | _BETWEEN_DIGITS | _APOSTROPHE,
    "Double_Quote": _BETWEEN_HEBREW,
    "WSegSpace": _SPACE,
    "CR": _NEWLINE,
    "LF": _NEWLINE,
    "Newline": _NEWLINE,
    "Extend": _ATTACHED,
    "Format": _ATTACHED,
    "ZWJ": _ATTACHED | _JOINER,
    "Regional_Indicator": _REGIONAL,
}
"""Bits by Word_Break; ``Other`` has none."""

_PATTERNS: Final = (
    (r"\p{WB=Other}+|" + "|".join(rf"(\p{{WB={name}}}+)" for name in _KINDS), tuple(map(int, _KINDS.values()))),
    (r"\p{C}+|([\p{L}\p{N}\p{M}_]+)", (int(_WRITTEN),)),
)

_CR: Final = 0x0D
_LF: Final = 0x0A
_ASCII: Final = 0x80
_LEAD: Final = 0xC0
_FOLLOWS: Final = 0x80
"""The highest two bits of a UTF-8 byte after the first."""
_BREAK: Final = re.compile(rb"[ \n]")
_FEW: Final = 150
"""With fewer than one byte in this many beyond ASCII, rules around each of them are faster."""


@cache
def _table() -> NDArray[np.uint16]:
    return bit_table(_PATTERNS, int(_PICTOGRAPH))


@cache
def _ascii_table() -> NDArray[np.uint16]:
    """Bytes beyond ASCII have no bits."""
    table = np.zeros(256, dtype=np.uint16)
    table[:_ASCII] = bits_of("".join(map(chr, range(_ASCII))), _PATTERNS)
    return table


@cache
def _translation(bits: int) -> bytes:
    """1 for ASCII with some bits, else 0: ``bytes.translate`` is faster than indexing."""
    table: bytes = ((_ascii_table() & np.uint16(bits)) != 0).tobytes()
    return table


def uax29_spans(data: bytes) -> NDArray[np.int64]:
    r"""Return starts and ends in bytes of segments from their first letter, digit, mark or underscore on.

    >>> uax29_spans("It's 3.5 km,\nné?".encode()).tolist()
    [[0, 4], [5, 8], [9, 11], [13, 16]]
    >>> data = "यू.एन में".encode()
    >>> [data[start:end].decode() for start, end in uax29_spans(data)]
    ['यू.एन', 'में']
    """
    if data.isascii():
        return _plain_spans(data)
    codes = np.frombuffer(data, dtype=np.uint8)
    beyond = np.flatnonzero(codes >= _ASCII)
    if _FEW * len(beyond) > len(data):
        return _foreign_spans(codes)
    first, last = _foreign_stretches(data, beyond)
    lengths = last - first
    before = np.cumsum(lengths) - lengths
    places = np.repeat(first - before, lengths) + np.arange(int(lengths.sum()))
    spans = _foreign_spans(codes[places])
    both = np.concatenate(
        [_plain_spans(data, places), np.column_stack([places[spans[:, 0]], places[spans[:, 1] - 1] + 1])]
    )
    rising: NDArray[np.int64] = both[np.argsort(both[:, 0], kind="stable")]
    return rising


def _plain_spans(data: bytes, without: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """Return words as in ASCII, but none in ``without``."""
    word = _plain_words(data)
    if without is not None:
        word[without + 1] = False
    return _edges(word)


def _plain_words(data: bytes) -> NDArray[np.bool_]:
    """Return bool[n + 2], in words if all were ASCII; byte ``k`` has entry ``k + 1`` (WB6, WB7, WB11, WB12)."""
    word = np.frombuffer(bytearray(b"".join([b"\0", data.translate(_translation(_IN_WORD)), b"\0"])), dtype=np.bool_)
    middle = np.frombuffer(data.translate(_translation(_MIDDLES)), dtype=np.bool_)
    at = np.flatnonzero(middle & word[:-2] & word[2:])
    table, codes = _ascii_table(), np.frombuffer(data, dtype=np.uint8)
    word[at[_fits(table[codes[at - 1]], table[codes[at]], table[codes[at + 1]])] + 1] = True
    return word


def _edges(word: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.flatnonzero(word[1:] != word[:-1]).reshape(-1, 2)


def _foreign_stretches(data: bytes, beyond: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return starts and ends of stretches, cut before spaces and line feeds, with bytes beyond ASCII."""
    stretches: list[tuple[int, int]] = []
    end = 0
    for at in beyond.tolist():
        if at < end:
            continue
        start = max(data.rfind(b" ", end, at), end)
        start = max(data.rfind(b"\n", start, at), start)
        following = _BREAK.search(data, at)
        end = following.start() if following else len(data)
        stretches.append((start, end))
    spans = np.array(stretches, dtype=np.int64).reshape(-1, 2)
    return spans[:, 0], spans[:, 1]


def _foreign_spans(codes: NDArray[np.uint8]) -> NDArray[np.int64]:
    points = np.frombuffer(codes.tobytes().decode().encode("utf-32-le"), dtype="<u4")
    kinds = _table()[points]
    begins = np.flatnonzero(word_breaks(points, kinds))
    written = (kinds & _WRITTEN) != 0
    words = np.flatnonzero(np.logical_or.reduceat(written, begins))
    starts, ends = begins[words], np.append(begins, len(points))[words + 1]
    late = np.flatnonzero(~written[starts])  # such as a mark behind a punctuation character
    if len(late):
        at = np.flatnonzero(written)
        starts[late] = at[np.searchsorted(at, starts[late])]
    bytes_at = np.append(np.flatnonzero((codes & _LEAD) != _FOLLOWS), len(codes))
    return np.column_stack([bytes_at[starts], bytes_at[ends]])


def word_breaks(points: NDArray[np.uint32], kinds: NDArray[np.uint16]) -> NDArray[np.bool_]:
    """Return where segments begin, by WB1 to WB999.

    Args:
        points: uint32[n], the code points.
        kinds: uint16[n], the entry of each in the table.
    """
    some = np.bitwise_or.reduce(kinds)
    breaks = np.ones(len(kinds), dtype=np.bool_)
    if not some & _ATTACHED:
        breaks[1:] = ~_joined(kinds, some)[1:]
    else:
        attached = (kinds & _ATTACHED) != 0
        attached[:1] = False
        attached[1:] &= (kinds[:-1] & _NEWLINE) == 0  # WB3a
        places = np.flatnonzero(~attached)
        breaks[attached] = False  # WB4
        breaks[places[_joined(kinds[places], some)]] = False
    if some & _SPACE:  # WB3d, of neighbours with nothing attached between them
        breaks[1:] &= (kinds[:-1] & kinds[1:] & _SPACE) == 0
    if some & _JOINER:  # WB3c
        breaks[1:] &= ((kinds[:-1] & _JOINER) == 0) | ((kinds[1:] & _PICTOGRAPH) == 0)
    if some & _NEWLINE:  # WB3
        breaks[1:] &= (points[:-1] != _CR) | (points[1:] != _LF)
    return breaks


def _joined(kinds: NDArray[np.uint16], some: np.uint16) -> NDArray[np.bool_]:
    """Return where characters join the one before, by WB5 to WB16; ``some`` are all bits that occur in ``kinds``."""
    joined = np.zeros(len(kinds), dtype=np.bool_)
    joined[1:] = (kinds[1:] & kinds[:-1] & _ALIKE) != 0
    if some & _MIDDLES:
        at = np.flatnonzero((kinds[1:-1] & _MIDDLES) != 0) + 1
        at = at[_fits(kinds[at - 1], kinds[at], kinds[at + 1])]
        joined[at] = joined[at + 1] = True
    if some & _HEBREW:  # WB7a
        joined[1:] |= ((kinds[:-1] & _HEBREW) != 0) & ((kinds[1:] & _APOSTROPHE) != 0)
    joined[every_second((kinds & _REGIONAL) != 0)] = True  # WB15, WB16
    return joined


def _fits(before: NDArray[np.uint16], sign: NDArray[np.uint16], after: NDArray[np.uint16]) -> NDArray[np.bool_]:
    """Find signs that join two letters or two digits (WB6, WB7, WB7b, WB7c, WB11, WB12)."""
    fits: NDArray[np.bool_] = (before & (sign >> _SHIFT) & after & _SIDES) != 0
    return fits
