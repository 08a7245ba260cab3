"""Finds the words in the documents of a shard."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

from tokbench.corpus.words.graphemes import grapheme_spans
from tokbench.corpus.words.icu import icu_spans
from tokbench.corpus.words.morae import mora_spans
from tokbench.corpus.words.positions import byte_positions
from tokbench.corpus.words.uax29 import uax29_spans
from tokbench.corpus.words.units import Unit

_PATTERNS: Final[dict[Unit, str]] = {
    "whitespace": r"\S+",
    "character": r"[\p{L}\p{N}]\p{M}*",
    "syllable": r"""(?xV1)
    (?=\p{Hangul})\X                # a block, whether it is one code point or several
  | [\p{Han}\p{Yi}]
  | [\p{Tibetan}&&[\p{L}\p{M}]]+    # up to the tsheg, which is punctuation
  | [\p{Myanmar}&&[\p{L}\u104c-\u104f]]  # a consonant, its vowels, and the consonants that close it
      (?: [\p{Myanmar}&&\p{M}--\u1039] | \p{Myanmar}(?=\u1037?\u103a|\u1039) )*
  | [[\p{L}\p{M}]--[\p{Hangul}\p{Han}\p{Yi}\p{Tibetan}\p{Myanmar}]]+
  | \p{N}+(?:[.,]\p{N}+)*
""",
}

_PIECE: Final = 1 << 22
"""Characters per piece of a longer document."""

_FINDERS: Final[dict[Unit, Callable[[str], NDArray[np.int64]]]] = {
    "grapheme": grapheme_spans,
    "icu": icu_spans,
    "mora": mora_spans,
}


class Spans(NamedTuple):
    """Spans of text, such as words, in UTF-8 bytes of joined documents."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    """int64[s]; span ``k`` is ``[starts[k], ends[k])``, inside one document."""
    documents: NDArray[np.int64]

    def where(self, chosen: NDArray[Any]) -> Spans:
        return Spans(self.starts[chosen], self.ends[chosen], self.documents[chosen])


def _matches(text: str, unit: Unit) -> NDArray[np.int64]:
    spans = [match.span() for match in _compiled(unit).finditer(text)]
    return np.array(spans, dtype=np.int64).reshape(-1, 2)


@cache
def _compiled(unit: Unit) -> regex.Pattern[str]:
    return regex.compile(_PATTERNS[unit])


def find_words(texts: list[str], unit: Unit, n_bytes: NDArray[np.int64] | None = None) -> Spans:
    """Return the words of several documents; ``n_bytes`` are their sizes in UTF-8, if known.

    A syllable is a Hangul block; a Chinese or Yi character; in Tibetan the text between two tshegs; in Burmese a
    consonant up to the next that is not closed by an asat and has none stacked below; in Vietnamese the text between
    spaces. A number, or a word in another script, is one syllable. Gold words are not searched.

    >>> words = find_words(["It's 3.5 km,", "né?"], "uax29")
    >>> words.starts.tolist(), words.ends.tolist(), words.documents.tolist()
    ([0, 5, 9, 12], [4, 8, 11, 15], [0, 0, 0, 1])
    """
    starts, ends = _spans("\n".join(texts), unit)
    if len(texts) == 1:
        return Spans(starts, ends, np.zeros(len(starts), dtype=np.int64))  # which takes no memory: it is never written
    if n_bytes is None:
        n_bytes = np.fromiter((len(text.encode()) for text in texts), dtype=np.int64, count=len(texts))
    # Where each document ends in the joined text, its line feed included.
    before = np.searchsorted(starts, np.cumsum(n_bytes + 1), side="left")
    documents = np.repeat(np.arange(len(texts)), np.diff(before, prepend=0))
    starts -= documents
    ends -= documents
    return Spans(starts, ends, documents)


def _spans(text: str, unit: Unit, size: int = _PIECE) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return starts and ends in bytes; pieces that end with a line feed bound memory."""
    starts, ends, before, begin = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), 0, 0
    while begin < len(text):
        end = text.find("\n", begin + size) + 1 or len(text)
        piece = text[begin:end]
        data = piece.encode()
        spans = uax29_spans(data) if unit == "uax29" else _in_bytes(piece, unit)
        for column, positions in ((starts, spans[:, 0]), (ends, spans[:, 1])):
            known = len(column)
            column.resize(known + len(spans), refcheck=False)  # in place: there may be millions
            np.add(positions, before, out=column[known:])
        before, begin = before + len(data), end
    return starts, ends


def _in_bytes(text: str, unit: Unit) -> NDArray[np.int64]:
    finder = _FINDERS.get(unit)
    chars = finder(text) if finder else _matches(text, unit)
    positions = byte_positions(text)
    return chars if positions is None else positions[chars]
