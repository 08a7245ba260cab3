"""A corpus of a run: its source, its summary, and its parts for training and for evaluation."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from pathlib import Path
from types import NoneType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.contract import DOCUMENT_LIMIT, Document, HasCounts, HasFiles, Source, too_long
from tokbench.corpus.excerpts import Excerpt, Excerpts
from tokbench.corpus.shards import Shard, shards, shards_of_counts
from tokbench.corpus.spool import EVALUATED, TRAINED, Spool
from tokbench.foundation.errors import InputError, Problem
from tokbench.foundation.plain_values import plain
from tokbench.tokenizers.backend import CountsFile
from tokbench.tokenizers.contract import HasNotes

_USUAL: Final = (str, str, str, str, NoneType, str, str)

_PROGRESS_BYTES: Final = 4 << 20


def fingerprint(text: str) -> int:
    """Return 64 bits of a hash, which identifies a document."""
    return int.from_bytes(_mark(text.encode()), "big")


def _mark(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=8).digest()


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


@dataclass
class Survey:
    """The summary of a corpus, from one pass over it."""

    sha256: str = ""
    """Of group, key and text of the documents within the limit, in order."""
    documents: int = 0
    bytes: int = 0
    """In UTF-8."""
    evaluated_bytes: int = 0
    group_bytes: dict[str, int] = field(default_factory=dict)
    """Evaluated bytes by group; of counts by their documents."""
    groups: dict[str, int] = field(default_factory=dict)
    """Evaluated documents by group, in order of appearance."""
    all_groups: dict[str, int] = field(default_factory=dict)
    """All documents by group, with those for training; ``all_group_bytes`` are their bytes. Empty for counts."""
    all_group_bytes: dict[str, int] = field(default_factory=dict)
    evaluated: dict[str, NDArray[np.uint64]] = field(default_factory=dict)
    """Fingerprints by group."""
    trained: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    """Fingerprints of documents for training."""
    excerpts: dict[str, list[Excerpt]] = field(default_factory=dict)
    """By group, of evaluated documents."""
    trained_bytes: int = 0
    """With line ends, of which the hash does not know the last."""


def _numbers(marks: bytearray) -> NDArray[np.uint64]:
    return np.frombuffer(marks, dtype=">u8").astype(np.uint64)


def feed(documents: Iterable[Document], *, with_groups: bool = False) -> Iterator[str]:
    """Yield the texts; with the group before each for :func:`group_and_text`."""
    for text, group, *_ in documents:
        yield f"{len(group)}:{group}{text}" if with_groups else text


def group_and_text(line: str) -> tuple[str, str]:
    """Split a line of a :func:`feed` with groups.

    >>> group_and_text("2:enhat")
    ('en', 'hat')
    """
    length, _, rest = line.partition(":")
    return rest[: int(length)], rest[int(length) :]


class Corpus:
    """A source under its name in a run, which is read once, into a :class:`Spool`.

    With ``holdout``, a share of the documents, chosen by a hash of the text or of the key that translations share, is
    evaluated, and the rest is for training. With ``limit``, only the first documents of each group are for either.
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
        if hasattr(source, "parallel"):
            source.parallel = parallel
        self._spool: Spool | None = None
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

    def evaluation(self, group: str | None = None) -> Iterator[Document]:
        """Return the evaluated documents, or those of a group; if they are not yet read, as :meth:`survey` does."""
        return self._documents().read(EVALUATED, group)

    def training(self) -> Iterator[Document]:
        """Return the documents for training, as :meth:`evaluation` does."""
        return self._documents().read(TRAINED)

    def _documents(self) -> Spool:
        if self._spool is None:
            self.survey()
        assert self._spool is not None
        return self._spool

    def _parts(self, document: Document, taken: Counter[tuple[int, str]]) -> int:
        """Return the parts of the next document, which the limit allows; ``taken`` counts by part and group."""
        parts = EVALUATED | TRAINED
        if self.holdout:
            parts = EVALUATED if self.held_out(document, self.holdout) else TRAINED
        for part in (EVALUATED, TRAINED):
            taken[part, document.group] += bool(parts & part)
            if self.limit and taken[part, document.group] > self.limit:
                parts &= ~part
        return parts

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

    def _read(self) -> Iterator[Document]:
        for document in self.source.documents():
            usual = type(document) is Document and tuple(map(type, document)) == _USUAL
            yield document if usual else plain(document, Document, "a document")

    def _encoded(self, document: Document) -> bytes:
        data = document.text.encode()
        if len(data) > self.document_limit:
            raise too_long(document.origin, self.document_limit)
        return data

    def survey(self, progress: Callable[[int], object] = lambda _: None) -> Survey:
        """Read all documents once; ``progress`` is called now and then with the bytes read so far.

        Raises:
            InputError: a document cannot be read or is too long, the corpus or a part of it is empty, groups of a
                parallel corpus have different keys, or only some documents have gold words.
        """
        if self._counted and self.counts:
            whole = self.counts.sha256
            groups = plain(dict(self._counted.groups), dict[str, int], "groups")
            size, documents = self.counts.bytes, sum(groups.values()) or 1
            by_group = {group: size * number // documents for group, number in groups.items()}
            return Survey(whole, self.counts.documents, size, size, by_group, groups)
        return self._survey(progress)

    def _survey(self, progress: Callable[[int], object]) -> Survey:
        survey, digest, spool = Survey(), DocumentHash(), Spool()
        taken: Counter[tuple[int, str]] = Counter()
        size = shown = 0
        evaluated: dict[str, bytearray] = defaultdict(bytearray)
        trained = bytearray()
        keys: dict[str, list[str]] = defaultdict(list)
        marked: dict[bool, str] = {}
        excerpts = Excerpts()
        for document in self._read():
            _, group, _, origin, gold, *_ = document
            data = self._encoded(document)
            size += len(data)
            if size - shown >= _PROGRESS_BYTES:
                shown = size
                progress(shown)
            mark = _mark(data)
            parts = self._parts(document, taken)
            if parts:
                survey.documents += 1
                survey.bytes += len(data)
                survey.all_groups[group] = survey.all_groups.get(group, 0) + 1
                survey.all_group_bytes[group] = survey.all_group_bytes.get(group, 0) + len(data)
                digest.add(document, data)
                spool.add(document, parts)
            if parts & EVALUATED:
                survey.group_bytes[group] = survey.group_bytes.get(group, 0) + len(data)
                evaluated[group] += mark
            if parts & TRAINED:
                survey.trained_bytes += len(data) + len(document.line_end)
                trained += mark
            marked.setdefault(gold is not None, origin)
            if self.parallel:
                keys[group].append(_shared_key(document))
                mark = _mark(keys[group][-1].encode())  # translations are shown together
            if parts & EVALUATED:
                excerpts.add(document, mark)
        self.notes = plain(self.source.notes, list[str], "notes") if isinstance(self.source, HasNotes) else []
        self._check(survey.documents, evaluated, trained, keys)
        if len(marked) > 1:
            raise InputError(
                f"corpus {self.name!r} has gold words in {marked[True]}, but none in {marked[False]}; all or none must"
            )
        survey.sha256 = digest.hexdigest()
        survey.evaluated_bytes = sum(survey.group_bytes.values())
        self._spool = spool
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
