"""Finds the words in the documents of a shard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

from tokbench.corpus.words.graphemes import grapheme_spans
from tokbench.corpus.words.icu import icu_spans
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

_PIECE: Final = 1 << 20
"""Characters per piece of a longer document."""

_SPACE: Final = regex.compile(r"\n|(?<=[a-zA-Z0-9])(?= )")
"""Where no word and no cluster goes on, whatever follows."""

_SPACE_OR_STOP: Final = regex.compile(_SPACE.pattern + r"|(?<=[\p{Han}\p{Hiragana}])(?=[。、])")
"""The same where words do not reach from space to space."""

_FINDERS: Final[dict[Unit, Callable[[str], NDArray[np.int64]]]] = {
    "grapheme": grapheme_spans,
    "icu": icu_spans,
    "uax29": uax29_spans,
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
    if n_bytes is None:
        n_bytes = np.fromiter((len(text.encode()) for text in texts), dtype=np.int64, count=len(texts))
    nothing = np.empty(0, dtype=np.int64)
    columns = zip(Spans(nothing, nothing, nothing), *words_in_pieces(texts, unit, n_bytes), strict=True)
    return Spans(*map(np.concatenate, columns))


def count_words(texts: list[str], unit: Unit, n_bytes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return int64[d], the words of each document, in the memory of one piece.

    >>> count_words(["It's 3.5 km,", "né?"], "uax29", np.array([12, 4])).tolist()
    [3, 1]
    """
    counts = np.zeros(len(texts), dtype=np.int64)
    for piece in words_in_pieces(texts, unit, n_bytes):
        counts += np.bincount(piece.documents, minlength=len(texts))
    return counts


class Clusters(NamedTuple):
    """Grapheme clusters without white space, in one byte of memory for each of the text."""

    counts: NDArray[np.int64]
    """int64[d]."""
    inside: NDArray[np.bool_]
    """bool[n + 1], positions strictly inside a cluster, in joined UTF-8 bytes."""


def find_clusters(texts: list[str], n_bytes: NDArray[np.int64], size: int = _PIECE) -> Clusters:
    r"""Find clusters in pieces of ``size`` characters.

    >>> clusters = find_clusters(["n\u0303 a", "\r\n", "é"], np.array([5, 2, 2]))
    >>> clusters.counts.tolist(), np.flatnonzero(clusters.inside).tolist()
    ([2, 0, 1], [1, 2, 8])
    """
    clusters = Clusters(np.zeros(len(texts), dtype=np.int64), np.zeros(int(n_bytes.sum()) + 1, dtype=np.bool_))
    for starts, ends, documents in words_in_pieces(texts, "grapheme", n_bytes, size):
        clusters.counts[:] += np.bincount(documents, minlength=len(texts))
        lengths = ends - starts - 1
        clusters.inside[np.repeat(ends - np.cumsum(lengths), lengths) + np.arange(lengths.sum())] = True
    return clusters


def words_in_pieces(texts: list[str], unit: Unit, n_bytes: NDArray[np.int64], size: int = _PIECE) -> Iterator[Spans]:
    """Yield the words by pieces of the documents, which bound memory."""
    text, finder = "\n".join(texts), _FINDERS.get(unit)
    places = _SPACE if unit == "whitespace" else _SPACE_OR_STOP
    ends = np.cumsum(n_bytes + 1)
    begin = before = 0
    while begin < len(text):
        cut = places.search(text, begin + size)
        end = cut.end() if cut else len(text)
        piece = text[begin:end]
        positions = byte_positions(piece)
        spans = positions[finder(piece) if finder else _matches(piece, unit)] + before
        documents = np.searchsorted(ends, spans[:, 0], side="right")
        # The line feeds between documents are no text of theirs.
        yield Spans(spans[:, 0] - documents, spans[:, 1] - documents, documents)
        before, begin = before + int(positions[-1]), end
