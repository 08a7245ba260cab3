"""The family ``robustness``: tokens of changed texts."""

from __future__ import annotations

import random
import re
import unicodedata
import zlib
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin import Document
from tokbench.plugin.metrics import TOKEN_PLACES, Basis, EncodedShard, Metric, Shard, counted, shard_bytes, token_ends
from tokbench_research import Counts, encoded_again

Kind = Literal[
    "typos",
    "case",
    "diacritics",
    "homoglyphs",
    "zero_width",
    "spaces",
    "trailing",
    "nfd",
    "line_ends",
    "ocr",
    "transliteration",
]

PERCENT: Final = 10
"""Of the places are changed."""

_SEED: Final = 1

_ROWS: Final = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_ZERO_WIDTH: Final = "\u200b"
_LOOK_ALIKES: Final = dict(zip("aceopxyiABCEHKMOPTX", "асеорхуіАВСЕНКМОРТХ", strict=True))  # noqa: RUF001 - Cyrillic


def _neighbours() -> dict[str, str]:
    places = {letter: (row, column) for row, letters in enumerate(_ROWS) for column, letter in enumerate(letters)}
    neighbours = {}
    for letter, (row, column) in places.items():
        near = [other for other, (r, c) in places.items() if abs(r - row) + abs(c - column) == 1]
        neighbours[letter] = "".join(near)
        neighbours[letter.upper()] = "".join(near).upper()
    return neighbours


_NEIGHBOURS: Final = _neighbours()


def _without_marks(char: str, _: float) -> str:
    parts = unicodedata.normalize("NFD", char)
    return "".join(part for part in parts if not unicodedata.combining(part)) or char


def _swapped(char: str, _: float) -> str:
    swapped = char.swapcase()
    return swapped if len(swapped) == 1 else char


_MISREAD_GROUPS: Final = (
    *("rn m", "in m", "cl d", "vv w", "li h", "b h", "ri n", "n u", "ii u", "c e", "v y"),
    *("0 O", "1 l I", "2 Z", "5 S", "6 G", "B R", "F P"),
)
"""Letters and digits that optical character recognition mistakes.

Our choice, from unicharambigs(5) of Tesseract (m, rn) and "OCR villains" of the MobileRead wiki.
"""


def _misread() -> dict[str, list[str]]:
    misread: dict[str, list[str]] = {}
    for group in map(str.split, _MISREAD_GROUPS):
        for part in group:
            misread.setdefault(part, []).extend(other for other in group if other != part)
    return misread


_MISREAD: Final = _misread()
_MISREAD_PARTS: Final = re.compile("|".join([*sorted(part for part in _MISREAD if len(part) > 1), "."]), re.DOTALL)

_CYRILLIC: Final = (
    "а a б b в v г g ґ g̀ ѓ ǵ д d ђ đ е e ё ë є ê ж ž з z ѕ ẑ и i і ì ї ï й j ј ǰ к k ќ ḱ л l љ l̂ м m н n њ n̂ о o п p "  # noqa: RUF001
    "р r с s т t ћ ć у u ў ŭ ф f х h ц c ч č џ d̂ ш š щ ŝ ъ ʺ ы y ь ʹ э è ю û я â"  # noqa: RUF001
)
"""Slavic letters and their Latin letters: ISO 9:1995, table 1."""

_GREEK: Final = "α a β v γ g δ d ε e ζ z η ī θ th ι i κ k λ l μ m ν n ξ x ο o π p ρ r σ s ς s τ t υ y φ f χ ch ψ ps ω ō"  # noqa: RUF001
"""Greek letters and their Latin letters: ELOT 743 (2001), which is ISO 843:1997, type 1."""

_GREEK_MARKED: Final = "άέήίόύώϊϋΐΰ"
_TONOS: Final = "\u0301"


def _latin() -> dict[str, str]:
    words = unicodedata.normalize("NFC", f"{_CYRILLIC} {_GREEK}").split()
    latin = dict(zip(words[::2], words[1::2], strict=True))
    for letter in _GREEK_MARKED:
        plain, marks = unicodedata.normalize("NFD", letter)[0], unicodedata.normalize("NFD", letter)[1:]
        latin[letter] = unicodedata.normalize("NFC", latin[plain] + marks)
    for first in "αεο":
        for second, mark in (("υ", ""), ("ύ", _TONOS)):  # noqa: RUF001
            latin[first + second] = unicodedata.normalize("NFC", f"{latin[first]}u{mark}")
    return latin


