r"""Checks that a regular expression means the same to the ``regex`` package and to Hugging Face's engine.

``tokenizers`` splits with Oniguruma, where ``{1,3}+`` repeats, ``$`` ends a line, and ``\w`` does not hold ``²``. So
only constructs known to agree are allowed.
"""

from __future__ import annotations

import re
from typing import Final

from tokbench_plugins.bpe.patterns import resolve_pattern

# One construct each; a whole expression is a sequence of them. In a class '[' and '&&' are set operations
# to one engine and letters to the other; so are '--', '||' and '~~'.
_ESCAPE = r"\\(?:[pP]\{\^?[A-Za-z_]+\}|[sSdDrntfv]|x[0-7][0-9A-Fa-f]|u[0-9A-Fa-f]{4}|[^\w\s])"
_CLASS = rf"\[\^?(?:{_ESCAPE}|(?!&&|--|\|\||~~)[^\[\]\\])+\]"
_QUANTIFIER = r"(?:[*+?][?+]?|\{\d+(?:\}(?!\?)|,\d*\}\??)(?!\+))"
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
    position = 0
    while position < len(pattern):
        match = _SHARED.match(pattern, position)
        if match is None:
            raise ValueError(
                "Hugging Face's engine may read the pattern differently from character "
                f"{position} on: {pattern[position : position + 20]!r}; write a{{1,3}}+ as (?>a{{1,3}}) and \\w as "
                "[\\p{L}\\p{N}_], and do without ^, $, \\b, classes within classes and flags other than (?i:...)"
            )
        position = match.end()
