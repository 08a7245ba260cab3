r"""What a word is, language by language.

Three units, each named wherever words are counted:

``uax29``
    Unicode's default word boundaries (UAX #29), segments that hold a letter, a mark or a digit.
``whitespace``
    What stands between white space, punctuation included.
``character``
    A letter or digit with its combining marks; for scripts written without spaces between words.

Unicode's boundaries say nothing of words in Thai, Lao, Khmer, Burmese, Tibetan, Chinese and Japanese
(they fall around every letter or ideograph), so these are counted in characters. Korean is written with
spaces, and its eojeol are what is between them: ``whitespace``. All else is ``uax29``.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, Literal, NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

__all__ = ["UNIT_NAMES", "Unit", "Words", "default_unit", "find_words"]

Unit = Literal["uax29", "whitespace", "character"]

UNIT_NAMES: Final[dict[Unit, tuple[str, str]]] = {
    "uax29": ("word (UAX #29)", "words (UAX #29)"),
    "whitespace": ("word (whitespace)", "words (whitespace)"),
    "character": ("character", "characters"),
}
"""What one is called, and several are."""

_PATTERNS: Final[dict[Unit, str]] = {
    "uax29": r"(?ws)[\p{L}\p{N}\p{M}_].*?\b",
    "whitespace": r"\S+",
    "character": r"[\p{L}\p{N}]\p{M}*",
}

# The last code points that take one, two and three bytes in UTF-8.
_LAST_OF_WIDTH: Final = np.array([0x7F, 0x7FF, 0xFFFF])

# ISO 639-1 and 639-3 codes.
_UNSPACED = frozenset("th tha lo lao km khm my mya bo bod dz dzo zh zho cmn yue wuu nan lzh ja jpn".split())
_KOREAN = frozenset({"ko", "kor"})


def default_unit(group: str) -> Unit:
    """The unit for a group that is named after a language, with or without a region or script.

    >>> default_unit("th"), default_unit("zho-CN"), default_unit("ko_KR"), default_unit("fi")
    ('character', 'character', 'whitespace', 'uax29')
    """
    language = re.split(r"[-_.]", group.lower(), maxsplit=1)[0]
    if language in _UNSPACED:
        return "character"
    return "whitespace" if language in _KOREAN else "uax29"


class Words(NamedTuple):
    """Where words lie in a shard whose documents' UTF-8 bytes are laid end to end.

    Attributes:
        starts, ends: int64[w], byte positions; word ``k`` is ``[starts[k], ends[k])``.
        documents: int64[w], the document of each word.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    documents: NDArray[np.int64]


@cache
def _compiled(unit: Unit) -> regex.Pattern[str]:
    return regex.compile(_PATTERNS[unit])


def find_words(texts: list[str], unit: Unit) -> Words:
    """The words of several documents.

    All documents are searched as one text with a line feed between them, which no word of any unit
    crosses: a pass over one long text costs half of one over many short ones.

    >>> words = find_words(["It's 3.5 km,", "né?"], "uax29")
    >>> words.starts.tolist(), words.ends.tolist(), words.documents.tolist()
    ([0, 5, 9, 12], [4, 8, 11, 15], [0, 0, 0, 1])
    >>> len(find_words(["ที่นี่"], "character").starts)
    2
    """
    joined = "\n".join(texts)
    spans = [match.span() for match in _compiled(unit).finditer(joined)]
    chars = np.array(spans, dtype=np.int64).reshape(-1, 2)
    positions = _byte_positions(joined)
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    # Where each document ends in the joined text, its line feed included.
    documents = np.searchsorted(np.cumsum(lengths + 1), chars[:, 0], side="right")
    if positions is None:
        starts, ends = chars[:, 0], chars[:, 1]
    else:
        starts, ends = positions[chars[:, 0]], positions[chars[:, 1]]
    return Words(starts - documents, ends - documents, documents)


def _byte_positions(text: str) -> NDArray[np.int64] | None:
    """For each character (and the end) its position in UTF-8; ``None`` for ASCII, where both are the same."""
    if text.isascii():
        return None
    points = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
    widths = 1 + np.searchsorted(_LAST_OF_WIDTH, points)
    return np.concatenate([[0], np.cumsum(widths)])
