"""The source ``csv``: tables in CSV or TSV, such as a spreadsheet's exports."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from tokbench.corpus.contract import CorpusSpec, Document
from tokbench.foundation.compressed import opened
from tokbench.foundation.errors import InputError, Problem
from tokbench.sources.faults import BAD_BYTES, readable_name
from tokbench.sources.files import file_names
from tokbench.sources.rows import RowFileOptions, RowFiles, mended_row, row_document

_HEAD: Final = 1 << 16


def _known(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name if encoding else ""
    except LookupError as error:
        raise ValueError(f"Python has no encoding {encoding!r}; write one such as cp1252") from error


class CsvOptions(RowFileOptions):
    """Options of ``source: csv``."""

    delimiter: str = Field(
        default="",
        max_length=1,
        description="what separates fields; default: comma, semicolon or tab, by which the header has most",
    )
    quotes: str = Field(default='"', max_length=1, description="what encloses a field; empty: nothing does")
    encoding: Annotated[str, AfterValidator(_known)] = Field(
        default="", description="such as cp1252; default: UTF-16 if a byte order mark says so, or UTF-8"
    )


class CsvSource(RowFiles):
    """The rows of tables; the first row of each names the columns."""

    def __init__(self, options: CsvOptions) -> None:
        super().__init__(options)
        self._csv = options

    def documents_of(self, path: Path) -> Iterator[Document]:
        encoding = self._csv.encoding or _encoding(path)
        try:
            yield from self._rows(path, encoding)
        except UnicodeError as error:
            message = f"is not text in {encoding}: {error}; name its encoding, such as encoding: cp1252"
            raise InputError([Problem(readable_name(path), message)]) from error
        except csv.Error as error:
            message = f"is not a table in CSV: {error}; check 'delimiter' and 'quotes'"
            raise InputError([Problem(readable_name(path), message)]) from error

    def _rows(self, path: Path, encoding: str) -> Iterator[Document]:
        names, place = file_names(path), readable_name(path)
        errors = "strict" if self._csv.errors == "strict" else "surrogateescape"  # which mended_row replaces or drops
        with opened(path) as data, io.TextIOWrapper(data, encoding, errors, newline="") as file:
            for number, row in enumerate(self._reader(path, file, encoding), 2):  # as a spreadsheet counts rows
                if None in row or None in row.values():
                    message = "has not as many fields as the header; check 'delimiter' and 'quotes'"
                    raise InputError([Problem(f"{place}:{number}", message)])
                if (mended := mended_row(row, self._csv, self.faults, f"{place}:{number}", BAD_BYTES)) is not None:
                    yield row_document(mended, self._options, self._group, names, number, place)

    def _reader(self, path: Path, file: io.TextIOWrapper, encoding: str) -> csv.DictReader[str]:
        csv.field_size_limit(self.document_limit)
        delimiter = self._csv.delimiter or _delimiter(path, encoding)
        quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if self._csv.quotes else csv.QUOTE_NONE
        return csv.DictReader(
            file, delimiter=delimiter, quotechar=self._csv.quotes or None, quoting=quoting, strict=True
        )


def _encoding(path: Path) -> str:
    with opened(path) as file:
        head = file.read(2)
    return "utf-16" if head in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE} else "utf-8-sig"


def _delimiter(path: Path, encoding: str) -> str:
    with opened(path) as file:
        head = codecs.getincrementaldecoder(encoding)("replace").decode(file.read(_HEAD))
    header = head.lstrip("\r\n").partition("\n")[0]
    return max(",;\t", key=header.count)


SPEC: Final = CorpusSpec(
    name="csv",
    summary="tables in CSV and TSV, a document a row; spreadsheets' exports, too",
    open=CsvSource,
    options=CsvOptions,
)
