"""The likely cause of other ids: the stages that differ, and what the texts show."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final

from tokbench_identity.pins.cut import Cut, read_cut, surface_of
from tokbench_identity.pins.lock import PinnedText, PinnedTokenizer, Vocabulary

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
    Cause.UNKNOWN: "unknown: the lock does not cover the place where cuts differ",
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


def difference_of(before: PinnedText, now: PinnedText, text: str) -> TextDifference:
    """Return where and how a text is cut differently.

    >>> before, now = PinnedText("c/g/1", "0" * 16, "=", "213"), PinnedText("c/g/1", "1" * 16, "=", "123")
    >>> difference = difference_of(before, now, "abcdef")
    >>> difference.cause.value, difference.byte, difference.before, difference.now
    ('merges', 1, ('ab', 'c', 'def'), ('a', 'bc', 'def'))
    """
    old, new = read_cut(before.cut), read_cut(now.cut)
    was, surface = surface_of(text, before.form), surface_of(text, now.form)
    if before.form != now.form:
        at = 0 if was is None or surface is None else _common_bytes(was, surface)
        plain = {form.strip("=+") for form in (before.form, now.form)}
        cause = Cause.SPACE if len(plain) == 1 else Cause.NORMALIZATION
        return TextDifference(
            before.place, cause, at, _pieces(was, old.ends, at, at), _pieces(surface, new.ends, at, at)
        )
    first = _first_difference(old, new)
    if first is None:
        cause = Cause.IDS if old.whole and new.whole else Cause.UNKNOWN
        return TextDifference(before.place, cause, None, (), _pieces(surface, new.ends, 0, 0))
    common = sorted({*old.ends} & {*new.ends})
    again = next((end for end in common if end >= first), max(old.ends[-1:] + new.ends[-1:]))
    cause = _blamed(surface or b"", {*old.ends} ^ {*new.ends}, first, again)
    pieces = [_pieces(surface, cut.ends, first, again) for cut in (old, new)]
    return TextDifference(before.place, cause, first, *pieces)


def _first_difference(old: Cut, new: Cut) -> int | None:
    """Return the first byte where only one of two cuts ends a token, as far as both are kept."""
    for before, now in zip(old.ends, new.ends, strict=False):
        if before != now:
            return min(before, now)
    shorter, longer = sorted((old, new), key=lambda cut: len(cut.ends))
    if shorter.whole and len(longer.ends) > len(shorter.ends):
        return longer.ends[len(shorter.ends)]
    return None


def _common_bytes(one: bytes, other: bytes) -> int:
    shorter = min(len(one), len(other))
    return next((k for k in range(shorter) if one[k] != other[k]), shorter)


def _pieces(surface: bytes | None, ends: Sequence[int], at: int, until: int) -> tuple[str, ...]:
    if surface is None:  # the form is a hash
        return ()
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


def updates(before: PinnedTokenizer, now: PinnedTokenizer) -> Iterator[str]:
    """Yield the change of the backend, or else of the versions of its packages.

    >>> versions = ("tiktoken 0.14",), ("tiktoken 0.12",)
    >>> known = [PinnedTokenizer("t", "b", version, {}, Vocabulary(9), ()) for version in versions]
    >>> list(updates(*known)), list(updates(known[0], known[0]))
    (['tiktoken 0.14 → 0.12'], [])
    """
    if before.backend != now.backend:
        yield f"{before.backend} → {now.backend}"
        return
    was, is_ = (dict(package.rsplit(" ", 1) for package in side.packages) for side in (before, now))
    for name in sorted({*was, *is_}):
        if was.get(name) != is_.get(name):
            yield f"{name} {was.get(name, 'not there')} → {is_.get(name, 'not there')}"


def causes(before: Vocabulary, now: Vocabulary, texts: Sequence[TextDifference], *, same_backend: bool) -> list[str]:
    """Return the likely causes in sentences, the stages of the tokenizers first.

    Without ``same_backend`` stages are not compared: backends use different words.
    """
    stages = list(_changed_stages(before, now)) if same_backend else []
    return [*stages, *_changed_ids(before, now, merges=bool(stages)), *_shown_by(texts)]


def _changed_stages(before: Vocabulary, now: Vocabulary) -> Iterator[str]:
    for name in sorted({*before.stages, *now.stages}):
        was, is_ = before.stages.get(name), now.stages.get(name)
        if was is None or is_ is None:
            yield f"{name}: {'could not be read when pinned' if was is None else 'cannot be read now'}"
        elif was != is_:
            yield f"{name}: was {_setting(was)}, now {_setting(is_)}"


def _setting(text: str) -> str:
    return repr(text if len(text) <= _LONGEST else f"{text[:_LONGEST]} [...]")


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
        yield "ids: some have other bytes than before"


def _shown_by(texts: Sequence[TextDifference]) -> Iterator[str]:
    counts = Counter(text.cause for text in texts)
    for cause, count in counts.most_common():
        yield f"{_MEANING[cause]} ({count} of {len(texts)} texts looked at)"
