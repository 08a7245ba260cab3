"""The sources ``jsonl``, ``csv`` and ``parquet``: rows with named fields, of which each is a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import Field

from tokbench.corpus.contract import CorpusSpec, Document, Gold
from tokbench.corpus.languages import LANGUAGE_FIELDS, row_language
from tokbench.foundation.errors import InputError, Problem
from tokbench.sources.files import PathOptions, RowGroup, SourceFiles
from tokbench.text.encodings import Encoding
from tokbench.text.faults import Nulls
from tokbench.text.find import file_names, template_of
from tokbench.text.formats import Format
from tokbench.text.gold import AlignmentError, gold_segments
from tokbench.text.rows import RowForm, TextRow, first_field, rows_of
from tokbench.text.templates import fill_template, template_fields
from tokbench.tokenizers.options import Options


class RowOptions(Options):
    """Options that name the fields of a row."""

    text: str = Field(
        default="", description="the field that holds the text; default: the first of text, content, body, sentence"
    )
    key: str = Field(default="", description="the field that names the document; default: its number")
    segments: str = Field(
        default="",
        description="the field with the text's gold morphemes: a list of them, or a list for each word; default: none",
    )
    nulls: Nulls = Field(default="error", description="rows whose text is null: error or skip (leave them out)")
    licence: str = Field(default="", description="licence of the texts, recorded in the results")


class RowFileOptions(RowOptions, PathOptions):
    """Options of ``source: jsonl`` and ``source: parquet``."""

    group: RowGroup = Field(
        default="",
        description="group name from {stem} or any field; default: the field lang or language, or else the language in "
        "the file's name, and one group for all others",
    )


class CsvOptions(RowFileOptions):
    """Options of ``source: csv``."""

    delimiter: str = Field(
        default="",
        max_length=1,
        description="what separates fields; default: comma, semicolon or tab, by which the header has most",
    )
    quotes: str = Field(default='"', max_length=1, description="what encloses a field; empty: nothing does")
    encoding: Encoding = Field(
        default="", description="such as cp1252; default: UTF-16 if a byte order mark says so, or UTF-8"
    )


class RowFiles(SourceFiles):
    """The rows of files; of Parquet only the columns of the options are read."""

    def __init__(self, form: Format, options: RowFileOptions) -> None:
        super().__init__(options)
        self.form, self._options = form, options

    def documents_of(self, path: Path) -> Iterator[Document]:
        options, names = self._options, file_names(path)
        group = self._group or template_of(self._group_of[path])
        others = tuple(name for name in row_fields(options, group) if first_field(name) not in names)
        table = options if isinstance(options, CsvOptions) else CsvOptions(path=path)
        how = RowForm(
            options.text,
            options.nulls,
            others,
            LANGUAGE_FIELDS if by_language(options) else (),
            table.delimiter,
            table.quotes,
        )
        with self.reading(path, table.encoding) as reader:
            rows = RowDocuments(options, group, names, reader.place)
            yield from map(rows.document, rows_of(reader, how))


def row_fields(options: RowOptions, template: str) -> list[str]:
    """Return the fields of the options but for the text, and of the group template."""
    return list(dict.fromkeys(filter(None, [options.key, options.segments, *template_fields(template)])))


def by_language(options: RowOptions) -> bool:
    """Tell whether rows are grouped by the fields of their language, as no group is given."""
    return "group" not in options.model_fields_set


class RowDocuments(NamedTuple):
    """Makes documents of the rows of a file."""

    options: RowOptions
    template: str
    """Of the group."""
    names: Mapping[str, object]
    """For the template, besides the fields."""
    place: str

    def document(self, row: TextRow) -> Document:
        """Return the document of a row, whose number is the key if the options name none.

        Raises:
            InputError: a field is missing, or has the wrong type, with the place of the row.
        """
        options, where = self.options, f"{self.place}:{row.number}"
        for name in filter(None, (options.key, options.segments)):
            if name not in row.values:
                has = ", ".join(sorted(map(str, row.values)))
                raise InputError([Problem(where, f"has no field {name!r}; it has {has}")])
        language = row_language(row.values) if by_language(options) else ""
        group = language or fill_template(self.template, {**row.values, **self.names}, lambda: where)
        gold = _gold(row.text, row.values[options.segments], options.segments, where) if options.segments else None
        key = str(row.values[options.key]) if options.key else str(row.number)
        return Document(row.text, group, key, f"{self.place.rpartition('/')[2]}:{row.number}", gold)


def _gold(text: str, segments: Any, name: str, where: str) -> Gold:
    words: list[Any] = segments if isinstance(segments, list) else [None]
    nested = [word if isinstance(word, list) and word else [word] for word in words]
    mixed = len(set(map(type, words))) > 1
    if mixed or not all(isinstance(piece, str) and piece for word in nested for piece in word):
        message = f'field {name!r} must be a list of strings, or of lists of them, such as [["un", "kind"], ["!"]]'
        raise InputError([Problem(where, message)])
    try:
        return gold_segments(text, words)
    except AlignmentError as error:
        message = f"field {name!r} does not spell the text: {error}; write the morphemes as they are in the text"
        raise InputError([Problem(where, message)]) from error


_SUMMARIES: Final[Mapping[Format, str]] = {
    "jsonl": "JSON Lines files",
    "csv": "tables in CSV and TSV, a document a row; spreadsheets' exports, too",
    "parquet": "a column of Parquet files, streamed; needs the extra parquet",
}

SPECS: Final = [
    CorpusSpec(
        name=form,
        summary=summary,
        open=partial(RowFiles, form),
        options=CsvOptions if form == "csv" else RowFileOptions,
    )
    for form, summary in _SUMMARIES.items()
]
