r"""Checks that a regular expression means the same to the ``regex`` package and to another library's engine.

``tokenizers`` splits with Oniguruma, where ``{1,3}+`` repeats, ``$`` ends a line, and ``\w`` does not hold ``²``. So
only constructs known to agree are allowed. ``tiktoken`` splits with Rust's ``fancy-regex``, which agrees but for
classes in classes, the other case of ``i`` and ``ss``, and empty matches, at which it panics.
"""

from __future__ import annotations

import re
from typing import Final

import regex

from tokbench_plugins.bpe.patterns import resolve_pattern

# One construct each; a whole expression is a sequence of them. In a class '[' and '&&' are set operations
# to one engine and letters to the other; so are '--', '||' and '~~'.
_ESCAPE = r"\\(?:[pP]\{\^?(?!(?i:word|xdigit|is))[A-Za-z_]+\}|[sSdDrntfv]|x[0-7][0-9A-Fa-f]|u[0-9A-Fa-f]{4}|[^\w\s])"
_CLASS = rf"\[\^?(?:{_ESCAPE}|(?!&&|--|\|\||~~)[^\[\]\\])+\]"
_QUANTIFIER = r"(?:[*+?][?+]?|\{\d+(?:\}(?!\?)|,\d*\}\??)(?!\+))"
_SHARED: Final = re.compile(
    rf"(?:{_ESCAPE}|{_CLASS}|{_QUANTIFIER}|\((?:\?(?:i?:|<?[=!]|>)|(?!\?))|\)|\||[^\\\[\](){{}}*+?^$|])", re.DOTALL
)
_IN_CLASS: Final = re.compile(r"\\.|\[\^?\]?(?:\\[^hH]|(?!&&|--|\|\||~~)[^\[\]\\])*(?P<other>[^\]])?", re.DOTALL)
_FOLDED: Final = re.compile(r"\(\?i(?::(?P<group>[^)]*)|\)(?P<rest>.*))", re.DOTALL)
_OTHER_CASES: Final = re.compile(r"\[(?![a-hj-z]+\])|[\\(]|i|ss|st|ff", re.IGNORECASE)


def _check_everywhere(pattern: str) -> None:
    """Refuse what every two engines do differently: to go on from an empty match, and the other case of letters."""
    if regex.match(pattern, "") is not None:
        raise ValueError("it matches no text, from which engines go on differently or not at all; write + for *")
    for match in _FOLDED.finditer(pattern):
        text = match["group"] or match["rest"] or ""
        if _OTHER_CASES.search(text):
            raise ValueError(f"engines differ in the other cases of {text[:20]!r}; write out both cases")


def check_tiktoken_dialect(pattern: str) -> None:
    r"""Refuse an expression that tiktoken's engine might read differently from ``regex``.

    >>> check_tiktoken_dialect(r"\p{N}{1,3}+|\w+|\W")
    >>> check_tiktoken_dialect(r"[\p{L}&&[^a-z]]+|.")
    Traceback (most recent call last):
    ValueError: tiktoken's engine reads a class with '&' in it differently; write (?!...) before a simple class
    """
    for match in _IN_CLASS.finditer(pattern):
        if match["other"]:
            raise ValueError(
                f"tiktoken's engine reads a class with {match['other']!r} in it differently; "
                "write (?!...) before a simple class"
            )
        if match[0] in {r"\h", r"\H", r"\Z"}:
            raise ValueError(f"tiktoken's engine reads {match[0]} differently; write a class, or $")
    _check_everywhere(pattern)
    from tiktoken import Encoding  # late: 20 ms that few need

    try:
        Encoding("", pat_str=pattern, mergeable_ranks={bytes([k]): k for k in range(256)}, special_tokens={})
    except ValueError as error:
        raise ValueError(f"tiktoken's engine refuses it: {' '.join(str(error).split())}") from error


def check_shared_dialect(pattern: str) -> None:
    r"""Refuse an expression that might split text differently in Hugging Face's engine.

    >>> check_shared_dialect(r" ?\p{L}+|\p{N}{1,3}|\s+(?!\S)")
    >>> check_shared_dialect(r"\p{N}{1,3}+|\w")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: Hugging Face's engine may read the pattern differently from character 5 on: '{1,3}+|\\w'; write ...
    """
    resolve_pattern(pattern)
    _check_everywhere(pattern)
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
