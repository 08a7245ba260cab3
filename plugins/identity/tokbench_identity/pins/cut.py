"""A text as a tokenizer sees it, and where it is cut, both written to fit a line of a lock.

The *surface* of a text is the bytes of its tokens in a row, mostly the text itself. A *form* names a surface that
simple rules make of the text, so that the lock need not hold any text:

======== ===========================================================
``=``    the text itself
``+``    a space, and then the text, as in most SentencePiece models
``nfc``  a normal form of Unicode; ``nfd``, ``nfkc``, ``nfkd`` and ``lower`` likewise
``+nfc`` a space, and then that
``~ab``  any other: the first digits of its sha256
======== ===========================================================

A *cut* is the number of bytes of each token of the surface: a digit or letter for up to 60, more in parentheses.
"""

from __future__ import annotations

import hashlib
import re
import string
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

KEPT_TOKENS: Final = 96
"""Tokens of a text whose lengths are kept."""

_LENGTHS: Final = string.digits + string.ascii_letters[:-1]
_MORE: Final = "."
_OTHER: Final = "~"
_SPACE: Final = "+"
_FORM_DIGITS: Final = 8

NORMAL_FORMS: Final[Mapping[str, Callable[[str], str]]] = {
    "=": lambda text: text,
    "nfc": lambda text: unicodedata.normalize("NFC", text),
    "nfd": lambda text: unicodedata.normalize("NFD", text),
    "nfkc": lambda text: unicodedata.normalize("NFKC", text),
    "nfkd": lambda text: unicodedata.normalize("NFKD", text),
    "lower": str.lower,
}


def form_of(text: str, surface: bytes) -> str:
    r"""Return the form of a text's surface.

    >>> form_of("né", "né".encode()), form_of("né", " né".encode()), form_of("ne\u0301", "né".encode())
    ('=', '+', 'nfc')
    >>> form_of("hat", b"cap")
    '~45e84635'
    """
    for name, make in NORMAL_FORMS.items():
        made = make(text).encode("utf-8", "replace")
        if surface == made:
            return name
        if surface == b" " + made:
            return _SPACE + name.removeprefix("=")
    return _OTHER + hashlib.sha256(surface).hexdigest()[:_FORM_DIGITS]


def surface_of(text: str, form: str) -> bytes | None:
    r"""Return the surface of a text in a form; ``None`` for a form that is a hash.

    >>> surface_of("né", "+"), surface_of("né", "~12ab34cd")
    (b' n\xc3\xa9', None)
    """
    make = NORMAL_FORMS.get(form.removeprefix(_SPACE) or "=")
    return None if make is None else (b" " if form.startswith(_SPACE) else b"") + make(text).encode("utf-8", "replace")


def is_known(form: str) -> bool:
    """Tell whether :func:`form_of` may return this form.

    >>> is_known("+nfc"), is_known("~45e84635"), is_known("nfx")
    (True, True, False)
    """
    named = {*NORMAL_FORMS, _SPACE, *(_SPACE + name for name in NORMAL_FORMS)}
    return form in named or bool(re.fullmatch(f"{_OTHER}[0-9a-f]{{{_FORM_DIGITS}}}", form))


def write_cut(lengths: Sequence[int]) -> str:
    """Return the lengths of the first tokens of a text; a final dot means more.

    >>> write_cut([1, 12, 60, 61]), write_cut([2] * 100)[-4:]
    ('1cY(61)', '222.')
    """
    kept = lengths[:KEPT_TOKENS]
    written = (_LENGTHS[length] if length < len(_LENGTHS) else f"({length})" for length in kept)
    return "".join(written) + _MORE * (len(lengths) > len(kept))


class Cut(NamedTuple):
    """The cut of a text in a lock."""

    ends: list[int]
    """The byte of the surface at which each kept token ends."""
    whole: bool


def read_cut(written: str) -> Cut:
    """Return a cut that :func:`write_cut` wrote.

    Raises:
        ValueError: it is malformed.

    >>> read_cut("1c(61).")
    Cut(ends=[1, 13, 74], whole=False)
    """
    lengths = written.removesuffix(_MORE)
    if not re.fullmatch(rf"(?:[{_LENGTHS}]|\([0-9]{{1,18}}\))*", lengths):
        raise ValueError(f"{written[:40]!r} are not lengths of tokens")
    parts = re.findall(rf"([{_LENGTHS}])|\(([0-9]+)\)", lengths)
    ends = accumulate(_LENGTHS.index(digit) if digit else int(number) for digit, number in parts)
    return Cut(list(ends), not written.endswith(_MORE))
