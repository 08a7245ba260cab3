"""Excerpts that are shown as tokens: a few documents of each group, chosen by hash."""

from __future__ import annotations

import unicodedata
from typing import Final, NamedTuple

from tokbench.corpus.contract import Document

MOST_EXCERPTS: Final = 3
"""Documents per group."""

LONGEST_EXCERPT: Final = 160

_NEAR: Final = 40


class Excerpt(NamedTuple):
    """A part of a document that is shown."""

    mark: str
    """The document's hash, hexadecimal; the smallest of a group are shown."""
    origin: str
    text: str
    whole: bool
    """Whether it is the whole document."""


class Excerpts:
    """Chooses the documents with the smallest hashes of each group; translations share a hash."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[bytes, Excerpt]] = {}

    def add(self, document: Document, mark: bytes) -> None:
        """Of two documents with one hash the first counts."""
        kept = self._kept.setdefault(document.group, {})
        if mark in kept or (len(kept) == MOST_EXCERPTS and mark > max(kept)):
            return
        kept[mark] = _excerpt(document, mark)  # at once, so that no whole document is kept
        if len(kept) > MOST_EXCERPTS:
            del kept[max(kept)]

    def of(self, group: str) -> list[Excerpt]:
        """Return the smallest hash first."""
        return [excerpt for _, excerpt in sorted(self._kept.get(group, {}).items())]

    def all(self) -> dict[str, list[Excerpt]]:
        return {group: self.of(group) for group in self._kept}


def _excerpt(document: Document, mark: bytes) -> Excerpt:
    """Begin at a line that the hash chooses: first lines are often a licence."""
    text = document.text
    start = int.from_bytes(mark, "big") % (len(text) - LONGEST_EXCERPT) if len(text) > 2 * LONGEST_EXCERPT else 0
    if start:
        start = text.rfind("\n", 0, start) + 1 or start
    shown = cut_excerpt(text, start)
    return Excerpt(mark.hex(), document.origin, shown, shown == text)


def cut_excerpt(text: str, start: int = 0) -> str:
    r"""Return at most 160 characters from ``start``, up to a line end or space nearby; keep up to 40 marks on a letter.

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
    for _ in range(_NEAR):
        if not 0 < at < len(text) or not _goes_on(text, at):
            break
        at -= 1
    return at


def _goes_on(text: str, at: int) -> bool:
    return unicodedata.category(text[at])[0] == "M" or "\u200d" in text[at - 1 : at + 1]
