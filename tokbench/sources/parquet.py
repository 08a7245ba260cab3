"""The source ``parquet``: a column of Parquet files, read row group by row group."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from tokbench.corpus.contract import CorpusSpec, Document
from tokbench.corpus.languages import LANGUAGE_FIELDS
from tokbench.foundation.errors import InputError, Problem, did_you_mean
from tokbench.foundation.files import is_utf8
from tokbench.sources.faults import readable_name
from tokbench.sources.files import file_names
from tokbench.sources.rows import RowFileOptions, RowFiles, by_language, mended_row, row_document, row_fields

_ROWS: Final = 1024

_BUFFER: Final = 1 << 20
"""Of a column; by default Arrow reads whole columns."""


class ParquetOptions(RowFileOptions):
    """Options of ``source: parquet``."""


class ParquetSource(RowFiles):
    """Parquet files; only the columns of the options are read."""

    def __init__(self, options: ParquetOptions) -> None:
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError as error:
            raise InputError("the source 'parquet' needs pyarrow: pip install 'tokbench[parquet]'") from error
        super().__init__(options)

    def documents(self) -> Iterator[Document]:
        from pyarrow import default_memory_pool

        try:
            yield from super().documents()
        finally:
            default_memory_pool().release_unused()  # or Arrow keeps it for the tables that may come

    def documents_of(self, path: Path) -> Iterator[Document]:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile

        options, names, number, place = self._options, file_names(path), 0, readable_name(path)
        columns = [name for name in row_fields(options, self._group) if name not in names]
        try:
            if not path.stat().st_size:
                return
            with ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER) as file:
                for name in columns:
                    if name not in file.schema_arrow.names:
                        msg = f"has no column {name!r}; {did_you_mean(name, file.schema_arrow.names)}"
                        raise InputError([Problem(place, msg)])
                known = LANGUAGE_FIELDS if by_language(options) else ()
                columns += [name for name in known if name in file.schema_arrow.names and name not in columns]
                for batch in file.iter_batches(batch_size=_ROWS, columns=columns, use_threads=False):
                    for row in batch_rows(batch, options.text, partial(self._mended, place, number)):
                        number += 1
                        if (mended := mended_row(row, options, self.faults, f"{place}:{number}")) is not None:
                            yield row_document(mended, options, self._group, names, number, place)
        except (ArrowException, OSError) as error:
            msg = f"is not a Parquet file that can be read ({' '.join(str(error).split())}); write it again"
            raise InputError([Problem(place, msg)]) from error

    def _mended(self, place: str, before: int, data: bytes, k: int) -> str:
        fault = f"field {self._options.text!r} is not UTF-8"
        return self.faults.mended(data, Problem(f"{place}:{before + k + 1}", fault))


def batch_rows(batch: Any, text: str, mended: Callable[[bytes, int], str]) -> list[dict[str, Any]]:
    """Return the rows of a batch; ``mended`` makes a text of bytes that are not UTF-8, which Arrow does not check.

    It is called with the bytes and the number of the row, from 0.
    """
    try:
        rows: list[dict[str, Any]] = batch.to_pylist()
    except UnicodeDecodeError:
        at = batch.schema.get_field_index(text)
        rows = batch.set_column(at, text, batch.column(at).cast("binary")).to_pylist()
        for k, row in enumerate(rows):
            data = row[text]
            row[text] = data if data is None else data.decode() if is_utf8(data) else mended(data, k)
    return rows


SPEC: Final = CorpusSpec(
    name="parquet",
    summary="a column of Parquet files, streamed; needs the extra parquet",
    open=ParquetSource,
    options=ParquetOptions,
)
