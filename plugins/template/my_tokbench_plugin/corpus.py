"""A corpus source: one column of a CSV file, grouped by another."""

import csv
from collections.abc import Iterator

from tokbench import plugin
from pydantic import Field


class Options(plugin.Options):
    path: plugin.LocalPath = Field(description="a CSV file with a header")
    text: str = Field(default="text", description="the column that holds the text")
    group: str = Field(default="language", description="the column that names the group")


class Table:
    licence = ""

    def __init__(self, options: Options) -> None:
        self._options = options
        with open(options.path, encoding="utf-8", newline="") as file:
            header = next(csv.reader(file), [])
        for column in (options.text, options.group):
            if column not in header:  # told before anything is measured
                raise plugin.InputError(f"{options.path}: no column {column!r}; {plugin.did_you_mean(column, header)}")

    def documents(self) -> Iterator[plugin.Document]:  # gone through more than once: the same each time
        with open(self._options.path, encoding="utf-8", newline="") as file:
            for number, row in enumerate(csv.DictReader(file), 2):
                origin = f"{self._options.path}:{number}"
                yield plugin.Document(row[self._options.text], row[self._options.group], str(number), origin)


@plugin.hookimpl
def register_corpora(register):
    register(plugin.CorpusSpec(name="csv_table", summary="a column of a CSV file", open=Table, options=Options))
