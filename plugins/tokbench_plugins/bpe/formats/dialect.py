r"""Checks that a regular expression means the same to the ``regex`` package and to Hugging Face's engine.

``tokenizers`` splits with Oniguruma, where ``{1,3}+`` repeats, ``$`` ends a line, and ``\w`` does not hold ``²``. So
only constructs known to agree are allowed.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

import regex

from tokbench_plugins.bpe.patterns import resolve_pattern

# One construct each; a whole expression is a sequence of them. In a class '[' and '&&' are set operations
# to one engine and letters to the other; so are '--', '||' and '~~'.
_ESCAPE = r"\\(?:[pP]\{\^?[A-Za-z_]+\}|[sSdDrntfv]|x[0-7][0-9A-Fa-f]|u[0-9A-Fa-f]{4}|[^\w\s])"
_CLASS = rf"\[\^?(?:{_ESCAPE}|(?!&&|--|\|\||~~)[^\[\]\\])+\]"
_QUANTIFIER = r"(?:[*+?][?+]?|\{\d+(?:\}(?!\?)|,\d*\}\??)(?!\+))"
_PLANE: Final = 0x10000  # what folds to several characters lies below
_SHARED: Final = re.compile(
    rf"(?:{_ESCAPE}|{_CLASS}|{_QUANTIFIER}|\((?:\?(?:i?:|<?[=!]|>)|(?!\?))|\)|\||[^\\\[\](){{}}*+?^$|])", re.DOTALL
)


def check_shared_dialect(pattern: str) -> None:
    r"""Refuse an expression that might split text differently in Hugging Face's engine.

    >>> check_shared_dialect(r" ?\p{L}+|\p{N}{1,3}|\s+(?!\S)")
    >>> check_shared_dialect(r"\p{N}{1,3}+|\w")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: Hugging Face's engine may read the pattern differently from character 5 on: '{1,3}+|\\w'; write ...
    """
    resolve_pattern(pattern)
    if regex.fullmatch(_without_conditions(pattern), "") is not None:
        raise ValueError(
            f"the pattern {pattern!r} can match nothing at all, and engines differ in how they go on from there; "
            "write + instead of *, and do without ?, where nothing else stands beside it"
        )
    if "(?i" in pattern and (folded := next((s for s in _folded() if s in pattern.casefold()), None)):
        raise ValueError(
            f"where capitals do not matter, Hugging Face's engine reads {folded!r} also as a single character "
            "(such as 'ß' for 'ss'); write both cases out instead of (?i:...)"
        )


def _without_conditions(pattern: str) -> str:
    """Leave out every look ahead or behind."""
    parts: list[str] = []
    is_condition: list[bool] = []
    position = 0
    while position < len(pattern):
        match = _SHARED.match(pattern, position)
        if match is None:
            raise ValueError(
                "Hugging Face's engine may read the pattern differently from character "
                f"{position} on: {pattern[position : position + 20]!r}; write a{{1,3}}+ as (?>a{{1,3}}) and \\w as "
                "[\\p{L}\\p{N}_], and do without ^, $, \\b, classes within classes and flags other than (?i:...)"
            )
        part = match[0]
        if part[0] == "(":
            is_condition.append(part[-1] in "=!")
            part = "(?:(?:" if is_condition[-1] else part
        elif part == ")" and is_condition and is_condition.pop():
            part = "){0})"
        parts.append(part)
        position = match.end()
    return "".join(parts)


@cache
def _folded() -> tuple[str, ...]:
    return tuple(sorted({folded for c in map(chr, range(_PLANE)) if len(folded := c.casefold()) > 1}))
