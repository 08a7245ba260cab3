r"""The rules that say which tokens may span several words.

SuperBPE (Liu et al. 2025, *SuperBPE: Space Travel for Language Models*, arXiv:2503.13423) trains ordinary BPE first,
and then without a split at spaces. The second stage splits at :data:`.patterns.STAGE_TWO`, as
the authors' released scripts do. Its tokens have at most four words, and no colon before a space: prompts often end in
such a colon.

BoundlessBPE (Schmidt et al. 2025, *Boundless Byte Pair Encoding*, arXiv:2504.00178) merges two neighbouring chunks of
the split if each is one token by then. Both must consist of letters with their marks, spaces, underscores and
apostrophes, with at least one letter.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import regex

from tokbench_plugins.bpe import Pair

MOST_WORDS: Final = 4
"""Words per token of SuperBPE."""

_WORDS: Final = regex.compile(r"(?:\p{L}\p{M}*|[ _'’])+")
_LETTER: Final = regex.compile(r"\p{L}")


class BoundlessMerges(NamedTuple):
    """The merges of BoundlessBPE."""

    merges: list[Pair]
    """In order of rank; the merge of rank ``r`` makes id ``256 + r``."""

    supermerges: list[int]
    """The ranks of the merges that join whole chunks, rising."""


def may_cross(token: bytes, most_words: int = MOST_WORDS) -> bool:
    """Return True if the second stage of SuperBPE may make a token.

    >>> [may_cross(token) for token in (b" by the way", b" a b c d", b" a b c d e", b"Answer:", b"Answer: ")]
    [True, True, False, True, False]
    """
    return b": " not in token and len(token.split()) <= most_words


def is_word_like(token: bytes) -> bool:
    r"""Return True if a chunk that is this token may be part of a superword of BoundlessBPE.

    >>> [is_word_like(token) for token in (b" the", b"_name", b"'s", b" ", b".", b"7", b"\xc3")]
    [True, True, True, False, False, False, False]
    """
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return False
    return _WORDS.fullmatch(text) is not None and _LETTER.search(text) is not None
