"""The contract of a corpus source: the documents that it reads, and what a plugin registers for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from tokbench.tokenizers.options import Options


class Gold(NamedTuple):
    """The words that people marked in one text; positions are in code points.

    >>> Gold(words=((0, 4), (4, 5)), punctuation=(False, True), morphemes=(3,))  # "cats!"
    Gold(words=((0, 4), (4, 5)), punctuation=(False, True), morphemes=(3,))
    """

    words: tuple[tuple[int, int], ...]
    """``(start, end)`` of each word, in order and without overlap."""
    punctuation: tuple[bool, ...]
    """For each word, ``True`` if it is punctuation."""
    morphemes: tuple[int, ...] | None = None
    """The positions inside words where one morpheme ends and the next begins, rising; ``None`` if nobody marked
    morphemes."""


class Document(NamedTuple):
    """One text."""

    text: str
    """The text, which is valid Unicode: it has no lone surrogates."""
    group: str
    """The language, programming language or other part of the corpus to which it belongs."""
    key: str
    """Its name inside its group; translations of one another have the same key."""
    origin: str
    """The place where a person finds it, such as ``en.txt:12``."""
    gold: Gold | None = None
    """The words that people marked in it; either all documents of a corpus have them, or none."""
    parallel_key: str = ""
    """The name that it shares with its translations; empty if that is its key."""
    line_end: str = ""
    """The line ends that follow it in its file: tokenizers are trained with them, and measured without."""


class Source(Protocol):
    """An opened corpus. It can be read any number of times, and gives the same documents each time.

    It may also have ``notes``, strings that a reader of the results must know, and :class:`HasFiles`. A run sets
    ``document_limit`` of a source that has it: the bytes of the longest document, which reading must not go beyond.
    """

    @property
    def licence(self) -> str:
        """The licence of the texts; empty if it is not known."""

    def documents(self) -> Iterator[Document]:
        """Yield all documents in a fixed order.

        Raises:
            InputError: a file is missing or is not UTF-8; the message gives the place.
        """


@runtime_checkable
class HasFiles(Protocol):
    """A source whose documents rest on its options and on some files, and on nothing else.

    A later run does not read these files again as long as path, size, time and inode of each are the same.
    """

    @property
    def files(self) -> Sequence[Path]:
        """All files, in the order in which they are read; none if they are copies that every run makes anew."""


@dataclass(frozen=True, kw_only=True)
class CorpusSpec:
    """The description of a corpus source, which a plugin registers."""

    name: str
    """The word after ``source:`` in a configuration."""
    summary: str
    """One line for ``tokbench list``."""
    open: Callable[[Any], Source]
    """``open(options) -> Source``; raises :class:`~tokbench.foundation.errors.InputError` if there is no such
    corpus."""
    options: type[Options] = Options
    """The options class."""
