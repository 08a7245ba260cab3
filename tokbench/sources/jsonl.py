"""The source ``jsonl``: one JSON object a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tokbench.corpus.contract import CorpusSpec, Document
from tokbench.foundation.errors import InputError, Problem
from tokbench.foundation.parsing import TextError, parse_json
from tokbench.sources.files import file_names, read_documents
from tokbench.sources.rows import RowFileOptions, RowFiles, row_document


class JsonlOptions(RowFileOptions):
    """Options of ``source: jsonl``."""


class JsonlSource(RowFiles):
    """The documents of JSON Lines files."""

    def documents(self) -> Iterator[Document]:
        for path in self._paths:
            names, place = file_names(path), str(path)
            for number, line, _ in read_documents(path, "line", self.document_limit):
                try:
                    row = parse_json(line)
                except TextError as error:
                    raise InputError([error.at(path, number)]) from error
                if not isinstance(row, dict):
                    raise InputError([Problem(f"{path}:{number}", "not a JSON object")])
                yield row_document(row, self._options, self._group, names, number, place)


SPEC: Final = CorpusSpec(
    name="jsonl",
    summary="JSON Lines files",
    open=JsonlSource,
    options=JsonlOptions,
)
