"""Rows of a JSON Lines or Parquet file, one at a time, each with its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tokbench.plugin import BackendError, BackendUnavailable, TextError, did_you_mean, parse_json

_SUFFIXES = (".jsonl", ".ndjson", ".parquet")


def read_rows(path: Path, fields: Sequence[str]) -> Iterator[tuple[str, list[Any]]]:
    """Yield the place of each row (``file:line``, or ``file: row n`` from 1) and the values of some fields."""
    if path.suffix not in _SUFFIXES:
        raise BackendError(f"{path}: is read by its name's end, one of {', '.join(_SUFFIXES)}; rename it")
    try:
        yield from (_parquet if path.suffix == ".parquet" else _json_lines)(path, fields)
    except OSError as error:
        raise BackendError(f"{path}: {error.strerror or error}") from error


def _json_lines(path: Path, fields: Sequence[str]) -> Iterator[tuple[str, list[Any]]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            where = f"{path}:{number}"
            try:
                row = parse_json(line)
            except TextError as error:
                raise BackendError(f"{error.at(path, number)}; a line is a JSON object") from None
            if not isinstance(row, dict):
                raise BackendError(f"{where}: not a JSON object with {' and '.join(map(repr, fields))}")
            for field in fields:
                if field not in row:
                    raise BackendError(f"{where}: no field {field!r}; {did_you_mean(field, row)}")
            yield where, [row[field] for field in fields]


def _parquet(path: Path, fields: Sequence[str]) -> Iterator[tuple[str, list[Any]]]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise BackendUnavailable(f"{path}: Parquet needs pyarrow: pip install 'tokbench[parquet]'") from error
    try:
        with parquet.ParquetFile(path) as file:
            for field in fields:
                if field not in file.schema_arrow.names:
                    raise BackendError(f"{path}: no column {field!r}; {did_you_mean(field, file.schema_arrow.names)}")
            number = 0
            for batch in file.iter_batches(batch_size=1024, columns=list(fields)):
                for values in zip(*(batch.column(field).to_pylist() for field in fields), strict=True):
                    number += 1
                    yield f"{path}: row {number}", list(values)
    except ArrowException as error:
        raise BackendError(f"{path}: not a Parquet file that can be read: {' '.join(str(error).split())}") from error
