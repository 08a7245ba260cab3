"""The source ``jsonl``: one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pydantic import Field

from tokbench.corpus.files import group_name, read_documents, require_files
from tokbench.corpus.source import Document
from tokbench.errors import InputError, Problem
from tokbench.paths import LocalPath
from tokbench.protocol import Options

__all__ = ["JsonlOptions", "JsonlSource"]


class JsonlOptions(Options):
    """Options of ``source: jsonl``."""

    path: LocalPath = Field(description="a file or a glob pattern")
    text: str = Field(default="text", description="the field that holds the text")
    key: str = Field(default="", description="the field that names the document; default: its line number")
    group: str = Field(default="{stem}", description="group name from {stem} or any field, such as {lang}")
    licence: str = Field(default="", description="licence of the texts, recorded in the results")


class JsonlSource:
    """Documents of JSON Lines files."""

    def __init__(self, options: JsonlOptions) -> None:
        self._options = options
        self._files = require_files(options.path)
        self.licence = options.licence

    def documents(self) -> Iterator[Document]:
        """All documents; see :class:`tokbench.corpus.source.Source`."""
        for path in self._files:
            for number, line in read_documents(path, "line"):
                yield self._document(path, number, line)

    def _document(self, path: Path, number: int, line: str) -> Document:
        where = f"{path}:{number}"
        options = self._options
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InputError([Problem(where, f"not JSON: {error}")]) from error
        if not isinstance(row, dict):
            raise InputError([Problem(where, "not a JSON object")])
        for name in filter(None, (options.text, options.key)):
            if name not in row:
                have = ", ".join(sorted(map(str, row)))
                raise InputError([Problem(where, f"has no field {name!r}; it has {have}")])
        text = row[options.text]
        if not isinstance(text, str):
            raise InputError([Problem(where, f"field {options.text!r} is not a string")])
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise InputError([Problem(where, f"field {options.text!r} holds a lone surrogate: not Unicode text")])
        try:
            group = group_name(options.group, path, row)
        except (KeyError, ValueError, IndexError) as error:
            raise InputError([Problem(where, f"no group from {options.group!r}: {error}")]) from error
        return Document(text, group, str(row[options.key]) if options.key else str(number), f"{path.name}:{number}")
