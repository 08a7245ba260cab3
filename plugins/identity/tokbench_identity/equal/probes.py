"""Texts in which two tokenizers may differ, the shortest ones first."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product
from typing import Final

import regex

from tokbench.plugin import HasSpecialTokens, Tokenizer
from tokbench_identity.equal.patterns import every_code_point
from tokbench_identity.mutants.pieces import SOME_KINDS, joins, over, pieces_of, texts_of

_AROUND: Final = ("{0}{0}", "{0}{0}{0}", "a{0}", "A{0}a", "1{0}", " {0}", "'{0}", "{0}\n", ".{0}")
_LONGEST_RUN: Final = 130
_MOST: Final = 100_000
_JOINED: Final = 60_000
_BRIDGED: Final = 8


def probes(pair: Sequence[Tokenizer], targeted: Iterable[Iterable[str]]) -> Iterator[str]:
    r"""Yield texts to look at; every code point alone is first, and then those that are targeted at what differs.

    >>> import tokbench
    >>> tokenizer = tokbench.load("utf8_bytes")
    >>> next(probes([tokenizer], []))
    '\x00'
    """
    points = regex.findall(r"[^\p{Cn}\p{Co}\p{Cs}]", every_code_point())
    yield from points
    pieces = pieces_of(pair)
    for texts in targeted:
        first = [*islice(texts, _MOST)]
        yield from first
        yield from over(first[:_BRIDGED], pieces)
    yield from joins(pieces, _JOINED, most=4)
    for tokenizer in pair:
        yield from tokenizer.special_ids if isinstance(tokenizer, HasSpecialTokens) else ()
    yield from map("".join, product(SOME_KINDS, repeat=2))
    for form in ("NFD", "NFKD", "NFC", "NFKC"):
        yield from (text for char in points if (text := unicodedata.normalize(form, char)) != char)
    yield from map("".join, product(SOME_KINDS, repeat=3))
    yield from (kind * size for size in range(4, _LONGEST_RUN) for kind in SOME_KINDS)
    tokens = list(dict.fromkeys(text for tokenizer in pair for text in texts_of(tokenizer)))
    yield from tokens
    yield from (f" {token}" for token in tokens)
    yield from (place.format(point) for place in _AROUND for point in points)
    chosen = random.Random(0)  # noqa: S311 - nothing secret
    yield from ("".join(chosen.choices(tokens, k=2)) for _ in range(_MOST if tokens else 0))
