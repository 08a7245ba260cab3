"""The longest words among the tokens of a vocabulary."""

from __future__ import annotations

import re
from typing import Final

from tokbench.plugin import HasDummyPrefix, HasTokenBytes, Tokenizer

__all__ = ["longest_words"]

_WORD: Final = re.compile(rb" ?([A-Za-z][a-z]+)")
_LETTERS: Final = 4
"""Fewer different letters, as in aaaaaaaa, make no word."""

_LARGEST: Final = 1 << 21
"""Vocabularies beyond this are made by a formula, not by training."""


def longest_words(tokenizer: Tokenizer, count: int) -> list[str]:
    """The longest tokens that are words of ASCII letters, each once whatever its first letter's case or space is.

    A token counts only if its text gives that one id back; this text, with its space if it has one, is what is
    returned.

    >>> import tokbench
    >>> longest_words(tokbench.load("utf8_bytes"), 3)
    []
    """
    assert isinstance(tokenizer, HasTokenBytes)
    if tokenizer.vocab_size > _LARGEST:
        return []
    prefix = tokenizer.dummy_prefix.decode() if isinstance(tokenizer, HasDummyPrefix) else ""
    found: list[tuple[int, str, int, str]] = []
    for token_id in range(tokenizer.vocab_size):
        match = _WORD.fullmatch(tokenizer.token_bytes(token_id))
        if match and len(set(match[1].lower())) >= _LETTERS:
            found.append((-len(match[1]), match[1].decode().lower(), token_id, match[0].decode()))
    words: dict[str, str] = {}
    for _, word, token_id, token in sorted(found):
        text = token.removeprefix(prefix)
        if word not in words and list(tokenizer.encode(text)) == [token_id]:
            words[word] = text
        if len(words) == count:
            break
    return list(words.values())
