"""Compares a document with its decoded text."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple
from unicodedata import is_normalized, normalize

import regex

from tokbench.measuring.align import Hunk, first_difference, hunks
from tokbench.metrics.roundtrip.causes import LossContext, LossKind
from tokbench.metrics.roundtrip.folds import explain, explain_by_one

_MARKERS: Final = (
    *("<s>", "</s>", "<pad>", "<unk>", "<bos>", "<eos>", "<mask>", "<sep>", "<cls>"),
    *("[CLS]", "[SEP]", "[PAD]", "[MASK]", "[UNK]", "[BOS]", "[EOS]", "[INST]", "[/INST]"),
)
_STAND_INS: Final = range(0x10F000, 0x10FFFE)
_WHITE_SPACE: Final = regex.compile(r"\p{White_Space}")
_UNEXPLAINED: Final = (LossKind.OTHER,)
_UNKNOWN: Final = (LossKind.UNKNOWN,)
_NEAR: Final = 4
_MOST_EXPLAINED: Final = 50

_ORDER: Final = {cause: number for number, cause in enumerate(LossKind)}


class LossFinding(NamedTuple):
    """A document and its decoded text."""

    cause: LossKind
    """Of the first difference."""
    causes: frozenset[LossKind]
    """Of all differences."""
    position: int
    lost_spaces: int
    """Missing white-space code points."""


def compare(text: str, back: str, context: LossContext = LossContext()) -> LossFinding:  # noqa: B008 - immutable
    """Return the place and causes of the differences of two unequal texts.

    If the ids have the text's bytes: the decoder. Else the one rewriting that makes both sides equal (in the order of
    :class:`LossKind`). Else each changed stretch is tested for the unknown token, the fewest rewritings, invalid bytes,
    and special tokens.

    >>> change = compare("Déjà vu ?", "deja vu?")
    >>> change.cause.value, sorted(cause.value for cause in change.causes), change.position, change.lost_spaces
    ('accents', ['accents', 'casing', 'whitespace'], 0, 1)
    """
    laid = _laid(text, back)
    start, causes, lost_spaces = _changes(laid, back, context)
    position = first_difference(text, back)
    if context.data is not None and context.data == text.encode("utf-8", "surrogatepass"):
        return LossFinding(LossKind.DECODER, frozenset({LossKind.DECODER}), position, lost_spaces)
    alone = explain_by_one(text, back)
    if alone:
        return LossFinding(alone, frozenset({alone}), position, lost_spaces)
    if laid != text:
        causes.insert(0 if _decomposed_first(text, laid, start) else len(causes), (LossKind.NFD,))
    return LossFinding(causes[0][0], frozenset(cause for some in causes for cause in some), position, lost_spaces)


def _laid(text: str, back: str) -> str:
    """Decompose the text if ``back`` is decomposed, as jamo are."""
    if is_normalized("NFC", back) or not is_normalized("NFD", back):
        return text
    return normalize("NFD", text)


def _decomposed_first(text: str, laid: str, start: int) -> bool:
    """Tell whether text before ``start`` was decomposed, and not only the character there."""
    first = first_difference(text, laid)
    return first + len(normalize("NFD", text[first])) <= start


def _causes(gone: str, came: str, context: LossContext) -> tuple[LossKind, ...]:
    unknown = None if context.unknown is None else context.unknown.strip()
    if unknown and came.count(unknown) > gone.count(unknown):
        return _UNKNOWN
    rewritten = explain(gone, came)
    if rewritten:
        return tuple(sorted(rewritten, key=_ORDER.__getitem__))
    if came.count("\ufffd") > gone.count("\ufffd") or any("\ud800" <= char <= "\udfff" for char in gone):
        return (LossKind.INVALID_BYTES,)
    if _swallowed(gone, came, context.special):
        return (LossKind.SPECIAL_TOKEN,)
    # An unknown token that decodes to nothing leaves no other trace.
    return _UNKNOWN if unknown == "" and len(came) < len(gone) else _UNEXPLAINED


class _Changes(NamedTuple):
    start: int
    causes: list[tuple[LossKind, ...]]
    lost_spaces: int


def _changes(text: str, back: str, context: LossContext) -> _Changes:
    """Explain the first 50 stretches of a shortest edit; retry one without a cause with its neighbour."""
    text, back, names = _with_stand_ins(text, back, context)
    table = str.maketrans(names)
    unknown = next((stand_in for stand_in, name in names.items() if name == (context.unknown or "").strip()), None)

    def causes(hunk: Hunk) -> tuple[LossKind, ...]:
        gone, came = text[hunk.start : hunk.end], back[hunk.back_start : hunk.back_end]
        if unknown and unknown in came:  # which the text has nowhere
            return _UNKNOWN
        return _causes(gone.translate(table), came.translate(table), context)

    explained: list[tuple[Hunk, tuple[LossKind, ...]]] = []
    lost_spaces = 0
    for hunk in hunks(text, back):
        if hunk.end > hunk.start:
            lost_spaces += len(_WHITE_SPACE.findall(text, hunk.start, hunk.end))
        if len(explained) >= _MOST_EXPLAINED:
            continue
        why = causes(hunk)
        if explained and hunk.start - explained[-1][0].end <= _NEAR and _UNEXPLAINED in {why, explained[-1][1]}:
            joined = explained[-1][0]._replace(end=hunk.end, back_end=hunk.back_end)
            together = causes(joined)
            if together != _UNEXPLAINED:
                explained[-1] = joined, together
                continue
        explained.append((hunk, why))
    start = explained[0][0].start if explained else len(text)
    return _Changes(len(text[:start].translate(table)), [why for _, why in explained], lost_spaces)


def _with_stand_ins(text: str, back: str, context: LossContext) -> tuple[str, str, dict[str, str]]:
    """Replace names by single characters, whose letters cannot match."""
    free = (chr(code) for code in _STAND_INS if chr(code) not in text and chr(code) not in back)
    names: dict[str, str] = {}
    if context.unknown and context.unknown.strip() and context.unknown.strip() not in text:
        stand_in = next(free)
        names[stand_in] = context.unknown.strip()
        back = back.replace(context.unknown, stand_in).replace(context.unknown.strip(), stand_in)
    for name in _swallowed(text, back, context.special):
        stand_in = next(free)
        names[stand_in] = name
        text, back = text.replace(name, stand_in), back.replace(name, stand_in)
    return text, back, names


def _swallowed(text: str, back: str, special: tuple[str, ...]) -> list[str]:
    names = dict.fromkeys(_names(special).findall(text))
    one, other = (_squeezed(text), _squeezed(back)) if names else ("", "")
    return [name for name in names if one.count(_squeezed(name)) > other.count(_squeezed(name))]


def _squeezed(text: str) -> str:
    return _WHITE_SPACE.sub("", text.casefold())


@lru_cache(maxsize=64)
def _names(special: tuple[str, ...]) -> regex.Pattern[str]:
    known = sorted({name for name in (*special, *_MARKERS) if name and not any(map(str.isspace, name))}, key=len)
    return regex.compile(r"<\|[^\s<>|]+\|>|" + "|".join(map(regex.escape, reversed(known))))
