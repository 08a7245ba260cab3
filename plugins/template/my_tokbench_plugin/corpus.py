"""A corpus source: one column of a CSV file, grouped by another."""

import csv
from collections.abc import Iterator

from pydantic import Field
from tokbench.plugin import CorpusSpec, Document, InputError, LocalPath, Options, did_you_mean


class TableOptions(Options):
    path: LocalPath = Field(description="a CSV file with a header")
    text: str = Field(default="text", description="the column that holds the text")
    group: str = Field(default="language", description="the column that names the group")


class Table:
    licence = ""

    def __init__(self, options: TableOptions) -> None:
        self._options = options
        with open(options.path, encoding="utf-8", newline="") as file:
            header = next(csv.reader(file), [])
        for column in (options.text, options.group):
            if column not in header:  # refused before anything is measured
                raise InputError(f"{options.path}: no column {column!r}; {did_you_mean(column, header)}")

    def documents(self) -> Iterator[Document]:  # called more than once: the same documents each time
        with open(self._options.path, encoding="utf-8", newline="") as file:
            for number, row in enumerate(csv.DictReader(file), 2):
                origin = f"{self._options.path}:{number}"
                yield Document(row[self._options.text], row[self._options.group], str(number), origin)


SPEC = CorpusSpec(name="csv_table", summary="a column of a CSV file", open=Table, options=TableOptions)
