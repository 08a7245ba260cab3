"""The source ``jsonl``: one JSON object a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tokbench.corpus.contract import CorpusSpec, Document
from tokbench.foundation.errors import InputError, Problem
from tokbench.foundation.parsing import TextError, parse_json
from tokbench.sources.faults import readable_name
from tokbench.sources.files import file_names, read_documents
from tokbench.sources.rows import RowFileOptions, RowFiles, mended_row, row_document


class JsonlOptions(RowFileOptions):
    """Options of ``source: jsonl``."""


class JsonlSource(RowFiles):
    """The documents of JSON Lines files."""

    def documents_of(self, path: Path) -> Iterator[Document]:
        names, place = file_names(path), readable_name(path)
        for number, line, _ in read_documents(path, "line", self.document_limit, self._faults):
            try:
                row = parse_json(line)
            except TextError as error:
                raise InputError([error.at(place, number)]) from error
            if not isinstance(row, dict):
                raise InputError([Problem(f"{place}:{number}", "not a JSON object")])
            if (mended := mended_row(row, self._options, self._faults, f"{place}:{number}")) is not None:
                yield row_document(mended, self._options, self._group, names, number, place)


SPEC: Final = CorpusSpec(
    name="jsonl",
    summary="JSON Lines files",
    open=JsonlSource,
    options=JsonlOptions,
)
