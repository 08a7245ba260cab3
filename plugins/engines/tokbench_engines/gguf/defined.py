"""User-defined tokens as llama.cpp treats them: cut out of a text before anything else happens to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np

from tokbench.plugin import Encoded, from_lists

_LINE_ENDS = re.compile(r"\n+")
_SPACES = " \t\n\v\f\r"


class GgufPart(NamedTuple):
    """A part of a text."""

    start: int
    text: str
    token: int | None = None
    """Its id, if the text is one token."""


@dataclass(frozen=True)
class Defined:
    """The tokens that are cut out of a text, the longest first, wherever they are.

    >>> [part.text for part in Defined({"ab": 300, "bcd": 301}).cut("abcd, ab")]
    ['a', 'bcd', ', ', 'ab']
    """

    ids: Mapping[str, int] = field(default_factory=dict)
    strips: Collection[str] = ()
    """The tokens that take the white space after them, too."""
    line_ends: Mapping[str, int] = field(default_factory=dict)
    """Runs of line ends that are a token, as whole runs only."""

    @cached_property
    def _by_size(self) -> list[re.Pattern[str]]:
        sizes = groupby(sorted(filter(None, self.ids), key=_size, reverse=True), key=_size)
        return [re.compile("|".join(map(re.escape, names))) for _, names in sizes]

    @cached_property
    def _any(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, filter(None, self.ids))) or "(?!)")

    def cut(self, text: str) -> list[GgufPart]:
        """Return the parts of a text in order."""
        parts = [GgufPart(0, text)] if text else []
        if self.ids and self._any.search(text):
            for pattern in self._by_size:
                parts = [piece for part in parts for piece in self._pieces(part, pattern, self.ids)]
        if self.line_ends:
            parts = [piece for part in parts for piece in self._pieces(part, _LINE_ENDS, self.line_ends)]
        return parts

    def _pieces(self, part: GgufPart, pattern: re.Pattern[str], ids: Mapping[str, int]) -> Iterator[GgufPart]:
        if part.token is not None:
            yield part
            return
        start, text, _ = part
        end = 0
        for match in pattern.finditer(text):
            if (token := ids.get(match[0])) is None or match.start() < end:
                continue
            if end < match.start():
                yield GgufPart(start + end, text[end : match.start()])
            yield GgufPart(start + match.start(), match[0], token)
            end = match.end()
            if match[0] in self.strips:
                end = len(text) - len(text[end:].lstrip(_SPACES))
        if end < len(text):
            yield GgufPart(start + end, text[end:])


def _size(name: str) -> int:
    return len(name.encode())


def encode_parts(rows: Iterable[list[GgufPart]], encode_batch: Callable[[Sequence[str]], Encoded]) -> Encoded:
    """Encode the parts of many texts, in one batch all that are not a token."""
    rows = list(rows)
    encoded = encode_batch([part.text for parts in rows for part in parts if part.token is None])
    if len(encoded.offsets) == 1 + sum(map(len, rows)):
        return Encoded(encoded.ids, encoded.offsets[np.cumsum([0, *map(len, rows)])])
    ids, spans = encoded.ids.tolist(), pairwise(encoded.offsets.tolist())
    return from_lists(
        [
            [i for part in parts for i in (ids[slice(*next(spans))] if part.token is None else (part.token,))]
            for parts in rows
        ]
    )
