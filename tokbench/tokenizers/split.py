"""Whether the chunks of a split, encoded one by one, are what a tokenizer makes of the whole text."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from typing import Literal
from unicodedata import combining, decomposition, is_normalized

from tokbench.tokenizers.contract import HasSplit, Tokenizer

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]


def why_not_by_chunks(tokenizer: Tokenizer, split: str, chunks: Iterable[str]) -> str:
    """Say why chunks of a split tell nothing of a tokenizer; nothing if they do.

    >>> from tokbench.registry.load import load
    >>> why_not_by_chunks(load("utf8_bytes"), ".", [])
    'chunks of counts say nothing of it: it does not say how it splits text; measure it on the text'
    """
    own = tokenizer.split if isinstance(tokenizer, HasSplit) else None
    if not own:
        why = getattr(tokenizer, "why_no_split", "") or "it does not say how it splits text"
        return f"chunks of counts say nothing of it: {why}; measure it on the text"
    if own != split:
        return f"counts of another split; its own is {own!r}: count with it as --pattern"
    pieces = getattr(tokenizer, "pieces_before_split", ())
    marks = {max(piece, key=lambda char: (not char.isalnum(), char)) for piece in pieces}
    if met := next((mark for chunk in chunks for mark in marks.intersection(chunk)), None):
        known = next(piece for piece in pieces if met in piece)
        return f"some text has {met!r}, and may have {known!r}, which is a piece across chunks; measure it on the text"
    form: Form | None = getattr(tokenizer, "normal_form", None)
    if form and not all(is_normalized(form, chunk) and chunk[:1] not in _joining() for chunk in chunks):
        return f"some text is not in {form}, to which it normalizes whole texts; measure it on the text"
    return ""


@cache
def _joining() -> frozenset[str]:
    """Characters that normalization may join with, or move before, what precedes them."""
    every = list(map(chr, range(sys.maxunicode + 1)))
    parts = (decomposition(char).split() for char in every)
    seconds = {chr(int(pair[1], 16)) for pair in parts if len(pair) == 2 and pair[0][0] != "<"}  # noqa: PLR2004 - canonical
    marks = set(filter(combining, every))
    hangul = map(chr, [*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)])
    return frozenset(seconds | marks | {*hangul})