_LATIN: Final = _latin()
_GREEK_PARTS: Final = re.compile("[αεοΑΕΟ][υύΥΎ]|.", re.DOTALL)


def _transliterated(part: str, _: float) -> str:
    latin = _LATIN.get(part.lower())
    if latin is None or part.islower():
        return latin or part
    return latin.upper() if len(part) > 1 and part.isupper() else latin[0].upper() + latin[1:]


class Perturbation(NamedTuple):
    """A way to change a text."""

    title: str
    change: Callable[[str, float], str]
    """Gets a part and a random number from 0 to 1; returns the replacement."""
    parts: Callable[[str], Iterable[str]] = iter
    """Returns the parts that may change."""
    without: str = ""
    """Why documents without such a part do not count; empty if they count."""


PERTURBATIONS: Final[Mapping[Kind, Perturbation]] = {
    "typos": Perturbation(
        "letters from a to z become a neighbour on a QWERTY keyboard",
        lambda char, pick: _NEIGHBOURS[char][int(pick * len(_NEIGHBOURS[char]))] if char in _NEIGHBOURS else char,
    ),
    "case": Perturbation("capitals become small letters, and small letters capitals", _swapped),
    "diacritics": Perturbation("letters lose their combining marks", _without_marks),
    "homoglyphs": Perturbation(
        "Latin letters become Cyrillic letters that look alike", lambda char, _: _LOOK_ALIKES.get(char, char)
    ),
    "zero_width": Perturbation(
        "a zero-width space (U+200B) follows a letter", lambda char, _: char + _ZERO_WIDTH * char.isalpha()
    ),
    "spaces": Perturbation("spaces are doubled", lambda char, _: "  " if char == " " else char),
    "trailing": Perturbation("a space comes before the end of a line", lambda char, _: " \n" if char == "\n" else char),
    "nfd": Perturbation("characters are decomposed (NFD)", lambda char, _: unicodedata.normalize("NFD", char)),
    "line_ends": Perturbation("line ends become CR LF", lambda char, _: "\r\n" if char == "\n" else char),
    "ocr": Perturbation(
        "letters, digits and pairs of letters become others that optical character recognition takes them for",
        lambda part, pick: _MISREAD[part][int(pick * len(_MISREAD[part]))] if part in _MISREAD else part,
        _MISREAD_PARTS.findall,
    ),
    "transliteration": Perturbation(
        "Cyrillic and Greek letters become Latin ones (ISO 9, ELOT 743)",
        _transliterated,
        _GREEK_PARTS.findall,
        without="no document has a Cyrillic or Greek letter to transliterate",
    ),
}


def perturbed(text: str, kind: Kind, percent: int = PERCENT) -> list[str] | None:
    r"""Return what replaces each character of a text; ``None`` if it has no place to change.

    Changes depend only on text and kind. Where several characters are changed together, the first has the whole
    replacement and the others are empty.

    >>> perturbed("a b", "spaces", 100)
    ['a', '  ', 'b']
    >>> perturbed("dé", "diacritics", 100), "".join(perturbed("dé", "case", 100))
    (['d', 'e'], 'DÉ')
    >>> perturbed("one\ntwo", "line_ends", 0) == list("one\ntwo")
    True
    >>> perturbed("clod 5", "ocr", 100)
    ['d', '', 'o', 'cl', ' ', 'S']
    >>> "".join(perturbed("Щука, Аўто, Ευρώπη", "transliteration", 100))
    'Ŝuka, Aŭto, Eurṓpī'
    """
    way, found = PERTURBATIONS[kind], False
    draw = random.Random(f"{_SEED}:{kind}:{zlib.crc32(text.encode())}").random  # noqa: S311 - no secret
    parts: list[str] = []
    for part in way.parts(text):
        place, instead = 100 * draw(), way.change(part, draw())
        found |= instead != part
        parts += [instead, *[""] * (len(part) - 1)] if instead != part and place < percent else part
    return parts if found else None


