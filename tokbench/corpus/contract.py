"""The contract of a corpus source: the documents that it reads, and what a plugin registers for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

from tokbench.foundation.errors import InputError, Problem
from tokbench.tokenizers.backend import CountsFile
from tokbench.tokenizers.options import Options


class Gold(NamedTuple):
    """Words that people marked in one text, in code points: ``Gold(((0, 4), (4, 5)), (False, True), (3,))`` of cats."""

    words: tuple[tuple[int, int], ...]
    """``(start, end)`` of each word, in order and without overlap."""
    punctuation: tuple[bool, ...]
    morphemes: tuple[int, ...] | None = None
    """The positions inside words where a morpheme ends, rising; ``None`` if not marked."""


class Document(NamedTuple):
    """One text."""

    text: str
    """Without lone surrogates."""
    group: str
    """The language or other part of the corpus."""
    key: str
    """Unique in its group; translations share it."""
    origin: str
    """Such as ``en.txt:12``."""
    gold: Gold | None = None
    """All documents of a corpus have it, or none."""
    parallel_key: str = ""
    """The name shared with translations; empty if that is the key."""
    line_end: str = ""
    """The line ends that follow it in its file; only training uses them."""


class Source(Protocol):
    """An opened corpus: every reading gives the same documents.

    It may have ``notes`` for readers of the results, :class:`HasFiles`, and what a run sets: ``document_limit``, the
    bytes of the longest document, and ``parallel``, whether its groups are translations.
    """

    @property
    def licence(self) -> str:
        """Empty if not known."""

    def documents(self) -> Iterator[Document]:
        """Yield all documents in a fixed order, or raise InputError with the place of what cannot be read."""


@runtime_checkable
class HasFiles(Protocol):
    """A source of files, whose sizes show how far reading has come."""

    @property
    def files(self) -> Sequence[Path]:
        """In reading order; none if every run makes new copies."""


class CountedChunk(NamedTuple):
    """A pre-token of a table of counts."""

    text: str
    times: int
    group: str
    part: int
    """Of the text, for intervals."""


@runtime_checkable
class HasCounts(Protocol):
    """A source of counts of pre-tokens, which yields no documents."""

    @property
    def counts(self) -> CountsFile:
        """The table."""

    @property
    def groups(self) -> Mapping[str, int]:
        """The number of chunks of each group."""

    def chunks(self) -> Iterator[CountedChunk]:
        """Yield all chunks in a fixed order."""


@dataclass(frozen=True, kw_only=True)
class CorpusSpec:
    """What a plugin registers for a corpus source."""

    name: str
    """The word after ``source:`` in a configuration."""
    summary: str
    """One line for ``tokbench list``."""
    open: Callable[[Any], Source]
    """Raises :class:`~tokbench.foundation.errors.InputError` if the corpus does not exist."""
    options: type[Options] = Options


DOCUMENT_LIMIT: Final = 256 * 10**6
"""Bytes in UTF-8."""


def too_long(where: str, most: int) -> InputError:
    """Return the error about a document that begins at ``where`` and has more than ``most`` bytes.

    >>> print(too_long("a.txt.gz:7", 256 * 10**6))
    a.txt.gz:7: a document of more than 256 MB; cut it into smaller ones, or allow more with 'limits: {document: 512MB}'
    """
    more = f"allow more with 'limits: {{document: {2 * most // 10**6}MB}}'"
    message = f"a document of more than {most // 10**6} MB; cut it into smaller ones, or {more}"
    return InputError([Problem(where, message)])
