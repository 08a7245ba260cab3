"""The likely cause of other ids: the stages that differ, and what the texts show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tokbench_identity.causes import Cause, TokenReading, changed_marks, place_of_difference
from tokbench_identity.pins.cut import read_cut, surface_of
from tokbench_identity.pins.lock import PinnedText, PinnedTokenizer, PinnedVocabulary

_LONGEST: Final = 100

_MOST_NAMES: Final = 3


_MEANING: Final[Mapping[Cause, str]] = {
    Cause.SPACE: "an added space: a space is put before a text now, or no longer",
    Cause.NORMALIZER: "normalization: another text is cut than before",
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
    old, new = (_reading(text, pinned) for pinned in (before, now))
    return TextDifference(before.place, *place_of_difference(old, new))


def _reading(text: str, pinned: PinnedText) -> TokenReading:
    ends, whole = read_cut(pinned.cut)
    return TokenReading(surface_of(text, pinned.form), ends, pinned.form, whole)


def updates(before: PinnedTokenizer, now: PinnedTokenizer) -> Iterator[str]:
    """Yield the change of the backend, or else of the versions of its packages.

    >>> versions = ("tiktoken 0.14",), ("tiktoken 0.12",)
    >>> known = [PinnedTokenizer("t", "b", version, {}, PinnedVocabulary(9), ()) for version in versions]
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


def causes(
    before: PinnedVocabulary, now: PinnedVocabulary, texts: Sequence[TextDifference], *, same_backend: bool
) -> list[str]:
    """Return the likely causes in sentences, the stages of the tokenizers first.

    Without ``same_backend`` stages are not compared: backends use different words.
    """
    stages = list(_changed_stages(before, now)) if same_backend else []
    return [*stages, *_changed_ids(before, now, merges=bool(stages)), *_shown_by(texts)]


def _changed_stages(before: PinnedVocabulary, now: PinnedVocabulary) -> Iterator[str]:
    for name in sorted({*before.stages, *now.stages}):
        was, is_ = before.stages.get(name), now.stages.get(name)
        if was is None or is_ is None:
            yield f"{name}: {'could not be read when pinned' if was is None else 'cannot be read now'}"
        elif was != is_:
            yield f"{name}: was {_setting(was)}, now {_setting(is_)}"


def _setting(text: str) -> str:
    return repr(text if len(text) <= _LONGEST else f"{text[:_LONGEST]} [...]")


def _changed_ids(before: PinnedVocabulary, now: PinnedVocabulary, *, merges: bool) -> Iterator[str]:
    moved = [*changed_marks(before.special, now.special)]
    if moved:
        shown = "; ".join(some.between("when pinned", "now") for some in moved[:_MOST_NAMES])
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
