"""Finds morae of Japanese from the readings of the dictionary of SudachiPy, if it is installed."""

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
"""The languages that are counted in morae, by their codes."""

_LONGEST: Final = 10_000
"""The number of characters that are analysed at a time; the library accepts at most 49,149 bytes."""

_SMALL: Final = frozenset("ァィゥェォャュョヮ")
_NO_SOUND: Final = frozenset({"補助記号", "空白"})
"""Parts of speech: punctuation and other signs, and white space."""

_PIECE: Final = re.compile(rf"[^\n。]{{1,{_LONGEST}}}。?")


@cache
def morae_work() -> bool:
    """Return ``True`` if SudachiPy and its dictionary are installed."""
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
    """Return the number of morae of a reading in kana: one for each kana, small vowels and glides aside.

    A long vowel's second half (ー), a doubled consonant (ッ) and a closing nasal (ン) are one each.

    >>> morae("トウキョウ"), morae("がっこう"), morae("ティーチャー"), morae("シンブン")
    (4, 4, 4, 4)
    """
    return sum(_to_katakana(char) not in _SMALL for char in unicodedata.normalize("NFKC", reading))


def _to_katakana(char: str) -> str:
    return chr(ord(char) + 0x60) if "ぁ" <= char <= "ゖ" else char


def mora_spans(text: str) -> NDArray[np.int64]:
    """Return int64[m, 2], for each mora the start and end of its word, in code points.

    The morae of a word in kanji have no places of their own, so each has the place of the word. Numbers are read digit
    by digit; what the dictionary cannot read has a mora for each letter.
    """
    spans = [span for piece in _PIECE.finditer(text) for span in _of_piece(piece.group(), piece.start())]
    return np.array(spans, dtype=np.int64).reshape(-1, 2)


def _of_piece(piece: str, first: int) -> Iterator[tuple[int, int]]:
    for word in _analyser().tokenize(piece):
        if word.part_of_speech()[0] not in _NO_SOUND:
            yield from [(first + word.begin(), first + word.end())] * morae(word.reading_form())
