"""Reads the documents of a file by its content, for whoever names a file and no source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from tokbench.corpus.contract import DOCUMENT_LIMIT
from tokbench.foundation.errors import InputError
from tokbench.text.conllu import sentences
from tokbench.text.cuts import CutText, TextReader, reading, shown_name
from tokbench.text.find import FoundTexts, find_texts, no_text
from tokbench.text.formats import ROWS
from tokbench.text.rows import RowForm, rows_of

_MORE: Final = f"more than {DOCUMENT_LIMIT // 10**6} MB, all of which is kept in memory"


class ReadTexts(NamedTuple):
    """The documents of files by the file's name, and what was left out."""

    documents: dict[str, list[CutText]]
    found: FoundTexts


def read_texts(names: Sequence[str]) -> ReadTexts:
    """Read all documents of files, folders, patterns, and ``-`` for standard input.

    A document is all of a text, a row, or a sentence; files may be packed. What cannot be read is left out of a folder.

    Raises:
        InputError: what is named holds no text, too much for memory, or has a fault, with its place.
    """
    read, left = ReadTexts({}, find_texts(names)), DOCUMENT_LIMIT
    for path in list(read.found.files):
        name = shown_name(path)
        try:
            with reading(path, most=DOCUMENT_LIMIT) as reader:
                documents = read.documents[name] = []
                for document in documents_in(reader, RowForm()):
                    documents.append(document)
                    left -= len(document.text)
                    if left < 0:
                        break
            if not documents:
                raise no_text(name)
        except InputError as error:
            read.documents.pop(name, None)
            read.found.fault(path, error)
        if left < 0:
            raise InputError(f"{name}: the texts up to here have {_MORE}; count a sample: tokbench cost --sample 1%")
    if not read.documents:
        raise read.found.nothing(", ".join(names))
    return read


def documents_in(reader: TextReader, how: RowForm) -> Iterator[CutText]:
    """Yield the documents of an opened file, with the line or row of each."""
    if reader.form == "conllu":
        for sentence in sentences(reader):
            sentence.gold()
            yield CutText(sentence.line, sentence.text)
    elif reader.form in ROWS:
        for row in rows_of(reader, how):
            yield CutText(row.number, row.text)
    else:
        yield from reader.documents("file")
