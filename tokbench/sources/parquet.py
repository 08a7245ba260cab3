"""The source ``parquet``: a column of Parquet files, read row group by row group."""

from __future__ import annotations

from typing import Final

from tokbench.corpus.contract import CorpusSpec
from tokbench.sources.rows import RowFileOptions, RowFiles


class ParquetOptions(RowFileOptions):
    """Options of ``source: parquet``."""


class ParquetSource(RowFiles):
    """Parquet files; only the columns of the options are read."""

    form = "parquet"


SPEC: Final = CorpusSpec(
    name="parquet",
    summary="a column of Parquet files, streamed; needs the extra parquet",
    open=ParquetSource,
    options=ParquetOptions,
)
