"""Finds the words in the documents of a shard."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

from tokbench.corpus.words.icu import icu_spans
from tokbench.corpus.words.morae import mora_spans
from tokbench.corpus.words.positions import byte_positions
from tokbench.corpus.words.syllables import syllable_spans
from tokbench.corpus.words.uax29 import uax29_spans
from tokbench.corpus.words.units import Unit

_PATTERNS: Final[dict[Unit, str]] = {
    "whitespace": r"\S+",
    "character": r"[\p{L}\p{N}]\p{M}*",
    "grapheme": r"(?!\s)\X",
}

_FINDERS: Final[dict[Unit, Callable[[str], NDArray[np.int64]]]] = {
    "icu": icu_spans,
    "mora": mora_spans,
    "syllable": syllable_spans,
}


class Words(NamedTuple):
    """The places of words in a shard, in UTF-8 bytes of its documents joined end to end.

    Attributes:
        starts, ends: int64[w], byte positions; word ``k`` is ``[starts[k], ends[k])``.
        documents: int64[w], the document of each word.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    documents: NDArray[np.int64]


def _matches(text: str, unit: Unit) -> NDArray[np.int64]:
    spans = [match.span() for match in _compiled(unit).finditer(text)]
    return np.array(spans, dtype=np.int64).reshape(-1, 2)


@cache
def _compiled(unit: Unit) -> regex.Pattern[str]:
    return regex.compile(_PATTERNS[unit])


def find_words(texts: list[str], unit: Unit) -> Words:
    """Return the words of several documents.

    All documents are searched as one text with a line feed between them, which no word of any unit crosses: searching
    one long text takes half the time of many short ones. Gold words are not searched
    but given: see :func:`tokbench.corpus.words.gold_words`.

    >>> words = find_words(["It's 3.5 km,", "né?"], "uax29")
    >>> words.starts.tolist(), words.ends.tolist(), words.documents.tolist()
    ([0, 5, 9, 12], [4, 8, 11, 15], [0, 0, 0, 1])
    >>> len(find_words(["ที่นี่"], "character").starts)
    2
    """
    joined = "\n".join(texts)
    spans = uax29_spans(joined.encode()) if unit == "uax29" else _in_bytes(joined, unit)
    starts = np.ascontiguousarray(spans[:, 0])
    sizes = np.fromiter((len(text.encode()) for text in texts), dtype=np.int64, count=len(texts))
    # Where each document ends in the joined text, its line feed included.
    before = np.searchsorted(starts, np.cumsum(sizes + 1), side="left")
    documents = np.repeat(np.arange(len(texts)), np.diff(before, prepend=0))
    return Words(starts - documents, spans[:, 1] - documents, documents)


def _in_bytes(text: str, unit: Unit) -> NDArray[np.int64]:
    finder = _FINDERS.get(unit)
    chars = finder(text) if finder else _matches(text, unit)
    positions = byte_positions(text)
    return chars if positions is None else positions[chars]
