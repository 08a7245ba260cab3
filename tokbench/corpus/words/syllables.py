"""Finds syllables in languages whose writing shows them."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
import regex
from numpy.typing import NDArray

SYLLABLES_OF: Final = frozenset("ko kor zh zho cmn yue wuu nan lzh ii iii bo bod dz dzo my mya vi vie".split())
"""The languages, by their ISO 639-1 and 639-3 codes."""

_PATTERN: Final = r"""(?xV1)
    (?=\p{Hangul})\X                # a block, whether it is one code point or several
  | [\p{Han}\p{Yi}]
  | [\p{Tibetan}&&[\p{L}\p{M}]]+    # up to the tsheg, which is punctuation
  | [\p{Myanmar}&&[\p{L}\u104c-\u104f]]  # a consonant, its vowels, and the consonants that close it
      (?: [\p{Myanmar}&&\p{M}--\u1039] | \p{Myanmar}(?=\u1037?\u103a|\u1039) )*
  | [[\p{L}\p{M}]--[\p{Hangul}\p{Han}\p{Yi}\p{Tibetan}\p{Myanmar}]]+
  | \p{N}+(?:[.,]\p{N}+)*
"""


@cache
def _compiled() -> regex.Pattern[str]:
    return regex.compile(_PATTERN)


def syllable_spans(text: str) -> NDArray[np.int64]:
    """Return int64[s, 2], the start and end of each syllable, in code points.

    A syllable is a Hangul block; a Chinese or Yi character; in Tibetan the text between two tshegs; in Burmese a
    consonant and everything up to the next consonant that is not closed by an asat and has none stacked below; in
    Vietnamese the text between spaces. A number counts as one syllable, and so does a word in a script that shows no
    syllables.

    >>> [len(syllable_spans(text)) for text in ("한국어", "མཐུན་སྒྲིལ", "မင်္ဂလာပါ", "Việt Nam", "第3章")]
    [3, 2, 4, 2, 3]
    """
    spans = [match.span() for match in _compiled().finditer(text)]
    return np.array(spans, dtype=np.int64).reshape(-1, 2)
