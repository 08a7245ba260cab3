"""The likely cause of other ids: the stages that differ, and what the texts show."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final

from tokbench_maintain.pins.cut import Cut, read_cut, surface_of
from tokbench_maintain.pins.encode import EncodedText
from tokbench_maintain.pins.lock import PinnedText, Vocabulary

_AROUND: Final = 24
"""Bytes of text shown before and after a place."""

_LONGEST: Final = 100

_MOST_NAMES: Final = 3


class Cause(StrEnum):
    """The stage that is the likely cause of other ids."""

    SPACE = "added space"
    NORMALIZATION = "normalization"
    SPLIT = "split"
    MERGES = "merges"
    IDS = "ids"
    UNKNOWN = "unknown"


_MEANING: Final[Mapping[Cause, str]] = {
    Cause.SPACE: "an added space: a space is put before a text now, or no longer",
    Cause.NORMALIZATION: "normalization: another text is cut than before",
    Cause.SPLIT: "the split: where cuts differ, letters meet digits, spaces, signs or capitals",
    Cause.MERGES: "merges: cuts differ inside words",
    Cause.IDS: "ids: the same tokens have other ids",
    Cause.UNKNOWN: "not told: the lock does not hold the place where cuts differ",
}


@dataclass(frozen=True)
class TextDifference:
    """The first place where a text is cut differently than its pin."""

    place: str
    cause: Cause
    """Judged by this text alone."""
    byte: int | None
    """The byte of the surface where cuts differ; ``None`` if nowhere, or not pinned."""
    before: tuple[str, ...]
    """The tokens there as pinned; empty if unknown."""
    now: tuple[str, ...]


def difference_of(pinned: PinnedText, encoded: EncodedText) -> TextDifference:
    """Return where and how a text is cut differently.

    >>> pinned, now = PinnedText("c/g/1", "0" * 16, "=", "213"), PinnedText("c/g/1", "1" * 16, "=", "123")
    >>> difference = difference_of(pinned, EncodedText("abcdef", now, (1, 3, 6), b"abcdef"))
    >>> difference.cause.value, difference.byte, difference.before, difference.now
    ('merges', 1, ('ab', 'c', 'def'), ('a', 'bc', 'def'))
    """
    old, new, surface = read_cut(pinned.cut), list(encoded.ends), encoded.surface
    if pinned.form != encoded.now.form:
        before = surface_of(encoded.text, pinned.form)
        at = 0 if before is None else _common_bytes(before, surface)
        then = () if before is None else _pieces(before, old.ends, at, at)
        plain = {form.strip("=+") for form in (pinned.form, encoded.now.form)}
        cause = Cause.SPACE if len(plain) == 1 else Cause.NORMALIZATION
        return TextDifference(pinned.place, cause, at, then, _pieces(surface, new, at, at))
    first = _first_difference(old, new)
    if first is None:
        cause = Cause.IDS if old.whole else Cause.UNKNOWN
        return TextDifference(pinned.place, cause, None, (), _pieces(surface, new, 0, 0))
    again = next((end for end in sorted({*old.ends} & {*new}) if end >= first), max(old.ends[-1:] + new[-1:]))
    cause = _blamed(surface, {*old.ends} ^ {*new}, first, again)
    pieces = [_pieces(surface, ends, first, again) for ends in (old.ends, new)]
    return TextDifference(pinned.place, cause, first, *pieces)


def _first_difference(old: Cut, new: Sequence[int]) -> int | None:
    """Return the first byte where only one of two cuts ends a token."""
    for before, now in zip(old.ends, new, strict=False):
        if before != now:
            return min(before, now)
    if old.whole and len(old.ends) != len(new):
        longer = max(old.ends, list(new), key=len)
        return longer[min(len(old.ends), len(new))]
    return None


def _common_bytes(one: bytes, other: bytes) -> int:
    shorter = min(len(one), len(other))
    return next((k for k in range(shorter) if one[k] != other[k]), shorter)


def _pieces(surface: bytes, ends: Sequence[int], at: int, until: int) -> tuple[str, ...]:
    first, last = max(0, at - _AROUND), until + _AROUND
    spans = [(start, end) for start, end in pairwise([0, *ends]) if end > first and start < last]
    return tuple(surface[start:end].decode("utf-8", "backslashreplace") for start, end in spans)


def _blamed(surface: bytes, differing: set[int], at: int, again: int) -> Cause:
    """Return whether the split or merges explain token ends that only one of two cuts has.

    A split ends tokens where classes of characters meet, and among digits. Merges end them inside words.
    """
    ends = [end for end in differing if at <= end <= again and 0 < end < len(surface)]
    return Cause.SPLIT if ends and all(_classes_meet(surface, end) for end in ends) else Cause.MERGES


def _classes_meet(surface: bytes, at: int) -> bool:
    before = surface[:at].decode("utf-8", "replace")[-1:]
    after = surface[at : at + 8].decode("utf-8", "replace")[:1]
    kinds = _kind(before), _kind(after)
    return kinds[0] != kinds[1] or kinds[0] in {"N", "Z", "P"}


def _kind(char: str) -> str:
    category = unicodedata.category(char)
    if char.isspace():
        return "Z"
    if category[0] in "LM":
        return "Lu" if category == "Lu" else "L"
    return "N" if category[0] == "N" else "P"


def causes(before: Vocabulary, now: Vocabulary, texts: Sequence[TextDifference], *, same_backend: bool) -> list[str]:
    """Return the likely causes in sentences, the stages of the tokenizers first.

    Without ``same_backend`` stages are not compared: backends use different words.
    """
    stages = list(_changed_stages(before, now)) if same_backend else []
    return [*stages, *_changed_ids(before, now, merges=bool(stages)), *_shown_by(texts)]


def _changed_stages(before: Vocabulary, now: Vocabulary) -> Iterator[str]:
    for name in sorted({*before.stages, *now.stages}):
        was, is_ = before.stages.get(name), now.stages.get(name)
        if was != is_:
            yield f"{name}: was {_setting(was)}, now {_setting(is_)}"


def _setting(text: str | None) -> str:
    return "not there" if text is None else repr(text if len(text) <= _LONGEST else f"{text[:_LONGEST]} [...]")


def _changed_ids(before: Vocabulary, now: Vocabulary, *, merges: bool) -> Iterator[str]:
    names = sorted({*before.special, *now.special})
    moved = [name for name in names if before.special.get(name) != now.special.get(name)]
    if moved:
        shown = "; ".join(
            f"{name} was {before.special.get(name, 'not there')}, now {now.special.get(name, 'not there')}"
            for name in moved[:_MOST_NAMES]
        )
        more = f"; and {len(moved) - _MOST_NAMES} more" if len(moved) > _MOST_NAMES else ""
        yield f"special tokens: {shown}{more}"
    if before.ids != now.ids:
        yield f"ids: there were {before.ids:,}, now {now.ids:,}"
    elif before.bytes != now.bytes and not moved and not merges:
        yield "ids: some stand for other bytes than before"


def _shown_by(texts: Sequence[TextDifference]) -> Iterator[str]:
    counts = Counter(text.cause for text in texts)
    for cause, count in counts.most_common():
        yield f"{_MEANING[cause]} ({count} of {len(texts)} texts looked at)"
