"""The contract of metrics that keep documents to look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable


class DocumentExample(NamedTuple):
    """A document of a group that a report shows."""

    number: int
    """How many documents of the group come before it."""
    origin: str
    """Such as ``news.txt:12``."""
    tokens: int
    bytes: int
    """In UTF-8; of the whole document, as the tokens."""
    excerpt: str

    @property
    def tokens_per_byte(self) -> float:
        """The number of tokens for a byte of text.

        >>> DocumentExample(0, "x.txt:1", tokens=6, bytes=4, excerpt="text").tokens_per_byte
        1.5
        """
        return self.tokens / self.bytes


@runtime_checkable
class FindsWorstDocuments(Protocol):
    """A text metric that can show the documents of which a tokenizer makes the most tokens."""

    def worst(self, state: Any, /) -> Sequence[DocumentExample]:
        """Return a few documents of a group, the one with the most tokens per byte first."""
