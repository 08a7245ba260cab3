"""Text from anywhere, made fit to be shown.

Names, reasons and excerpts may hold anything: markup, escape sequences, marks that turn the
direction of writing, halves of surrogate pairs. Each format has its own way to be harmed; what all of
them share is :func:`visible`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["cut", "markdown", "plain", "spreadsheet", "table", "visible"]

# Control, format, surrogate, private, unassigned; line and paragraph separator.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# The open box, not U+2420: it is in far more fonts.
_SPACES = {" ": "␣", "\n": "⏎", "\t": "⇥"}

# An underscore inside a word is no emphasis, so that ids of metrics stay readable in the source.
_MARKUP = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")
_LINE_START = re.compile(r"^(?=[#+\-=])|^(\d+)(?=[.)])")
_FORMULA = tuple("=+-@\uff1d\uff0b\uff0d\uff20")
"""The last four are the full-width ones."""


def visible(text: str, *, spaces: bool = False, keep: str = "") -> str:
    r"""The text with everything in it that a reader could not see, or that acts, written out.

    Args:
        text: anything, lone surrogates too.
        spaces: show white space as well, as in an excerpt where it matters.
        keep: characters to leave as they are, such as the line ends of a listing.

    >>> print(visible("a\u202eb\x1b[31m"))
    a\u{202e}b\u{1b}[31m
    >>> visible("two words\n", spaces=True)
    'two␣words⏎'
    """
    if text.isprintable() and not (spaces and " " in text):
        return text
    return "".join(char if char in keep else _shown(char, spaces=spaces) for char in text)


def _shown(char: str, *, spaces: bool) -> str:
    if spaces and char in _SPACES:
        return _SPACES[char]
    category = unicodedata.category(char)
    # A no-break space looks like a space: told apart only where spaces are looked at.
    if category in _HIDDEN or (spaces and category == "Zs"):
        return f"\\u{{{ord(char):x}}}"
    return char


def cut(text: str, length: int) -> str:
    """The text, or its beginning and an ellipsis.

    >>> cut("gpt4-32k-nfkc", 8)
    'gpt4-32…'
    """
    return text if len(text) <= length else text[: length - 1] + "…"


def plain(value: Any) -> str:
    """A plain value, or a small tree of them, on one line and made visible.

    >>> plain({"pattern": "gpt4", "sizes": [1, 2], "name": None})
    'pattern: gpt4; sizes: [1, 2]; name: none'
    """
    if isinstance(value, dict):
        return "; ".join(f"{visible(str(key))}: {_inner(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_inner(item) for item in value)
    if value is None:
        return "none"
    return visible(value if isinstance(value, str) else json.dumps(value, default=str))


def _inner(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{plain(value)}]"
    return f"({plain(value)})" if isinstance(value, dict) else plain(value)


def markdown(text: str) -> str:
    r"""The text as it must stand in Markdown to be read as it is, in a table too.

    >>> print(markdown("a|b <script> `x` compression_ratio _y_"))
    a\|b &lt;script&gt; \`x\` compression_ratio \_y\_
    """
    # First what cannot be seen, whose own backslash must then be escaped like any other.
    escaped = _MARKUP.sub(r"\\\g<0>", visible(text))
    escaped = escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _LINE_START.sub(lambda match: f"{match[0]}\\", escaped)


def spreadsheet(text: str) -> str:
    """The text as a cell that no spreadsheet takes for a formula.

    >>> spreadsheet("=1+1"), spreadsheet("gpt4")
    ("'=1+1", 'gpt4')
    """
    shown = visible(text)
    return "'" + shown if shown.lstrip().startswith(_FORMULA) else shown


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = ()) -> str:
    """A table of cells that are Markdown already; the columns in ``numbers`` are set to the right."""
    right = set(numbers)
    rule = ["---:" if column in right else "---" for column in range(len(head))]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in [head, rule, *rows])
