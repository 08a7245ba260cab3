"""The units in which words are counted; the README of the corpora lists them. Every count of words names its unit.

In scripts without spaces the boundaries of Unicode (UAX #29) are not those of words: they are around every letter or
ideograph. So the default for these languages is ``icu`` if PyICU is installed, and ``character``, a letter or digit
with its combining marks, if not. ICU has no dictionary for Tibetan and Dzongkha, which mark their syllables. A mora can
only be counted, as it has no place in kanji. ``grapheme`` leaves white space out.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from tokbench.corpus.words.icu import icu_works
from tokbench.corpus.words.morae import MORAE_OF, morae_work

Unit = Literal["uax29", "icu", "whitespace", "character", "grapheme", "syllable", "mora", "gold", "gold_nonpunct"]

UNIT_NAMES: Final[dict[Unit, tuple[str, str]]] = {
    "uax29": ("word (UAX #29)", "words (UAX #29)"),
    "icu": ("word (ICU)", "words (ICU)"),
    "whitespace": ("word (whitespace)", "words (whitespace)"),
    "character": ("character", "characters"),
    "grapheme": ("grapheme cluster", "grapheme clusters"),
    "syllable": ("syllable", "syllables"),
    "mora": ("mora", "morae"),
    "gold": ("word (gold)", "words (gold)"),
    "gold_nonpunct": ("word (gold, no punctuation)", "words (gold, no punctuation)"),
}
"""The names of each unit, singular and plural."""

# ISO 639-1 and 639-3 codes.
_SYLLABLES_OF = frozenset("ko kor zh zho cmn yue wuu nan lzh ii iii bo bod dz dzo my mya vi vie".split())
_IN_DICTIONARIES = frozenset("th tha lo lao km khm my mya zh zho cmn yue ja jpn".split())
_UNSPACED = _IN_DICTIONARIES | frozenset("wuu nan lzh".split())
_TIBETAN = frozenset("bo bod dz dzo".split())
_KOREAN = frozenset({"ko", "kor"})


def default_unit(group: str, *, icu: bool | None = None) -> Unit:
    """Return the unit for a group that is named after a language, with or without a region or script.

    Args:
        group: the name of the group.
        icu: ``True`` if the dictionaries of ICU are installed; by default, this is tested.

    >>> default_unit("th", icu=True), default_unit("zho-CN", icu=False), default_unit("ko_KR"), default_unit("fi")
    ('icu', 'character', 'whitespace', 'uax29')
    """
    language = _language(group)
    if language in _IN_DICTIONARIES and (icu_works() if icu is None else icu):
        return "icu"
    if language in _UNSPACED:
        return "character"
    if language in _TIBETAN:
        return "syllable"
    return "whitespace" if language in _KOREAN else "uax29"


def uninstalled(unit: Unit) -> str:
    """Return what a unit needs that is not installed and how to install it, or an empty string if it lacks nothing.

    >>> uninstalled("whitespace")
    ''
    """
    if unit == "icu" and not icu_works():
        return (
            "'icu' needs PyICU, which cannot be imported; type: pip install 'tokbench[icu]' "
            "(on Debian first: apt-get install libicu-dev pkg-config g++), or leave the unit to the language"
        )
    if unit == "mora" and not morae_work():
        return (
            "'mora' needs SudachiPy with its dictionary, which cannot be imported; "
            "type: pip install 'tokbench[morae]', or leave the unit to the language"
        )
    return ""


def foreign(unit: Unit, group: str) -> str:
    """Return the reason why a unit does not fit the language of a group, or an empty string if it fits.

    >>> foreign("mora", "ja"), foreign("syllable", "ko_KR"), foreign("icu", "books")
    ('', '', '')
    >>> foreign("mora", "ko")
    "'ko' is not counted in morae; groups that are: ja, jpn"
    """
    languages = {"syllable": _SYLLABLES_OF, "mora": MORAE_OF}.get(unit)
    if languages is None or _language(group) in languages:
        return ""
    return f"{group!r} is not counted in {UNIT_NAMES[unit][1]}; groups that are: {', '.join(sorted(languages))}"


def _language(group: str) -> str:
    return re.split(r"[-_.]", group.lower(), maxsplit=1)[0]