class _Changed(NamedTuple):
    shard: Shard
    moved: NDArray[np.int64]
    """The changed byte at which each original character begins; -1 if an earlier one replaces it."""
    counted: NDArray[np.int64]


def count_changed(encoded: EncodedShard, _: object) -> Counts:
    """Count tokens and boundaries of each document after each change."""
    values = {"tokens": encoded.tokens}
    for kind, way in PERTURBATIONS.items():
        changed = encoded.shard.cached(("changed", kind), partial(_change, encoded.shard, kind))
        after = EncodedShard(encoded.loaded, changed.shard, encoded_again(encoded.tokenizer, changed.shard.texts))
        boundaries, kept = _boundaries(encoded, after, changed)
        values |= {kind: after.tokens * changed.counted, f"{kind} boundaries": boundaries, f"{kind} kept": kept}
        if way.without:
            values |= {f"{kind} documents": changed.counted, f"{kind} tokens": encoded.tokens * changed.counted}
    return values


def _change(shard: Shard, kind: Kind) -> _Changed:
    changed = [perturbed(text, kind) for text in shard.texts]
    parts = [list(text) if new is None else new for text, new in zip(shard.texts, changed, strict=True)]
    documents = [Document("".join(part), shard.group, str(k), "") for k, part in enumerate(parts)]
    lengths = np.fromiter((len(piece.encode()) for part in parts for piece in part), dtype=np.int64)
    moved = np.where(lengths > 0, np.cumsum(lengths) - lengths, -1)
    all_count = not PERTURBATIONS[kind].without
    counted = np.array([all_count or new is not None for new in changed], dtype=np.int64)
    return _Changed(Shard("changed", shard.group, 0, documents, by_key=False), moved, counted)


def _boundaries(
    encoded: EncodedShard, after: EncodedShard, changed: _Changed
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count boundaries between characters before the change, and after; characters changed together lose theirs."""
    shard, count = encoded.shard, len(encoded.shard)
    ends, aligned = token_ends(encoded)
    changed_ends, changed_aligned = token_ends(after)
    starts = np.flatnonzero((shard_bytes(shard) & 0xC0) != 0x80)  # noqa: PLR2004 - 10xxxxxx continues a character
    documents = np.repeat(np.arange(count), shard.n_chars)
    counts = aligned & changed_aligned & (changed.counted > 0)
    inner = counts[documents] & ~np.isin(starts, shard.byte_offsets)
    boundary = inner & np.isin(starts, ends)
    kept = boundary & np.isin(changed.moved, changed_ends)
    return np.bincount(documents[boundary], minlength=count), np.bincount(documents[kept], minlength=count)


def _metrics(kind: Kind, way: Perturbation) -> tuple[Metric, Metric]:
    done = f"{way.title}." + (" Documents without such a letter do not count." if way.without else "")
    basis = Basis(f"{kind} documents", way.without) if way.without else None
    needed = Metric(
        f"robust_{kind}_{PERCENT}",
        "ratio",
        "lower",
        of=(kind, f"{kind} tokens" if way.without else "tokens"),
        basis=basis,
    )
    kept = Metric(
        f"robust_{kind}_kept_{PERCENT}",
        "share of boundaries",
        "higher",
        of=(f"{kind} kept", f"{kind} boundaries"),
        basis=basis,
        needs=TOKEN_PLACES,
    )
    return (
        needed.means(
            "Σ tokens of the changed documents / Σ tokens of the documents",
            f"The growth of a text of which {PERCENT}% of the places are changed: {done}",
        ),
        kept.means(
            "token boundaries between characters that the changed document has, too / token boundaries",
            f"The share of token boundaries that stay if {PERCENT}% of the places are changed: {done}",
        ),
    )


SPEC: Final = counted(
    "robustness",
    "tokens and boundaries under typos, capitals, look-alikes, invisible characters, OCR, transliteration",
    count_changed,
    *(metric for kind, way in PERTURBATIONS.items() for metric in _metrics(kind, way)),
    by_script=True,
)
