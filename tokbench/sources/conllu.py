"""The source ``conllu``: treebanks of Universal Dependencies, with ``# sent_id`` as the key of a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tokbench.corpus.contract import CorpusSpec, Document
from tokbench.sources.files import GroupedFileOptions, GroupedFilesSource
from tokbench.text.conllu import sentences
from tokbench.text.faults import readable_name


class ConlluOptions(GroupedFileOptions):
    """Options of ``source: conllu``."""


class ConlluSource(GroupedFilesSource):
    """The sentences of CoNLL-U files, in the order of the files' names."""

    form = "conllu"

    def documents_of(self, path: Path) -> Iterator[Document]:
        name, group = readable_name(path.name), self._group_of[path]
        with self.reading(path) as reader:
            for number, sentence in enumerate(sentences(reader), 1):
                key = sentence.sent_id or str(number)
                yield Document(sentence.text, group, key, f"{name}:{sentence.line}", sentence.gold())


SPEC: Final = CorpusSpec(
    name="conllu",
    summary="treebanks in CoNLL-U, a document a sentence, with gold words",
    open=ConlluSource,
    options=ConlluOptions,
)
