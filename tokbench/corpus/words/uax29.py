"""Finds words by the default word boundaries of Unicode, UAX #29.

Rules: https://www.unicode.org/reports/tr29/#Word_Boundary_Rules, on arrays; character classes: ``regex``.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.words.positions import code_points
from tokbench.corpus.words.unicode_tables import bit_table, every_second

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


@cache
def _table() -> NDArray[np.uint16]:
    return bit_table(_PATTERNS, int(_PICTOGRAPH))


def uax29_spans(text: str) -> NDArray[np.int64]:
    r"""Return start and end in code points of segments from their first letter, digit, mark or underscore on.

    >>> text = "It's 3.5 km,\nयू.एन né?"
    >>> [text[start:end] for start, end in uax29_spans(text)]
    ["It's", '3.5', 'km', 'यू.एन', 'né']
    """
    points = code_points(text)
    kinds = _table()[points]
    begins = np.flatnonzero(word_breaks(points, kinds))
    is_written = (kinds & _WRITTEN) != 0
    written = np.append(np.flatnonzero(is_written), len(points))
    ends = np.append(begins, len(points))[1:]
    # Later than the segment begins for a mark behind a punctuation character.
    starts = written[np.cumsum(is_written)[begins] - is_written[begins]]
    some = starts < ends
    return np.column_stack([starts[some], ends[some]])


def word_breaks(points: NDArray[np.uint32], kinds: NDArray[np.uint16]) -> NDArray[np.bool_]:
    """Return where segments begin, by WB1 to WB999.

    Args:
        points: uint32[n], the code points.
        kinds: uint16[n], the entry of each in the table.
    """
    breaks = np.zeros(len(kinds), dtype=np.bool_)
    attached = (kinds & _ATTACHED) != 0
    attached[:1] = False
    attached[1:] &= (kinds[:-1] & _NEWLINE) == 0  # WB3a
    places = np.flatnonzero(~attached)  # WB4
    breaks[places] = ~_joined(kinds[places])
    # WB3d, of neighbours with nothing attached between them
    breaks[1:] &= (kinds[:-1] & kinds[1:] & _SPACE) == 0
    breaks[1:] &= ((kinds[:-1] & _JOINER) == 0) | ((kinds[1:] & _PICTOGRAPH) == 0)  # WB3c
    breaks[1:] &= (points[:-1] != _CR) | (points[1:] != _LF)  # WB3
    return breaks


def _joined(kinds: NDArray[np.uint16]) -> NDArray[np.bool_]:
    """Return where characters join the one before, by WB5 to WB16."""
    joined = np.zeros(len(kinds), dtype=np.bool_)
    joined[1:] = (kinds[1:] & kinds[:-1] & _ALIKE) != 0
    at = np.flatnonzero((kinds[1:-1] & _MIDDLES) != 0) + 1
    # WB6, WB7, WB7b, WB7c, WB11, WB12: signs that join two letters or two digits
    at = at[(kinds[at - 1] & (kinds[at] >> _SHIFT) & kinds[at + 1] & _SIDES) != 0]
    joined[at] = joined[at + 1] = True
    joined[1:] |= ((kinds[:-1] & _HEBREW) != 0) & ((kinds[1:] & _APOSTROPHE) != 0)  # WB7a
    joined[every_second((kinds & _REGIONAL) != 0)] = True  # WB15, WB16
    return joined
