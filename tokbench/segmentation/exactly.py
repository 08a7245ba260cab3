"""Texts that have exactly so many tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from tokbench.foundation.errors import InputError
from tokbench.segmentation.conversations import OWN_TEMPLATE, prompt_tokens, template_of
from tokbench.tokenizers.contract import Tokenizer

_NEAR: Final = 64
"""Characters on either side of the place that bisection finds: tokens may merge back over a few."""
_LONGEST: Final = 1 << 10
"""Characters of a token."""
_ENDS: Final = ("", " a", "\n", ".", " 1", "!", "\n\n", " the", "é", " a.")
"""Ends that change the number of tokens by one, two or three where no part of the text has it."""


def exactly(count: Callable[[str], int], wanted: int, text: str) -> str:
    """Return a beginning of a text, repeated as often as needed, that has exactly so many tokens.

    Where the number jumps over what is wanted, a short end is put behind it.

    Args:
        count: returns the tokens of a text, those of a chat template included if they count.
        wanted: the number of tokens.
        text: what the text is made of.

    Raises:
        InputError: the empty text has more already, or no end leads to the number.

    >>> exactly(lambda text: len(text.split()), 3, "one two ")
    'one two one'
    """
    least = count("")
    if wanted < least:
        raise InputError(f"{wanted:,} tokens are too few: the template alone has {least:,}")
    if wanted == least:
        return ""
    text = text[: wanted * _LONGEST]
    while count(text) < wanted:
        if not text.strip() or len(text) > wanted * _LONGEST:
            raise InputError(f"the text has too few tokens for {wanted:,}, however often it is repeated; give another")
        text += text
    low, high = 0, len(text)
    while low < high:  # the first beginning with at least so many tokens
        middle = (low + high) // 2
        low, high = (middle + 1, high) if count(text[:middle]) < wanted else (low, middle)
    for candidate in _around(text, low):
        if count(candidate) == wanted:
            return candidate
    raise InputError(f"no beginning of the text has exactly {wanted:,} tokens; give another text")


def _around(text: str, place: int) -> Iterator[str]:
    near = range(max(place - _NEAR, 0), min(place + _NEAR, len(text)) + 1)
    whole_words_first = sorted(near, key=lambda at: (text[at : at + 1].strip() != "", abs(at - place)))
    for end in _ENDS:
        yield from (text[:at] + end for at in whole_words_first)


class ExactText:
    """The step of a tokenizer's process that makes a text; with a template it is the user's message.

    >>> import tokbench
    >>> ExactText(8, "Hi, you!", "Mistral")(tokbench.load("utf8_bytes"))
    'Hi, y'
    """

    def __init__(self, wanted: int, text: str, template: str = "", name: str = "") -> None:
        self._wanted, self._text, self._template, self._name = wanted, text, template, name

    def __call__(self, tokenizer: Tokenizer) -> str:
        template = template_of(self._name, tokenizer) if self._template == OWN_TEMPLATE else self._template

        def count(text: str) -> int:
            if not template:
                return len(tokenizer.encode(text))
            return len(prompt_tokens(tokenizer, template, [{"role": "user", "content": text}], reply=True))

        return exactly(count, self._wanted, self._text)
