"""The source ``parquet``: a column of Parquet files, read row group by row group."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tokbench.corpus.contract import CorpusSpec, Document
from tokbench.foundation.errors import InputError, Problem, did_you_mean
from tokbench.sources.files import file_names
from tokbench.sources.rows import RowFileOptions, RowFiles, row_document, row_fields

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
            for path in self._paths:
                yield from self._file(path)
        finally:
            default_memory_pool().release_unused()  # or Arrow keeps it for the tables that may come

    def _file(self, path: Path) -> Iterator[Document]:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile

        options, names, number = self._options, file_names(path), 0
        columns = [name for name in row_fields(options, self._group) if name not in names]
        try:
            with ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER) as file:
                for name in columns:
                    if name not in file.schema_arrow.names:
                        msg = f"has no column {name!r}; {did_you_mean(name, file.schema_arrow.names)}"
                        raise InputError([Problem(str(path), msg)])
                for batch in file.iter_batches(batch_size=_ROWS, columns=columns, use_threads=False):
                    for row in batch.to_pylist():
                        number += 1
                        yield row_document(row, options, self._group, names, number, str(path))
        except (ArrowException, OSError) as error:
            msg = f"is not a Parquet file that can be read ({' '.join(str(error).split())}); write it again"
            raise InputError([Problem(str(path), msg)]) from error


SPEC: Final = CorpusSpec(
    name="parquet",
    summary="a column of Parquet files, streamed; needs the extra parquet",
    open=ParquetSource,
    options=ParquetOptions,
)
