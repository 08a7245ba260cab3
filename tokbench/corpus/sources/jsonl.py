"""The source ``jsonl``: one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import Field

from tokbench.corpus.sources.files import GetCommand, RowGroup, file_names, find_files, group_template, read_documents
from tokbench.corpus.sources.rows import RowOptions, row_document
from tokbench.plugin import Document, FilesPath, InputError, Problem


class JsonlOptions(RowOptions):
    """Options of ``source: jsonl``."""

    path: FilesPath = Field(description="a file, a glob pattern or an address; .gz and .zst are unpacked")
    group: RowGroup = Field(default="{stem}", description="group name from {stem} or any field, such as {lang}")
    get: GetCommand = ""


class JsonlSource:
    """The documents of JSON Lines files."""

    def __init__(self, options: JsonlOptions) -> None:
        self._options = options
        self._files, notes = find_files(options.path, options.get)
        self._group, more = group_template(options, options.group, len(self._files))
        self.notes = notes + more
        self.licence = options.licence

    @property
    def files(self) -> Sequence[Path]:
        """See :class:`tokbench.contracts.corpus.HasFiles`."""
        return [] if isinstance(self._options.path, str) else self._files

    def documents(self) -> Iterator[Document]:
        """Yield all documents; see :class:`tokbench.contracts.corpus.Source`."""
        decode = json.JSONDecoder().decode
        for path in self._files:
            names, place = file_names(path), str(path)
            for number, line in read_documents(path, "line"):
                try:
                    row = decode(line)
                except ValueError as error:
                    raise InputError([Problem(f"{path}:{number}", f"not JSON: {error}")]) from error
                if not isinstance(row, dict):
                    raise InputError([Problem(f"{path}:{number}", "not a JSON object")])
                yield row_document(row, self._options, self._group, names, number, place)
