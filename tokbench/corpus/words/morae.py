"""Finds morae of Japanese from the readings of SudachiPy's dictionary, if installed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sudachipy import Tokenizer

MORAE_OF: Final = frozenset({"ja", "jpn"})
"""Codes of languages."""

_LONGEST: Final = 10_000
"""Characters per call; the library accepts at most 49,149 bytes."""

_SMALL: Final = frozenset("ァィゥェォャュョヮ")
_NO_SOUND: Final = frozenset({"補助記号", "空白"})
"""Parts of speech: punctuation, white space."""

_PIECE: Final = re.compile(rf"[^\n。]{{1,{_LONGEST}}}。?")


@cache
def morae_work() -> bool:
    """Tell whether SudachiPy and its dictionary are installed."""
    try:
        _analyser()
    except ImportError:
        return False
    return True


@cache
def _analyser() -> Tokenizer:
    import sudachidict_core  # noqa: F401
    from sudachipy import Dictionary

    return Dictionary().tokenizer()


def morae(reading: str) -> int:
    """Count each kana but small vowels and glides; also ー, ッ and ン.

    >>> morae("トウキョウ"), morae("がっこう")
    (4, 4)
    """
    return sum(_to_katakana(char) not in _SMALL for char in unicodedata.normalize("NFKC", reading))


def _to_katakana(char: str) -> str:
    return chr(ord(char) + 0x60) if "ぁ" <= char <= "ゖ" else char


def mora_spans(text: str) -> NDArray[np.int64]:
    """Return for each mora the span of its word in code points; unreadable words have one for each letter."""
    spans = [span for piece in _PIECE.finditer(text) for span in _of_piece(piece.group(), piece.start())]
    return np.array(spans, dtype=np.int64).reshape(-1, 2)


def _of_piece(piece: str, first: int) -> Iterator[tuple[int, int]]:
    for word in _analyser().tokenize(piece):
        if word.part_of_speech()[0] not in _NO_SOUND:
            yield from [(first + word.begin(), first + word.end())] * morae(word.reading_form())
