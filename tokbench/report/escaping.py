"""Functions that make any text safe to show.

Names, reasons and excerpts may hold markup, escape sequences, bidirectional marks or lone surrogates. Every format
applies :func:`visible`, then escapes its own markup.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any, Final

from tokbench.foundation.visible_text import visible

# An underscore inside a word does not begin emphasis, so that ids of metrics stay readable in the source.
_MARKUP = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")
_LINE_START = re.compile(r"^(?=[#+\-=])|^(\d+)(?=[.)])")
_FORMULA = tuple("=+-@\uff1d\uff0b\uff0d\uff20")


def cut(text: str, length: int) -> str:
    """Return the text, cut to ``length`` characters with an ellipsis.

    >>> cut("gpt4-32k-nfkc", 8)
    'gpt4-32…'
    """
    return text if len(text) <= length else text[: length - 1] + "…"


def plain(value: Any) -> str:
    """Return a value, or a small tree of values, as one visible line.

    >>> plain({"pattern": "gpt4", "sizes": [1, 2], "name": None})
    'pattern: gpt4; sizes: [1, 2]; name: none'
    """
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
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


def markdown_text(text: str, *, begins: bool = True) -> str:
    r"""Return the text escaped for Markdown, in a table too.

    With ``begins`` it may start a line, where a number with a full stop begins a list.

    >>> print(markdown_text("a|b <script> `x` compression_ratio _y_"))
    a\|b &lt;script&gt; \`x\` compression_ratio \_y\_
    """
    # Hidden characters are written out first: the backslashes of that must be escaped like any other.
    escaped = _MARKUP.sub(r"\\\g<0>", visible(text))
    escaped = escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _LINE_START.sub(lambda match: f"{match[0]}\\", escaped) if begins else escaped


_LATEX: Final = str.maketrans(
    {
        **{char: f"\\{char}" for char in "#$%&_{}"},
        **{char: f"{{{char}}}" for char in "[]*-"},
        "\\": r"\textbackslash{}",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "`": r"\textasciigrave{}",
        "'": r"\textquotesingle{}",
        '"': r"{''}",
        "†": r"$\dagger$",
        "‡": r"$\ddagger$",
        "⊕": r"$\oplus$",
        "×": r"$\times$",
        "≡": r"$\equiv$",
        "–": "--",
        "…": r"\ldots{}",
    }
)


_ACCENTS: Final = frozenset("\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327")
_LATIN: Final = frozenset("ßæÆœŒøØłŁı¡¿§·“”’—•°")


def latex_text(text: str) -> str:
    r"""Return the text escaped for LaTeX, in a table too.

    Letters for which pdfLaTeX has no font are arguments of ``\tokbenchchar``, with their code.

    >>> print(latex_text("100 % of a_b & \\end{x} é Ж"))
    100 \% of a\_b \& \textbackslash{}end\{x\} é \tokbenchchar{Ж}{U+0416}
    """
    return "".join(map(_latex_char, visible(text)))


def _latex_char(char: str) -> str:
    escaped = char.translate(_LATEX)
    base, *marks = list(unicodedata.normalize("NFD", char))
    known = base.isascii() and len(marks) < 2 and _ACCENTS.issuperset(marks) and char < "\u0180"  # noqa: PLR2004 - one
    return escaped if escaped != char or known or char in _LATIN else rf"\tokbenchchar{{{char}}}{{U+{ord(char):04X}}}"


def spreadsheet_text(text: str) -> str:
    """Return the text as a cell that no spreadsheet takes for a formula.

    >>> spreadsheet_text("=1+1"), spreadsheet_text("gpt4")
    ("'=1+1", 'gpt4')
    """
    shown = visible(text)
    return "'" + shown if shown.lstrip().startswith(_FORMULA) else shown


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = ()) -> str:
    """Return a table of Markdown cells; the columns in ``numbers`` are right-aligned."""
    right = set(numbers)
    rule = ["---:" if column in right else "---" for column in range(len(head))]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in [head, rule, *rows])
