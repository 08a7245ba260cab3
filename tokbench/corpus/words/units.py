"""The units in which words are counted.

UAX #29 finds boundaries around every letter in scripts without spaces: the default there is ``icu`` with PyICU, else
``character``, a letter or digit with its combining marks. Tibetan and Dzongkha mark syllables.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from tokbench.corpus.words.icu import icu_works

Unit = Literal["uax29", "icu", "whitespace", "character", "grapheme", "syllable", "gold", "gold_nonpunct"]

CountedUnit = Unit | Literal["pretoken"]
"""Pre-tokens are the words of tables of counts."""

UNIT_NAMES: Final[dict[CountedUnit, tuple[str, str]]] = {
    "uax29": ("word (UAX #29)", "words (UAX #29)"),
    "icu": ("word (ICU)", "words (ICU)"),
    "whitespace": ("word (whitespace)", "words (whitespace)"),
    "character": ("character", "characters"),
    "grapheme": ("grapheme cluster", "grapheme clusters"),
    "syllable": ("syllable", "syllables"),
    "gold": ("word (gold)", "words (gold)"),
    "gold_nonpunct": ("word (gold, no punctuation)", "words (gold, no punctuation)"),
    "pretoken": ("pre-token", "pre-tokens"),
}
"""Singular and plural."""

# ISO 639-1 and 639-3 codes.
_SYLLABLES_OF = frozenset("ko kor zh zho cmn yue wuu nan lzh ii iii bo bod dz dzo my mya vi vie".split())
_IN_DICTIONARIES = frozenset("th tha lo lao km khm my mya zh zho cmn yue ja jpn".split())
_UNSPACED = _IN_DICTIONARIES | frozenset("wuu nan lzh".split())
_TIBETAN = frozenset("bo bod dz dzo".split())
_KOREAN = frozenset({"ko", "kor"})


def default_unit(group: str, *, icu: bool | None = None) -> Unit:
    """Return the unit for a group named after a language, with or without region or script.

    >>> default_unit("th", icu=True), default_unit("zho-CN", icu=False), default_unit("ko_KR")
    ('icu', 'character', 'whitespace')
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
    """Return what a unit lacks and how to install it; empty if nothing."""
    if unit == "icu" and not icu_works():
        return (
            "'icu' needs PyICU, which cannot be imported; type: pip install 'tokbench[icu]' "
            "(on Debian first: apt-get install libicu-dev pkg-config g++), or leave the unit to the language"
        )
    return ""


def foreign(unit: Unit, group: str) -> str:
    """Return why a unit does not match the language of a group; empty if it does.

    >>> foreign("syllable", "ko"), foreign("syllable", "en").partition(";")[0]
    ('', "'en' is not counted in syllables")
    """
    if unit != "syllable" or _language(group) in _SYLLABLES_OF:
        return ""
    return f"{group!r} is not counted in syllables; groups that are: {', '.join(sorted(_SYLLABLES_OF))}"


def _language(group: str) -> str:
    return re.split(r"[-_.]", group.lower(), maxsplit=1)[0]
