"""``results.parquet``: every cell in one tidy table with typed columns."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Final

from tokbench.foundation.visible_text import visible
from tokbench.results.cells import COLUMNS
from tokbench.results.reporter import ReporterSpec

if TYPE_CHECKING:
    from tokbench.results.model import Results

_NUMBERS: Final = ("value", "ci_low", "ci_high", "in_sample")
_COUNT: Final = "n"


def render(results: Results) -> bytes:
    """Return the file: the columns of ``results.csv``, with null for missing numbers.

    The schema's metadata have the name and start of the run, and the version of tokbench.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = pa.dictionary(pa.int32(), pa.string())
    known = dict.fromkeys(_NUMBERS, pa.float64()) | {_COUNT: pa.int64()}
    facts = {"name": results.name, "created": results.created, "tokbench": results.environment.tokbench}
    schema = pa.schema(
        [(name, known.get(name, texts)) for name in COLUMNS],
        metadata={f"tokbench.{name}": visible(value) for name, value in facts.items()},
    )
    columns = [
        pa.array([_field(getattr(cell, name)) for cell in results.cells], type=known.get(name, pa.string()))
        for name in COLUMNS
    ]
    table = pa.table([column.cast(field.type) for column, field in zip(columns, schema, strict=True)], schema=schema)
    file = io.BytesIO()
    pq.write_table(table, file, compression="zstd")
    return file.getvalue()


def _field(value: Any) -> Any:
    return visible(str(value)) if isinstance(value, str) else value


SPEC = ReporterSpec(
    name="parquet",
    summary="every result in one tidy table, in Parquet",
    filename="results.parquet",
    render=render,
    requires=("pyarrow",),
    install="pip install 'tokbench[parquet]'",
)
