"""Writes out what cannot be seen, or what acts on a terminal: names of files and texts may hold anything."""

from __future__ import annotations

import unicodedata

# Control, format, surrogate, private, unassigned; line and paragraph separator.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# The open box is in far more fonts than U+2420.
_SPACES = {" ": "␣", "\n": "⏎", "\t": "⇥"}


def visible(text: str, *, spaces: bool = False, keep: str = "") -> str:
    r"""Return the text with every character written out that cannot be seen or that acts on a terminal or page.

    Args:
        text: any text, with lone surrogates too.
        spaces: whether to show white space as well, as in an excerpt where it matters.
        keep: characters to leave as they are, such as the line ends of a listing.

    >>> print(visible("a\u202eb\x1b[31m"))
    a\u{202e}b\u{1b}[31m
    >>> visible("two words\n", spaces=True)
    'two␣words⏎'
    """
    if text.isprintable() and not (spaces and " " in text):
        return text
    return "".join(char if char in keep else _written_out(char, spaces=spaces) for char in text)


def _written_out(char: str, *, spaces: bool) -> str:
    if spaces and char in _SPACES:
        return _SPACES[char]
    category = unicodedata.category(char)
    # A no-break space looks like a space, which matters only where spaces are shown.
    if category in _HIDDEN or (spaces and category == "Zs"):
        return f"\\u{{{ord(char):x}}}"
    return char
