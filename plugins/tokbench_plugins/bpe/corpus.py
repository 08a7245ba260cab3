"""Which text a tokenizer was trained on, as far as its artefact can tell."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

__all__ = ["Corpus", "CorpusDigest"]


class Corpus(NamedTuple):
    """The text that a tokenizer was trained on; see :class:`CorpusDigest`.

    Attributes:
        sha256: its digest, 64 hexadecimal digits.
        documents: how many documents it has.
        bytes: their size as UTF-8.
    """

    sha256: str
    documents: int
    bytes: int


class CorpusDigest:
    """Passes documents on, and knows afterwards what they were.

    The digest is over each document's size and bytes, in order: the same text in other documents is
    another corpus.

    >>> digest = CorpusDigest(["low lower", "été"])
    >>> sum(map(len, digest))
    12
    >>> digest.corpus.documents, digest.corpus.bytes, digest.corpus.sha256[:8]
    (2, 14, '9bdf0a52')
    """

    def __init__(self, documents: Iterable[str]) -> None:
        self._source = documents
        self._sha256 = hashlib.sha256()
        self._documents = self._bytes = 0

    def __iter__(self) -> Iterator[str]:
        for document in self._source:
            data = document.encode("utf-8", errors="surrogatepass")
            self._sha256.update(b"%d\n" % len(data))
            self._sha256.update(data)
            self._documents += 1
            self._bytes += len(data)
            yield document

    @property
    def corpus(self) -> Corpus:
        """What was passed on so far."""
        return Corpus(self._sha256.hexdigest(), self._documents, self._bytes)
