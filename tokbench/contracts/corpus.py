"""What a corpus source gives, and what a plugin registers for one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from tokbench.contracts.options import Options

__all__ = ["CorpusSpec", "Document", "Gold", "Source"]


class Gold(NamedTuple):
    """What people marked in one text; positions are in code points.

    Attributes:
        words: ``(start, end)`` of each word, in order and without overlap.
        punctuation: for each word, whether it is punctuation.
        morphemes: where inside words a morpheme ends and another begins, rising; ``None`` where nobody
            marked them.
    """

    words: tuple[tuple[int, int], ...]
    punctuation: tuple[bool, ...]
    morphemes: tuple[int, ...] | None = None


class Document(NamedTuple):
    """One text.

    Attributes:
        text: the text; valid Unicode (no lone surrogates).
        group: the language, programming language or other slice it belongs to.
        key: what it is called inside its group; translations of one another share their key.
        origin: where a person finds it, such as ``en.txt:12``.
        gold: the words that people marked in it; all documents of a corpus have them, or none.
    """

    text: str
    group: str
    key: str
    origin: str
    gold: Gold | None = None


class Source(Protocol):
    """An opened corpus; it can be gone through any number of times and is the same each time."""

    @property
    def licence(self) -> str:
        """The licence of the texts, or ``""`` if nobody said."""

    def documents(self) -> Iterator[Document]:
        """All documents, in a fixed order.

        Raises:
            InputError: a file is missing or is not UTF-8, with the place.
        """


@dataclass(frozen=True, kw_only=True)
class CorpusSpec:
    """What a plugin registers for one source.

    Attributes:
        name: the word after ``source:`` in a configuration.
        summary: one line for ``tokbench list``.
        open: ``open(options) -> Source``; raises :class:`~tokbench.errors.InputError`.
        options: the options class.
    """

    name: str
    summary: str
    open: Callable[[Any], Source]
    options: type[Options] = Options
