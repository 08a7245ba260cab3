"""Excerpts of documents that are shown as tokens: a few of each group, chosen by a hash of their text."""

from __future__ import annotations

import unicodedata
from typing import Final, NamedTuple

from tokbench.corpus.contract import Document

MOST_EXCERPTS: Final = 3
"""The number of documents of a group whose excerpts are kept."""

LONGEST_EXCERPT: Final = 160
"""Characters of an excerpt."""

_NEAR: Final = 40
"""Characters within which the end of a line, a space or the letter of a mark is looked for."""


NO_BOUND: Final = b"\xff" * 9
"""A value above all hashes."""


class Excerpt(NamedTuple):
    """A part of a document that is shown."""

    mark: str
    """The hash by which the document was chosen, in hexadecimal digits: the smallest of a group are taken."""
    origin: str
    """The place where a person finds the document."""
    text: str
    """The excerpt, at most 160 characters."""
    whole: bool
    """``True`` if it is the whole document."""


class Excerpts:
    """Chooses documents of each group: those with the smallest hashes, wherever they stand.

    A hash prefers no document, and nobody can choose a text for it. Translations of one another have a hash in common,
    so that all groups of a parallel corpus show the same sentences.

    >>> chosen = Excerpts()
    >>> for number, mark in enumerate((b"9", b"1", b"5", b"3")):
    ...     chosen.add(Document(f"text {number}", "en", str(number), f"c:{number}"), mark)
    >>> [excerpt.origin for excerpt in chosen.of("en")]
    ['c:1', 'c:3', 'c:2']
    """

    def __init__(self) -> None:
        self._kept: dict[str, dict[bytes, Excerpt]] = {}
        self.bounds: dict[str, bytes] = {}
        """By group, the hash from which on no document of it is taken any more; a group that has fewer documents than
        are kept is not there."""

    def add(self, document: Document, mark: bytes) -> None:
        """Look at the next document; of two with one hash the first counts."""
        if mark >= self.bounds.get(document.group, NO_BOUND):
            return
        kept = self._kept.setdefault(document.group, {})
        if mark not in kept:
            kept[mark] = _excerpt(document, mark)  # at once, so that no whole document is kept
        if len(kept) > MOST_EXCERPTS:
            del kept[max(kept)]
        if len(kept) == MOST_EXCERPTS:
            self.bounds[document.group] = max(kept)

    def of(self, group: str) -> list[Excerpt]:
        """Return the excerpts of a group, the smallest hash first."""
        return [excerpt for _, excerpt in sorted(self._kept.get(group, {}).items())]

    def all(self) -> dict[str, list[Excerpt]]:
        """Return the excerpts by group."""
        return {group: self.of(group) for group in self._kept}


def _excerpt(document: Document, mark: bytes) -> Excerpt:
    """Return a part of a document: from a line on that the hash chooses, because first lines are often a licence."""
    text = document.text
    start = int.from_bytes(mark, "big") % (len(text) - LONGEST_EXCERPT) if len(text) > 2 * LONGEST_EXCERPT else 0
    if start:
        start = text.rfind("\n", 0, start) + 1 or start
    shown = cut_excerpt(text, start)
    return Excerpt(mark.hex(), document.origin, shown, shown == text)


def cut_excerpt(text: str, start: int = 0) -> str:
    r"""Return at most 160 characters of a text, from a character on; no mark is parted from its letter.

    It ends after the end of a line or a space, if there is one near. Of more than 40 marks in a row some may be parted.

    >>> cut_excerpt("a word " * 100)[-12:]
    'rd a word a '
    >>> len(cut_excerpt("x" * 200, 150)), len(cut_excerpt("xe\u0301", 2))
    (50, 2)
    """
    start = _whole(text, start)
    end = start + LONGEST_EXCERPT
    if end >= len(text):
        return text[start:]
    gap = text.rfind("\n", end - _NEAR, end) + 1 or text.rfind(" ", end - _NEAR, end) + 1
    whole = _whole(text, end)
    return text[start : gap or (whole if whole > start else end)]


def _whole(text: str, at: int) -> int:
    """Return the place, or the one before it where a letter or an emoji begins whose marks stand there."""
    for _ in range(_NEAR):
        if not 0 < at < len(text) or not _goes_on(text, at):
            break
        at -= 1
    return at


def _goes_on(text: str, at: int) -> bool:
    return unicodedata.category(text[at])[0] == "M" or "\u200d" in text[at - 1 : at + 1]
