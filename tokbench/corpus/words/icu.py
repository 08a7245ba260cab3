"""Finds words by ICU's boundaries and dictionaries, if PyICU is installed."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.words.positions import code_points

_LAST_OF_ONE_UNIT: Final = 0xFFFF


@cache
def icu_works() -> bool:
    """Tell whether PyICU finds its ICU."""
    try:
        import icu  # noqa: F401
    except ImportError:  # not there, or built against an ICU that is gone
        return False
    return True


def icu_version() -> str:
    """Return an empty string without PyICU."""
    if not icu_works():
        return ""
    import icu

    return str(icu.ICU_VERSION)


def icu_unicode_version() -> str:
    """Return an empty string without PyICU."""
    if not icu_works():
        return ""
    import icu

    return str(icu.UNICODE_VERSION)


def icu_spans(text: str) -> NDArray[np.int64]:
    """Return starts and ends in code points, of segments other than ``UBRK_WORD_NONE``, by the root locale."""
    import icu

    boundaries = icu.BreakIterator.createWordInstance(icu.Locale.getRoot())
    boundaries.setText(icu.UnicodeString(text))
    spans, start = [], 0
    for end in boundaries:
        if boundaries.getRuleStatus() >= icu.UWordBreak.NONE_LIMIT:
            spans.append((start, end))
        start = end
    units = np.array(spans, dtype=np.int64).reshape(-1, 2)
    codes = code_points(text)
    # ICU counts UTF-16 code units: two for each code point beyond U+FFFF.
    begins = np.concatenate([[0], np.cumsum(1 + (codes > _LAST_OF_ONE_UNIT))])
    return np.searchsorted(begins, units)
