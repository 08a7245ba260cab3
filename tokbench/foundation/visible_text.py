"""Escapes invisible characters, and those that act on a terminal."""

from __future__ import annotations

import unicodedata

# Control, format, surrogate, private, unassigned; line and paragraph separator.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# The open box is in far more fonts than U+2420.
_SPACES = {" ": "␣", "\n": "⏎", "\t": "⇥"}


def visible(text: str, *, spaces: bool = False, keep: str = "") -> str:
    r"""Escape every character that is invisible or acts on a terminal or page.

    Args:
        text: any text, also with lone surrogates.
        spaces: show white space as well.
        keep: characters to leave, such as line ends.

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
