"""Texts in which two tokenizers may differ, the shortest ones first."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterator
from itertools import product
from typing import Final, NamedTuple

import regex

from tokbench.plugin import HasSpecialTokens, HasTokenBytes, Tokenizer
from tokbench_questions.equal.patterns import every_code_point

_KINDS: Final = "aAzZ019 \n\r\t'.,-_/(\"!{<éßſİЖж中の한กमा़٣Ⅷ½\u0301\u200b\u200d\u00a0\u3000😀€\x00\x85\ue000\ufffd"
"""Characters of all kinds that splits and normalizers know: letters of several scripts, digits, marks, spaces."""

_MAIN: Final = "aA1 \n'.s"
_AROUND: Final = ("{0}{0}", "{0}{0}{0}", "a{0}", "A{0}a", "1{0}", " {0}", "'{0}", "{0}\n", ".{0}")
_LONGEST_RUN: Final = 130
_JOINS: Final = 100_000


class Probes(NamedTuple):
    """Some texts, and what they are."""

    what: str
    texts: Iterator[str]


def probes(one: Tokenizer, other: Tokenizer) -> Iterator[Probes]:
    """Yield all texts to look at, in groups.

    >>> import tokbench
    >>> tokenizer = tokbench.load("utf8_bytes")
    >>> [group.what for group in probes(tokenizer, tokenizer)][:2]
    ['every code point', 'special tokens as text']
    """
    points = _assigned()
    yield Probes("every code point", iter(points))
    yield Probes("special tokens as text", _names(one, other))
    yield Probes("pairs of kinds of characters", map("".join, product(_KINDS, repeat=2)))
    yield Probes("decomposed characters", _decomposed(points))
    yield Probes("triples of kinds of characters", map("".join, product(_KINDS, repeat=3)))
    yield Probes("four and five characters", (text for k in (4, 5) for text in map("".join, product(_MAIN, repeat=k))))
    yield Probes("runs", (kind * k for k in range(4, _LONGEST_RUN) for kind in _KINDS))
    tokens = list(dict.fromkeys([*_texts(one), *_texts(other)]))
    yield Probes("the text of every id", iter(tokens))
    yield Probes("the text of every id after a space", (f" {token}" for token in tokens))
    yield Probes("every code point next to others", (place.format(c) for place in _AROUND for c in points))
    yield Probes("joins of two tokens", _joined(tokens))


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
