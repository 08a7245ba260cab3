"""``documents.csv`` and ``documents.parquet``: a row for each tokenizer and document."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from tokbench.plugin.report import ReporterSpec, csv_text
from tokbench_research.metrics.documents.documents import SPEC as FAMILY
from tokbench_research.metrics.documents.documents import Columns

if TYPE_CHECKING:
    from tokbench.plugin.report import Results

COLUMNS: Final = (
    "tokenizer", "corpus", "group", "document", "key", "bytes", "characters", "words", "tokens", "exact",
    "word_unit",
)  # fmt: skip


def _rows(results: Results) -> Iterator[list[Any]]:
    """Number the documents of a group from 1; raise a ResultsError if the run's raw states are missing or damaged."""
    for state in results.states:
        if state.family == FAMILY.name:
            columns = (state.state["rows"][name] for name in Columns._fields)
            for number, (key, *numbers, back) in enumerate(zip(*columns, strict=True), 1):
                place = (state.tokenizer, state.corpus, state.group, number, key)
                yield [*place, *numbers, bool(back), state.state["word_unit"]]


def documents_csv(results: Results) -> str:
    """Return a tidy table with the columns :data:`COLUMNS`."""
    return csv_text(COLUMNS, ([*row[:-2], str(row[-2]).lower(), row[-1]] for row in _rows(results)))


def documents_parquet(results: Results) -> bytes:
    """Return the same table in Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pylist([dict(zip(COLUMNS, row, strict=True)) for row in _rows(results)])
    file = io.BytesIO()
    pq.write_table(table, file, compression="zstd")
    return file.getvalue()


SPECS: Final = (
    ReporterSpec(
        name="documents",
        filename="documents.csv",
        render=documents_csv,
        summary="a row for each tokenizer and document, in one tidy table",
    ),
    ReporterSpec(
        name="documents_parquet",
        filename="documents.parquet",
        render=documents_parquet,
        summary="a row for each tokenizer and document, in Parquet",
        requires=("pyarrow",),
        install="pip install 'tokbench[parquet]'",
    ),
)
