r"""The pre-tokenization split: a regular expression cuts text into chunks that no merge crosses.

Without a split, BPE spends its vocabulary on phrases: ``of the`` becomes one token. The named patterns:

``gpt2``
    GPT-2: contractions in lower case only, numbers of any length, a space joins the word after it.
``gpt4``
    GPT-4 (``cl100k_base``): contractions in any case, at most three digits, any single character but a letter, a
    digit or a line break may open a word.
``o200k``
    GPT-4o (``o200k_base``): words also break where small letters turn into capitals, marks stay with
    their letters, contractions stay with their words.

Any other regular expression in the dialect of the ``regex`` package will do (``\p{L}``, possessive quantifiers). Its
matches may leave gaps; tiktoken drops them and loses text, here each gap is a chunk. Named patterns leave no gaps.
"""

from __future__ import annotations

from typing import Final

import regex

from tokbench.foundation.errors import did_you_mean
from tokbench.tokenizers.batch import valid_unicode

_O200K_SUFFIX: Final = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"


PATTERNS: Final[dict[str, str]] = {
    "gpt2": (r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"),
    "gpt4": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}"
        r"| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
    ),
    "o200k": (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + _O200K_SUFFIX + "|"
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + _O200K_SUFFIX + "|"
        r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
}

_KANA: Final = "[一-龥\u3040-ヿ]"


def _deepseek() -> str:
    """Cut at numbers, then around Han and Kana, then what is left: no match goes on behind an earlier cut."""
    kana, other = f"(?={_KANA})", f"(?!{_KANA})"
    words, signs = r"(?:{0}[^\r\n\p{{L}}\p{{P}}\p{{S}}\p{{N}}])?(?:{0}[\p{{L}}\p{{M}}])+", r"(?:{0}[\p{{P}}\p{{S}}])+"
    rest = rf"(?:{kana}[^\p{{L}}\p{{M}}\p{{P}}\p{{S}}])+(?!{kana}[\p{{L}}\p{{M}}])"
    return (
        rf"\p{{N}}{{1,3}}|{words.format(kana)}|{signs.format(kana)}|{rest}|[!-/:-@\[-`{{-~][A-Za-z]+"
        rf"|{words.format(other)}| ?{signs.format(other)}[\r\n]*|\s*[\r\n]+|\s+(?!{other}[^\s\p{{N}}])|\s+"
    )


