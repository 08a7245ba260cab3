"""The training and the scored documents of a text, chosen by a hash of it, without near-duplicates."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.corpus import Corpus, fingerprint
from tokbench.plugin import Document, InputError
from tokbench_models.language_models.contract import ModelTexts
from tokbench_models.language_models.near_duplicates import near_duplicates


class PartSize(NamedTuple):
    """Documents, UTF-8 bytes, and near-duplicates left out."""

    documents: int
    n_bytes: int
    duplicates: int


class PartSizes(NamedTuple):
    """The summary of both parts; ``marks`` are uint64[d], fingerprints of the scored documents' whole text."""

    training: PartSize
    scored: PartSize
    marks: NDArray[np.uint64]
    origins: Sequence[str]


class TextParts(NamedTuple):
    """The documents of both parts, in the order of their hashes."""

    training: Sequence[str]
    scored: Sequence[str]
    sizes: PartSizes


class _Chosen(NamedTuple):
    mark: int
    number: int
    text: str
    origin: str
    n_bytes: int


def text_parts(training: Corpus, scored: Corpus, texts: ModelTexts) -> TextParts:
    """Read two corpora, which may be one, and choose the documents of both parts.

    Raises:
        InputError: no document is left in a part, or the text cannot be read.
    """
    learned, predicted = _chosen(training, scored, texts)
    new = ~near_duplicates([document.text for document in [*learned, *predicted]])
    train_on, score = list(compress(learned, new[: len(learned)])), list(compress(predicted, new[len(learned) :]))
    for chosen, purpose, corpus in ((train_on, "train on", training), (score, "score", scored)):
        if not chosen:
            what = f"corpus {corpus.name!r} leaves no document to {purpose}"
            raise InputError(f"{what}; give it more documents, or set 'train' or 'holdout' of the metric")
    pieces = [piece for document in train_on for piece in cut_pieces(document.text, texts.training_piece)]
    sizes = PartSizes(
        _size(train_on, learned),
        _size(score, predicted),
        np.array([document.mark for document in score], dtype=np.uint64),
        [document.origin for document in score],
    )
    return TextParts(pieces, [document.text for document in score], sizes)


def _chosen(training: Corpus, scored: Corpus, texts: ModelTexts) -> tuple[list[_Chosen], list[_Chosen]]:
    learned, predicted = _HashSample(texts.most_training), _HashSample(texts.most_scored, texts.most_document)
    share = texts.holdout if scored is training and not scored.holdout else 0.0
    for document in training.training():
        if not (share and training.held_out(document, share)):
            learned.take(document)
    for document in scored.evaluation():
        if not share or scored.held_out(document, share):
            predicted.take(document)
    return learned.documents, predicted.documents


class _HashSample:
    """The documents with the smallest hashes in so many bytes, at least one, in bounded memory."""

    def __init__(self, most: int, most_document: int | None = None) -> None:
        self._most = most
        self._most_document = most_document
        self._waiting: list[tuple[int, int, _Chosen]] = []  # the largest hash is on top
        self._read = self._total = 0
        self._bound = 1 << 64

    def take(self, document: Document) -> None:
        self._read += 1
        text = document.text if self._most_document is None else cut_document(document.text, self._most_document)
        mark = fingerprint(text)
        if mark >= self._bound:
            return
        chosen = _Chosen(mark, self._read, text, document.origin, len(text.encode()))
        heapq.heappush(self._waiting, (-chosen.mark, -chosen.number, chosen))
        self._total += chosen.n_bytes
        while self._total > self._most and len(self._waiting) > 1:
            dropped = heapq.heappop(self._waiting)[2]
            self._total -= dropped.n_bytes
            self._bound = dropped.mark

    @property
    def documents(self) -> list[_Chosen]:
        return sorted(chosen for _, _, chosen in self._waiting)


def cut_document(text: str, most: int) -> str:
    r"""Return the beginning of a document in so many bytes, ending with a line if that is at least half.

    >>> cut_document("one\ntwo\nthree", 9), cut_document("eins zwei", 6), cut_document("né", 2), cut_document("né", 3)
    ('one\ntwo\n', 'eins z', 'n', 'né')
    """
    data = text.encode()
    if len(data) <= most:
        return text
    start = data[:most].decode(errors="ignore")
    end = start.rfind("\n") + 1
    return start[:end] if 2 * end >= len(start) else start


def cut_pieces(text: str, most: int) -> list[str]:
    r"""Cut a document into pieces of so many bytes, after lines where possible; 0 leaves it whole.

    >>> cut_pieces("one\ntwo\nthree", 9), cut_pieces("ninety", 4), cut_pieces("one", 0)
    (['one\ntwo\n', 'three'], ['nine', 'ty'], ['one'])
    """
    if not most:
        return [text]
    pieces, at = [], 0
    while at < len(text):
        pieces.append(cut_document(text[at : at + most + 1], most))
        at += len(pieces[-1])
    return pieces


def _size(chosen: Sequence[_Chosen], every: Sequence[_Chosen]) -> PartSize:
    return PartSize(len(chosen), sum(document.n_bytes for document in chosen), len(every) - len(chosen))
