"""The documents of a corpus in a temporary file: read once from their source, and from then on from here."""

from __future__ import annotations

import marshal
import tempfile
import weakref
from collections.abc import Iterator
from typing import Final, NamedTuple

from tokbench.corpus.contract import Document, Gold
from tokbench.foundation.errors import InputError

EVALUATED: Final = 1
TRAINED: Final = 2
"""The parts of a corpus; a document may be in both."""

_IN_MEMORY: Final = 4 << 20
"""Bytes from which on the file is on disk."""

_BATCH_CHARS: Final = 1 << 20


class _Batch(NamedTuple):
    start: int
    size: int
    groups: frozenset[str]


class Spool:
    """Documents in their order, in batches.

    >>> spool = Spool()
    >>> spool.add(Document("one", "en", "1", "c:1"), EVALUATED | TRAINED)
    >>> spool.add(Document("uno", "es", "2", "c:2"), EVALUATED)
    >>> [[document.text for document in spool.read(*part)] for part in ((EVALUATED,), (TRAINED,), (EVALUATED, "es"))]
    [['one', 'uno'], ['one'], ['uno']]
    """

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - as long as the corpus
        weakref.finalize(self, self._file.close)
        self._batches: list[_Batch] = []
        self._size = 0
        self._open: list[tuple[object, ...]] = []
        self._open_chars = 0

    def add(self, document: Document, parts: int) -> None:
        """Add the next document, or raise InputError if there is no room for it."""
        gold = document.gold and tuple(document.gold)  # marshal knows no classes
        self._open.append((parts, *document[:4], gold, *document[5:]))
        self._open_chars += len(document.text) + 1
        if self._open_chars >= _BATCH_CHARS:
            self._write()

    def _write(self) -> None:
        batch = marshal.dumps(self._open)
        try:
            self._file.seek(self._size)
            self._file.write(batch)
        except OSError as error:
            raise InputError(
                f"the text cannot be kept while the run lasts: {tempfile.gettempdir()}: {error.strerror}; set TMPDIR "
                "to a folder with more room"
            ) from error
        groups = frozenset(str(group) for _, _, group, *_ in self._open)
        self._batches.append(_Batch(self._size, len(batch), groups))
        self._size += len(batch)
        self._open, self._open_chars = [], 0

    def read(self, part: int, group: str | None = None) -> Iterator[Document]:
        """Yield the documents of a part, or those of one group in it; several readings may take turns."""
        if self._open:
            self._write()
        for batch in self._batches:
            if group is None or group in batch.groups:
                self._file.seek(batch.start)
                for parts, *values in marshal.loads(self._file.read(batch.size)):  # noqa: S302 - written above
                    document = Document(*values)
                    if parts & part and group in {None, document.group}:
                        yield document._replace(gold=Gold(*document.gold)) if document.gold else document