_NOT_HAN: Final = r"(?:(?!\p{Han})[\p{%s}\p{Lm}\p{Lo}\p{M}])"
_CAPITALS, _SMALL = _NOT_HAN % r"Lu}\p{Lt", _NOT_HAN % "Ll"
PUBLISHED: Final[dict[str, str]] = {
    "tekken": PATTERNS["o200k"].replace(_O200K_SUFFIX, "").replace(r"\p{N}{1,3}", r"\p{N}"),
    "kimi": (
        rf"\p{{Han}}+|[^\r\n\p{{L}}\p{{N}}]?{_CAPITALS}*{_SMALL}+{_O200K_SUFFIX}"
        rf"|[^\r\n\p{{L}}\p{{N}}]?{_CAPITALS}+{_SMALL}*{_O200K_SUFFIX}"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "deepseek": _deepseek(),
    # Gemma's pieces do not go on from a word to the space behind it, or over a line end. It reads U+2581 as a space.
    "gemma": "[ \u2581]*[^ \u2581\n]+|[ \u2581]+|\n+",
}
"""Splits of published vocabularies, in expressions that every engine reads alike; no compiled scanner cuts by them."""
NAMED: Final[dict[str, str]] = {**PATTERNS, **PUBLISHED}
"""Every split that has a name."""

WORDS: Final = r"[^ \r\n]+|[ \r\n]+"
"""Words between spaces and line ends, where SentencePiece splits whatever its normalization is."""

STAGE_TWO: Final = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"
"""The split of SuperBPE's second stage, and of its encoder; what is between two matches is a chunk, too."""

_LINES: Final = r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_AS_NAMED: Final = {
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s": "gpt2",
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s": "gpt4",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+" + _LINES: "gpt4",
}
"""How tiktoken and published files write the named splits, where it differs.

tiktoken leaves white space at the end of a text in one chunk with a line end before it. No token of its vocabularies
has both, so the ids are the same.
"""

SPLIT_NAMES: Final = ", ".join(NAMED)
"""For descriptions of options."""


def resolve_pattern(pattern: str) -> str:
    r"""Return the regular expression of a name, or ``pattern`` itself if it can split text.

    >>> resolve_pattern(r"\w+|\W+")
    '\\w+|\\W+'
    >>> resolve_pattern("gpt-4")
    Traceback (most recent call last):
    ValueError: unknown split pattern 'gpt-4'; did you mean 'gpt4'?
    >>> resolve_pattern(r"\w+|(\W+")
    Traceback (most recent call last):
    ValueError: '\\w+|(\\W+' is not a regular expression: missing ) at position 8
    """
    if pattern in NAMED:
        return NAMED[pattern]
    # As an expression a bare word would match nothing but itself: it must be a name, misspelled.
    if regex.fullmatch(r"[\w.-]*", pattern):
        raise ValueError(f"unknown split pattern {pattern!r}; {did_you_mean(pattern, NAMED)}")
    _compile(pattern)
    return pattern


def pattern_name(pattern: str) -> str:
    """Return the name of a pattern that has one, otherwise the expression itself.

    >>> pattern_name(PATTERNS["gpt4"]), pattern_name("[ab]+")
    ('gpt4', '[ab]+')
    """
    return next((name for name, known in NAMED.items() if known == pattern), pattern)


def as_named(pattern: str) -> str:
    r"""Return the named expression that cuts every text like a published one, or the published one itself.

    >>> pattern_name(as_named(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"))
    'gpt2'
    """
    return PATTERNS[_AS_NAMED[pattern]] if pattern in _AS_NAMED else pattern


def _compile(pattern: str) -> regex.Pattern[str]:
    try:
        compiled = regex.compile(pattern)
        compiled.search("")  # some flags are refused only here
    except (regex.error, ValueError, RecursionError, OverflowError) as error:
        raise ValueError(f"{pattern!r} is not a regular expression: {error}") from error
    if compiled.flags & regex.REVERSE:
        raise ValueError(f"{pattern!r} searches backwards; leave the flag (?r) out")
    return compiled


class Splitter:
    """Cuts texts into chunks; the chunks joined are the text.

    >>> Splitter("gpt2")("Far   away, in 2024")
    ['Far', '  ', ' away', ',', ' in', ' 2024']
    >>> Splitter("[a-z]+")("some words")
    ['some', ' ', 'words']
    >>> Splitter(None)("some words")
    ['some words']
    """

    def __init__(self, pattern: str | None) -> None:
        self.pattern = None if pattern is None else resolve_pattern(pattern)
        self._compiled = None if self.pattern is None else _compile(self.pattern)

    def __call__(self, text: str) -> list[str]:
        text = valid_unicode(text)
        if self._compiled is None:
            return [text] if text else []
        if not self._compiled.groups:  # with groups, findall returns these instead of the matches
            chunks: list[str] = self._compiled.findall(text)
            # Matches never overlap, so nothing is left out if their lengths add up to the length of the text.
            if sum(map(len, chunks)) == len(text):
                return chunks if all(chunks) else [chunk for chunk in chunks if chunk]
        return self._split_with_gaps(self._compiled, text)

    @staticmethod
    def _split_with_gaps(compiled: regex.Pattern[str], text: str) -> list[str]:
        chunks: list[str] = []
        end = 0
        for match in compiled.finditer(text):
            chunks += (text[end : match.start()], match[0])
            end = match.end()
        chunks.append(text[end:])
        return [chunk for chunk in chunks if chunk]
