"""The source ``csv``: tables in CSV or TSV, such as a spreadsheet's exports."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from tokbench.corpus.contract import CorpusSpec
from tokbench.sources.rows import RowFileOptions, RowFiles
from tokbench.text.encodings import Encoding
from tokbench.text.rows import RowForm


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


class CsvSource(RowFiles):
    """The rows of tables; the first row of each names the columns."""

    form = "csv"

    def __init__(self, options: CsvOptions) -> None:
        super().__init__(options)
        self._csv = options

    def row_form(self, fields: tuple[str, ...]) -> RowForm:
        csv = self._csv
        return super().row_form(fields)._replace(delimiter=csv.delimiter, quotes=csv.quotes, encoding=csv.encoding)


SPEC: Final = CorpusSpec(
    name="csv",
    summary="tables in CSV and TSV, a document a row; spreadsheets' exports, too",
    open=CsvSource,
    options=CsvOptions,
)
