"""Finds the fewest rewritings that make both sides equal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Final, Literal

import regex

from tokbench.metrics.roundtrip.causes import LossKind

_WHITE_SPACE: Final = regex.compile(r"[\p{White_Space}\u2581]+")
_CONTROL: Final = regex.compile(r"[[\p{Cc}\p{Cf}\p{Co}\p{Cn}\uFFFD]--\p{White_Space}]+", regex.VERSION1)
_MARKS: Final = regex.compile(r"\p{Mn}+")
_MEMORABLE: Final = 64

_SINGLES: Final = (
    LossKind.NFC,
    LossKind.WHITESPACE,
    LossKind.CONTROL,
    LossKind.NFKC,
    LossKind.ACCENTS,
    LossKind.CASING,
)
"""NFC and NFKC include NFD and NFKD."""

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]


def explain_by_one(text: str, back: str) -> LossKind | None:
    r"""Return the first rewriting that alone explains the change.

    >>> explain_by_one("Ångström", "ångström"), explain_by_one("e\u0301", "é"), explain_by_one("é", "x")
    (<LossKind.CASING: 'casing'>, <LossKind.NFC: 'nfc'>, None)
    """
    causes = _first_of(((cause,) for cause in _SINGLES), text, back)
    return causes[0] if causes else None


def explain(text: str, back: str) -> tuple[LossKind, ...]:
    """Return the fewest rewritings that together explain a change, in the order of tests.

    >>> [cause.value for cause in explain("CAFÉ !", "cafe!")]
    ['whitespace', 'accents', 'casing']
    >>> explain("one", "two")
    ()
    """
    return _remembered(text, back) if len(text) + len(back) <= _MEMORABLE else _explained(text, back)


def _explained(text: str, back: str) -> tuple[LossKind, ...]:
    causes = _first_of(((cause,) for cause in _SINGLES), text, back)
    if causes or not _equal(text, back, _SINGLES):
        return causes
    return _first_of((some for size in range(2, len(_SINGLES)) for some in combinations(_SINGLES, size)), text, back)


_remembered = lru_cache(maxsize=1 << 14)(_explained)


def _first_of(candidates: Iterator[Sequence[LossKind]], text: str, back: str) -> tuple[LossKind, ...]:
    for causes in candidates:
        if _equal(text, back, causes):
            named = _named(text, back, causes)
            if named:
                return named
    return ()


def _equal(text: str, back: str, causes: Sequence[LossKind]) -> bool:
    return _fold(text, causes) == _fold(back, causes)


def _fold(text: str, causes: Sequence[LossKind]) -> str:
    if LossKind.CONTROL in causes:
        text = _CONTROL.sub("", text)
    if LossKind.NFKC in causes:
        text = unicodedata.normalize("NFKD", text)
    elif LossKind.NFC in causes or LossKind.ACCENTS in causes:
        text = unicodedata.normalize("NFD", text)
    if LossKind.ACCENTS in causes:
        text = _MARKS.sub("", text)
    if LossKind.CASING in causes:
        text = text.casefold()
    return _WHITE_SPACE.sub("", text) if LossKind.WHITESPACE in causes else text


def _named(text: str, back: str, causes: Sequence[LossKind]) -> tuple[LossKind, ...]:
    """Add the normal form of ``back``; nothing if ``back`` gained accents or controls."""
    names = []
    for cause in causes:
        name: LossKind | None = cause
        if cause == LossKind.NFC:
            name = _normal_form(back, "NFC", "NFD")
        elif cause == LossKind.NFKC:
            name = _normal_form(back, "NFKC", "NFKD")
        elif cause == LossKind.CONTROL:
            name = cause if _matched_chars(_CONTROL, back) < _matched_chars(_CONTROL, text) else None
        elif cause == LossKind.ACCENTS:
            name = cause if _marks(back) < _marks(text) else None
        if name is None:
            return ()
        names.append(name)
    return tuple(names)


def _normal_form(back: str, *forms: Form) -> LossKind | None:
    return next((LossKind(form.lower()) for form in forms if unicodedata.is_normalized(form, back)), None)


def _matched_chars(pattern: regex.Pattern[str], text: str) -> int:
    return sum(len(run) for run in pattern.findall(text))


def _marks(text: str) -> int:
    return _matched_chars(_MARKS, unicodedata.normalize("NFD", text))
