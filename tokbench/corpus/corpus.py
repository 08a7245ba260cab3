"""A corpus of a run: its source, its summary, and its parts for training and for evaluation."""

from __future__ import annotations

import hashlib
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from pathlib import Path
from types import NoneType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.contract import Document, HasCounts, HasFiles, Source
from tokbench.corpus.document_limit import DOCUMENT_LIMIT, too_long
from tokbench.corpus.excerpts import Excerpt, Excerpts
from tokbench.corpus.shards import Shard, shards, shards_of_counts
from tokbench.foundation.errors import InputError, Problem
from tokbench.foundation.failures import Failure, attempt
from tokbench.foundation.plain_values import plain
from tokbench.tokenizers.backend import CountsFile
from tokbench.tokenizers.contract import HasNotes

_USUAL: Final = (str, str, str, str, NoneType, str, str)

_DOCUMENT_BYTES: Final = 256
_GOLD_WORD_BYTES: Final = 160

_PROGRESS_BYTES: Final = 4 << 20


def fingerprint(text: str) -> int:
    """Return 64 bits of a hash, which identifies a document."""
    return int.from_bytes(_mark(text.encode()), "big")


def _mark(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=8).digest()


def _memory(document: Document) -> int:
    words = len(document.gold.words) if document.gold else 0
    return sys.getsizeof(document.text) + _DOCUMENT_BYTES + words * _GOLD_WORD_BYTES


def _shared_key(document: Document) -> str:
    return document.parallel_key or document.key


