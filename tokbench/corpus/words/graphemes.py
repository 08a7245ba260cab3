"""Finds extended grapheme clusters by the rules of UAX #29 on arrays.

Rules: version :data:`.unicode_tables.GRAPHEME_RULES` of
https://www.unicode.org/reports/tr29/#Grapheme_Cluster_Boundary_Rules; character classes: ``regex``.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.words.positions import code_points
from tokbench.corpus.words.unicode_tables import bit_table, every_second

_CLASSES: Final = (
    *("Other", "CR", "LF", "Control", "Extend", "ZWJ", "Regional_Indicator", "Prepend", "SpacingMark"),
    *("L", "V", "T", "LV", "LVT"),
)
"""Grapheme_Cluster_Break; the place is the lowest four bits."""

_WIDTH: Final = 4
_EXTEND, _ZWJ, _REGIONAL = (np.uint16(_CLASSES.index(name)) for name in ("Extend", "ZWJ", "Regional_Indicator"))
_CLASS: Final = np.uint16((1 << _WIDTH) - 1)
_PICTOGRAPH, _LINKER, _CONSONANT, _BETWEEN, _WHITE = (np.uint16(1 << k) for k in range(_WIDTH, _WIDTH + 5))

_AT_ONCE: Final = 1 << 20
"""Characters that are looked up together."""

_PATTERNS: Final = (
    (
        r"\p{GCB=Other}+|" + "|".join(rf"(\p{{GCB={name}}}+)" for name in _CLASSES[1:]),
        tuple(range(1, len(_CLASSES))),
    ),
    (
        r"\p{InCB=None}+|(\p{InCB=Linker}+)|(\p{InCB=Consonant}+)|(\p{InCB=Extend}+)",
        (int(_LINKER), int(_CONSONANT), int(_BETWEEN)),
    ),
    (r"(\s+)", (int(_WHITE),)),
)


@cache
def _table() -> NDArray[np.uint16]:
    return bit_table(_PATTERNS, int(_PICTOGRAPH))


@cache
def _pairs() -> NDArray[np.bool_]:
    """Return where no boundary is between neighbours, at 16 × first class + second."""
    table = np.zeros((1 << _WIDTH, 1 << _WIDTH), dtype=np.bool_)

    def join(before: str, after: str) -> None:
        first, second = ([_CLASSES.index(name) for name in names.split()] for names in (before, after))
        table[np.ix_(first, second)] = True

    join("L", "L V LV LVT")  # GB6
    join("LV V", "V T")  # GB7
    join("LVT T", "T")  # GB8
    all_others = " ".join(set(_CLASSES) - {"CR", "LF", "Control"})  # GB4, GB5
    join(all_others, "Extend ZWJ SpacingMark")  # GB9, GB9a
    join("Prepend", all_others)  # GB9b
    join("CR", "LF")  # GB3
    return table.ravel()


def grapheme_spans(text: str) -> NDArray[np.int64]:
    r"""Return start and end in code points, without white space; a mark after white space counts.

    >>> text = "né\u0301 🇫🇮👩\u200d🚀"
    >>> [text[start:end] for start, end in grapheme_spans(text)]
    ['n', 'é́', '🇫🇮', '👩\u200d🚀']
    """
    kinds = _table()[code_points(text)]
    starts = np.flatnonzero(cluster_breaks(kinds))
    ends = np.append(starts, len(kinds))[1:]
    white = (kinds & _WHITE) != 0
    starts = starts + white[starts]
    kept = (starts < ends) & ~white[np.minimum(starts, len(kinds) - 1)]  # a line feed behind a carriage return is not
    return np.column_stack([starts[kept], ends[kept]])


def is_white(text: str) -> NDArray[np.bool_]:
    r"""Return bool[n], the characters with the Unicode property White_Space.

    >>> is_white("a b\u3000é").tolist()
    [False, True, False, True, False]
    """
    white = np.empty(len(text), dtype=np.bool_)
    for at in range(0, len(text), _AT_ONCE):
        kinds = _table()[code_points(text[at : at + _AT_ONCE])]
        np.not_equal(kinds & _WHITE, 0, out=white[at : at + _AT_ONCE])
    return white


def cluster_breaks(kinds: NDArray[np.uint16]) -> NDArray[np.bool_]:
    """Return where clusters begin (GB1 to GB999); ``kinds`` are entries of the table."""
    classes = kinds & _CLASS
    breaks = np.ones(len(kinds), dtype=np.bool_)
    breaks[1:] = ~_pairs()[(classes[:-1] << _WIDTH) | classes[1:]]
    # GB9c: from a linker on, up to the next consonant, nothing but linkers and extenders
    at = np.flatnonzero((kinds & (_CONSONANT | _LINKER)) != 0)
    other = np.flatnonzero((kinds & (_BETWEEN | _LINKER)) == 0)
    linker, consonant = at[:-1], at[1:]
    linked = ((kinds[linker] & _LINKER) != 0) & ((kinds[consonant] & _CONSONANT) != 0)
    linker, consonant = linker[linked], consonant[linked]
    breaks[consonant[np.searchsorted(other, linker) == np.searchsorted(other, consonant)]] = False
    # GB11
    at = np.flatnonzero((kinds[1:] & _PICTOGRAPH) != 0) + 1
    at = at[classes[at - 1] == _ZWJ]
    firm = np.flatnonzero(classes != _EXTEND)
    before = np.searchsorted(firm, at - 1) - 1
    at, before = at[before >= 0], before[before >= 0]
    breaks[at[(kinds[firm[before]] & _PICTOGRAPH) != 0]] = False
    breaks[every_second(classes == _REGIONAL)] = False  # GB12, GB13
    return breaks
