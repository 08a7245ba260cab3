"""Texts in which two tokenizers may differ, the shortest ones first."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterator
from itertools import product
from typing import Final

import regex

from tokbench.plugin import HasSpecialTokens, HasTokenBytes, Tokenizer
from tokbench_questions.equal.patterns import every_code_point

_KINDS: Final = "aAzZ019 \n\r\t'.,-_/(\"!{<éßſİЖж中の한กमा़٣Ⅷ½\u0301\u200b\u200d\u00a0\u3000😀€\x00\x85\ue000\ufffd"
"""Characters of all kinds that splits and normalizers know: letters of several scripts, digits, marks, spaces."""

_MAIN: Final = "aA1 \n'.s"
_AROUND: Final = ("{0}{0}", "{0}{0}{0}", "a{0}", "A{0}a", "1{0}", " {0}", "'{0}", "{0}\n", ".{0}")
_LONGEST_RUN: Final = 130
_JOINS: Final = 100_000


def probes(one: Tokenizer, other: Tokenizer) -> Iterator[Iterator[str]]:
    r"""Yield groups of texts to look at; the first has every code point alone.

    >>> import tokbench
    >>> tokenizer = tokbench.load("utf8_bytes")
    >>> next(next(probes(tokenizer, tokenizer)))
    '\x00'
    """
    points = _assigned()
    yield iter(points)
    yield _names(one, other)
    yield map("".join, product(_KINDS, repeat=2))
    yield _decomposed(points)
    yield map("".join, product(_KINDS, repeat=3))
    yield ("".join(some) for size in (4, 5) for some in product(_MAIN, repeat=size))
    yield (kind * size for size in range(4, _LONGEST_RUN) for kind in _KINDS)
    tokens = list(dict.fromkeys([*_texts(one), *_texts(other)]))
    yield iter(tokens)
    yield (f" {token}" for token in tokens)
    yield (place.format(point) for place in _AROUND for point in points)
    yield _joined(tokens)


def _assigned() -> list[str]:
    spans = regex.finditer(r"[^\p{Cn}\p{Co}]+", every_code_point())
    return [char for span in spans for char in span[0]]


def _names(one: Tokenizer, other: Tokenizer) -> Iterator[str]:
    for tokenizer in (one, other):
        yield from tokenizer.special_ids if isinstance(tokenizer, HasSpecialTokens) else ()


def _decomposed(points: list[str]) -> Iterator[str]:
    for form in ("NFD", "NFKD", "NFC", "NFKC"):
        made = ((char, unicodedata.normalize(form, char)) for char in points)
        yield from (text for char, text in made if text != char)


def _texts(tokenizer: Tokenizer) -> Iterator[str]:
    if not isinstance(tokenizer, HasTokenBytes):
        return
    for token_id in range(tokenizer.vocab_size):
        try:
            if text := tokenizer.token_bytes(token_id).decode():
                yield text
        except UnicodeDecodeError:
            continue


def _joined(tokens: list[str]) -> Iterator[str]:
    chosen = random.Random(0)  # noqa: S311 - nothing secret
    yield from (chosen.choice(tokens) + chosen.choice(tokens) for _ in range(_JOINS if tokens else 0))