class DocumentHash:
    """The sha256 of group, key and text of documents, in order, with a NUL after each."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def add(self, document: Document, data: bytes) -> None:
        """Add the next document; ``data`` is its text in UTF-8."""
        if document.line_end.strip("\n"):  # CRLF, or blanks in an empty line; how many lines end is in the keys
            self._digest.update(document.line_end.encode())
        self._digest.update(f"{document[1]}\0{document[2]}\0".encode())
        self._digest.update(data)
        self._digest.update(b"\0")

    def hexdigest(self) -> str:
        return self._digest.hexdigest()


class _FirstDocuments:
    """Hashes the first documents of each group; without a limit, takes all."""

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._taken: Counter[str] = Counter()
        self.documents = 0
        self.digest = DocumentHash()

    def take(self, document: Document, data: bytes) -> bool:
        if self._limit is None:
            return True
        if self._taken[document.group] >= self._limit:
            return False
        self._taken[document.group] += 1
        self.documents += 1
        self.digest.add(document, data)
        return True

    @property
    def found(self) -> tuple[int, str]:
        """How many documents were taken, and their hash."""
        return self.documents, self.digest.hexdigest()


class _KeptDocuments:
    """Keeps documents in at most ``room`` bytes of memory, or none."""

    def __init__(self, room: int) -> None:
        self._room = room
        self.documents: list[Document] | None = []
        self.n_bytes = 0

    def add(self, document: Document) -> None:
        if self.documents is None:
            return
        self.documents.append(document)
        self.n_bytes += _memory(document)
        if self.n_bytes > self._room:
            self.documents, self.n_bytes = None, 0


@dataclass
class Survey:
    """The summary of a corpus, from one pass over it."""

    sha256: str = ""
    """Of group, key and text of all documents, in order."""
    limited_sha256: str = ""
    """Without the documents beyond a limit."""
    documents: int = 0
    """In ``limited_sha256``."""
    bytes: int = 0
    """In UTF-8."""
    evaluated_bytes: int = 0
    groups: dict[str, int] = field(default_factory=dict)
    """Evaluated documents by group, in order of appearance."""
    evaluated: dict[str, NDArray[np.uint64]] = field(default_factory=dict)
    """Fingerprints by group."""
    trained: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    """Fingerprints of documents for training."""
    excerpts: dict[str, list[Excerpt]] = field(default_factory=dict)
    """By group, of evaluated documents."""


def _numbers(marks: bytearray) -> NDArray[np.uint64]:
    return np.frombuffer(marks, dtype=">u8").astype(np.uint64)


class Reading:
    """The texts of one reading of some corpora; on an error it ends early.

    Args:
        readings: documents by corpus.
        with_groups: write the group before each text, for :func:`group_and_text`.
    """

    def __init__(self, readings: Mapping[str, Iterator[Document]], *, with_groups: bool = False) -> None:
        self._readings = readings
        self._with_groups = with_groups
        self.failures: dict[str, Failure] = {}
        """By corpus: unreadable, or changed since the survey."""

    def __iter__(self) -> Iterator[str]:
        for name, documents in self._readings.items():
            while True:
                document = attempt(lambda documents=documents: next(documents, None))  # type: ignore[misc]
                if isinstance(document, Failure):
                    self.failures[name] = document
                    return
                if document is None:
                    break
                text, group = document[:2]
                yield f"{len(group)}:{group}{text}" if self._with_groups else text


def group_and_text(line: str) -> tuple[str, str]:
    """Split a line of a :class:`Reading` with groups.

    >>> group_and_text("2:enhat")
    ('en', 'hat')
    """
    length, _, rest = line.partition(":")
    return rest[: int(length)], rest[int(length) :]


class Corpus:
    """A source under its name in a run.

    With ``holdout``, a share of the documents, chosen by a hash of the text or of the key that translations share, is
    evaluated, and the rest is for training. With ``limit``, only the first documents of each group are read for either.

    Readings are hashed: documents that differ from the survey end them with an error.
    """

    def __init__(
        self,
        name: str,
        source: Source,
        *,
        holdout: float = 0.0,
        parallel: bool = False,
        limit: int | None = None,
        document_limit: int = DOCUMENT_LIMIT,
    ) -> None:
        if hasattr(source, "document_limit"):
            source.document_limit = document_limit
        self._sha256 = ""
        self._kept: list[Document] | None = None
        self.kept_bytes = 0
        self._first = self._first_trained = (0, "")
        self.name = name
        self.source = source
        self.licence: str = plain(source.licence, str, "licence")
        self.notes: list[str] = []
        """Of the source, after the survey."""
        self.files: list[Path] = plain(source.files, list[Path], "files") if isinstance(source, HasFiles) else []
        self._counted = source if isinstance(source, HasCounts) else None
        self.counts: CountsFile | None = plain(self._counted.counts, CountsFile, "counts") if self._counted else None
        self.holdout = holdout
        self.parallel = parallel
        self.limit = limit
        self.document_limit = document_limit

    def evaluation(self) -> Iterator[Document]:
        """Return the evaluated documents; reading raises InputError if a file fails or the text has changed."""
        chosen = (document for document in self._documents() if self._parts(document)[0])
        return chosen if self.limit is None else self._limited(chosen, self._first)

    def training(self) -> Iterator[Document]:
        """Return the documents for training; raises as :meth:`evaluation` does."""
        chosen = (document for document in self._documents() if self._parts(document)[1])
        return chosen if self.limit is None else self._limited(chosen, self._first_trained)

    def _parts(self, document: Document) -> tuple[bool, bool]:
        """Tell whether a document is evaluated, and whether it is for training; without a holdout it is both."""
        held = bool(self.holdout) and self.held_out(document, self.holdout)
        return held or not self.holdout, not held

    def _limited(self, documents: Iterator[Document], surveyed: tuple[int, str]) -> Iterator[Document]:
        first = _FirstDocuments(self.limit)
        for document in documents:
            if first.take(document, document.text.encode()):
                yield document
                if first.documents == surveyed[0]:
                    break
        if self._sha256 and first.digest.hexdigest() != surveyed[1]:
            raise self.changed_error()

    def training_text(self) -> Iterator[Document]:
        """Return the documents for training with their line ends, which parallel sentences lack."""
        if self.parallel:
            return self.training()
        return (
            document._replace(text=document.text + document.line_end) if document.line_end else document
            for document in self.training()
        )

    def shards(self) -> Iterator[Shard]:
        """Return the evaluated documents in shards, or the chunks of counts."""
        if self._counted and self.counts:
            return shards_of_counts(self.name, self._counted.chunks(), self.counts.pattern)
        documents = self.evaluation()
        if self.parallel:
            documents = (document._replace(key=_shared_key(document)) for document in documents)
        return shards(self.name, documents, by_key=self.parallel)

    def _documents(self) -> Iterator[Document]:
        if self._kept is not None:
            yield from self._kept
            return
        digest = DocumentHash()
        for document in self._read():
            digest.add(document, self._encoded(document))
            yield document
        if self._sha256 and digest.hexdigest() != self._sha256:
            raise self.changed_error()

    def _read(self) -> Iterator[Document]:
        for document in self.source.documents():
            usual = type(document) is Document and tuple(map(type, document)) == _USUAL
            yield document if usual else plain(document, Document, "a document")

    def _encoded(self, document: Document) -> bytes:
        data = document.text.encode()
        if len(data) > self.document_limit:
            raise too_long(document.origin, self.document_limit)
        return data

    def changed_error(self) -> InputError:
        return InputError(
            f"the text of corpus {self.name!r} changed during the run (its sha256 was {self._sha256[:12]}... at the "
            "start); run again"
        )

    def survey(self, progress: Callable[[int], object] = lambda _: None, room: int = 0) -> Survey:
        """Read all documents once.

        Args:
            progress: called now and then with the bytes read so far.
            room: documents are kept if they take at most so many bytes of memory.

        Raises:
            InputError: a document cannot be read or is too long, the corpus or a part of it is empty, groups of a
                parallel corpus have different keys, or only some documents have gold words.
        """
        if self._counted and self.counts:
            whole = self.counts.sha256
            groups = plain(dict(self._counted.groups), dict[str, int], "groups")
            return Survey(whole, whole, self.counts.documents, self.counts.bytes, self.counts.bytes, groups)
        return self._survey(progress, room)

    def _survey(self, progress: Callable[[int], object], room: int) -> Survey:
        survey, first, first_trained = Survey(), _FirstDocuments(self.limit), _FirstDocuments(self.limit)
        digest, left = DocumentHash(), DocumentHash()
        size = shown = 0
        evaluated: dict[str, bytearray] = defaultdict(bytearray)
        trained = bytearray()
        keys: dict[str, list[str]] = defaultdict(list)
        marked: dict[bool, str] = {}
        kept = _KeptDocuments(room)
        excerpts = Excerpts()
        for document in self._read():
            _, group, _, origin, gold, *_ = document
            data = self._encoded(document)
            digest.add(document, data)
            kept.add(document)
            size += len(data)
            if size - shown >= _PROGRESS_BYTES:
                shown = size
                progress(shown)
            mark = _mark(data)
            evaluated_part, trained_part = self._parts(document)
            measured = evaluated_part and first.take(document, data)
            learned = trained_part and first_trained.take(document, data)
            if measured:
                survey.evaluated_bytes += len(data)
                evaluated[group] += mark
            if measured or learned:
                survey.documents += 1
                survey.bytes += len(data)
                if self.limit is not None:
                    left.add(document, data)
            if learned:
                trained += mark
            marked.setdefault(gold is not None, origin)
            if self.parallel:
                keys[group].append(_shared_key(document))
                mark = _mark(keys[group][-1].encode())  # translations are shown together
            if measured:
                excerpts.add(document, mark)
        self.notes = plain(self.source.notes, list[str], "notes") if isinstance(self.source, HasNotes) else []
        self._check(survey.documents, evaluated, trained, keys)
        if len(marked) > 1:
            raise InputError(
                f"corpus {self.name!r} has gold words in {marked[True]}, but none in {marked[False]}; all or none must"
            )
        self._sha256 = survey.sha256 = digest.hexdigest()
        self._first, self._first_trained = first.found, first_trained.found
        self._kept, self.kept_bytes = kept.documents, kept.n_bytes
        survey.limited_sha256 = survey.sha256 if self.limit is None else left.hexdigest()
        survey.evaluated = {group: _numbers(marks) for group, marks in evaluated.items()}
        survey.groups = {group: len(marks) for group, marks in survey.evaluated.items()}
        survey.trained = _numbers(trained)
        survey.excerpts = excerpts.all()
        return survey

    def held_out(self, document: Document, share: float) -> bool:
        return fingerprint(_shared_key(document) if self.parallel else document.text) < share * 2**64

    def _check(
        self, documents: int, evaluated: Mapping[str, bytearray], trained: bytearray, keys: Mapping[str, list[str]]
    ) -> None:
        if not documents:
            raise InputError(f"corpus {self.name!r} is empty: its files hold no text")
        if not evaluated or not trained:
            part = "held-out" if not evaluated else "training"
            raise InputError(f"corpus {self.name!r}: no document fell into the {part} part of holdout: {self.holdout}")
        first, *others = keys or [""]
        different = [group for group in others if keys[group] != keys[first]]
        if different:
            raise InputError([Problem("", self._not_parallel(first, group, keys)) for group in different])

    def _not_parallel(self, first: str, group: str, keys: Mapping[str, list[str]]) -> str:
        pairs = zip_longest(keys[first], keys[group])
        at = next(k for k, (one, other) in enumerate(pairs) if one != other)
        one, other = self._origin(first, at), self._origin(group, at)
        same = f"the first {at:,} documents match; then " if at else ""
        return (
            f"corpus {self.name!r} is not parallel: group {group!r} has {len(keys[group]):,} documents, {first!r} has "
            f"{len(keys[first]):,}; {same}{first!r} has {one}, {group!r} has {other}; give every group the same keys "
            "(line numbers, where lines are documents: empty lines are left out; names, where files are) or remove "
            "'parallel: true'"
        )

    def _origin(self, group: str, at: int) -> str:
        mine = (document for document in self._read() if document.group == group)
        document = next(islice(mine, at, None), None)
        return f"{document.origin} (key {_shared_key(document)!r})" if document else "no more documents"
