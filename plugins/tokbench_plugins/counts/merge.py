"""Adds tables of counts with DuckDB, which spills to disk what memory does not hold."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tokbench import plugin
from tokbench.foundation.files import UNFINISHED, remove_unfinished, unfinished_prefix, writing
from tokbench_plugins.counts.facts import KEY, SEAL, UNSEALED, CountFacts, LeftOut, position, read_facts, seal

if TYPE_CHECKING:
    import duckdb

_ALIKE: Final = {"pattern_name": "split", "parts": "counting in parts"}


class Part(NamedTuple):
    """A file of rows, and what to add to its ``first``."""

    path: Path
    shift: int = 0


class Merged(NamedTuple):
    """What a table holds."""

    facts: CountFacts
    different: int
    pretokens: int
    chunk_bytes: int
    """The bytes of the different chunks."""
    late: int = 0
    """The different chunks that occur first behind a given place."""

    @property
    def training_memory(self) -> int:
        """The memory that training takes, about, in bytes.

        Fitted to 3.5 GB for 17 million chunks of 199 MB, and 9.5 GB for 50 million of 597 MB.
        """
        return 400_000_000 + 29 * (self.chunk_bytes + self.different) // 2


@contextmanager
def engine(memory: int, spill: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open DuckDB with a limit of memory in bytes and a folder to spill to.

    Raises:
        BackendUnavailable: it is not installed.
        InputError: the disk is full.
    """
    try:
        import duckdb
    except ImportError as error:
        raise plugin.BackendUnavailable("counts need DuckDB: pip install 'tokbench[counts]'") from error
    settings: dict[str, str | bool | int | float | list[str]]
    settings = {"memory_limit": f"{max(memory, 1 << 28) >> 20}MiB", "temp_directory": str(spill)}
    with duckdb.connect(config=settings) as connection:
        connection.execute("SET enable_progress_bar = false")
        try:
            yield connection
        except duckdb.Error as error:
            message = str(error).partition("\n")[0]
            fix = "free some disk or raise --memory"
            if not isinstance(error, duckdb.IOException | duckdb.OutOfMemoryException):
                fix = "a table is damaged: count again"
            raise plugin.InputError(f"{spill.parent}: cannot add the counts: {message}; {fix}") from error


def merge(
    connection: duckdb.DuckDBPyConnection,
    parts: Sequence[Part],
    facts: CountFacts,
    output: Path,
    *,
    least: int = 1,
    late: int = 0,
) -> Merged:
    """Add parts into one table, in the order of first occurrence.

    Chunks that occur less than ``least`` times are left out; ``late`` is a place of the text, for :class:`Merged`.
    """
    import pyarrow.parquet as pq

    # A worker that came too late writes no rows; DuckDB takes each column of an empty file for one that holds NULL.
    parts = [part for part in parts if pq.read_metadata(part.path).num_rows] or parts[:1]
    moved = 'chunk, count, first + {} AS first, "group", part'
    rows = " UNION ALL ".join(f"SELECT {moved.format(one.shift)} FROM {_table(one.path)}" for one in parts)
    added = (
        'SELECT chunk, sum(count)::BIGINT AS count, min(first) AS first, "group", part '
        f'FROM ({rows}) GROUP BY chunk, "group", part'
    )
    groups = connection.execute(f'SELECT DISTINCT "group" FROM ({rows}) ORDER BY 1').fetchall()
    facts = replace(facts, groups=tuple(name for (name,) in groups))
    if least > 1:
        connection.execute(f"CREATE TEMP TABLE added AS {added}")
        rare = f"SELECT chunk, sum(count)::BIGINT AS n FROM added GROUP BY chunk HAVING n < {least}"
        numbers = _numbers(connection, f"SELECT count(*), sum(n), sum(n * octet_length(chunk)) FROM ({rare})")
        facts = replace(facts, left_out=_add_left_out(facts.left_out, LeftOut(least, *numbers)))
        added = f"SELECT * FROM added WHERE chunk NOT IN (SELECT chunk FROM ({rare}))"
    metadata = f"{{'{KEY}': {_quoted(facts.as_json())}, '{SEAL}': '{UNSEALED}'}}"
    options = f"FORMAT parquet, COMPRESSION zstd, KV_METADATA {metadata}"
    order = 'ORDER BY first, chunk, "group", part'
    remove_unfinished(output.parent)
    with writing(output) as unfinished:
        connection.execute(f"COPY (SELECT * FROM ({added}) {order}) TO {_quoted(unfinished)} ({options})")
        seal(unfinished)
    by_chunk = f"SELECT chunk, sum(count) AS n, min(first) AS first FROM {_table(output)} GROUP BY chunk"
    columns = f"count(*), sum(n), sum(octet_length(chunk)), count(*) FILTER (first >= {late or 'NULL'})"
    return Merged(facts, *_numbers(connection, f"SELECT {columns} FROM ({by_chunk})"))


def _numbers(connection: duckdb.DuckDBPyConnection, query: str) -> list[int]:
    (row,) = connection.execute(query).fetchall()
    return [int(number or 0) for number in row]


def _table(path: Path) -> str:
    return f"read_parquet({_quoted(path)})"


def add_tables(paths: Sequence[Path], output: Path, memory: int, least: int = 1) -> Merged:
    """Add tables as if their texts had been counted one after the other.

    Raises:
        InputError: they differ in split or version; it names both.
    """
    facts = [read_facts(path) for path in paths]
    for path, other in zip(paths[1:], facts[1:], strict=True):
        for field, name in _ALIKE.items():
            ours, theirs = getattr(facts[0], field), getattr(other, field)
            if ours != theirs:
                message = f"tables of different {name} cannot be added: {ours} and {theirs}; count one of them again"
                raise plugin.InputError(f"{paths[0]} and {path}: {message}")
    if len({other.numbered for other in facts}) > 1:
        raise plugin.InputError(
            "some of these tables have numbers of the caller and some have not: add tables of one kind first"
        )
    parts = placed(paths, facts)
    spill = output.with_name(f"{unfinished_prefix(output)}spill{UNFINISHED}")
    with engine(memory, spill) as connection:
        return merge(connection, parts, _sum(facts), output, least=least)


def placed(paths: Sequence[Path], facts: Sequence[CountFacts]) -> list[Part]:
    """Return tables as parts of one text, one after the other."""
    files, parts = 0, []
    for path, one in zip(paths, facts, strict=True):
        parts.append(Part(path, 0 if one.numbered else position(files, 0)))
        files += max(1, len(one.sources))
    return parts


def _sum(facts: Sequence[CountFacts]) -> CountFacts:
    left_out = None
    for one in facts:
        left_out = _add_left_out(left_out, one.left_out)
    return replace(
        facts[0],
        documents=sum(one.documents for one in facts),
        bytes=sum(one.bytes for one in facts),
        sources=tuple(source for one in facts for source in one.sources),
        left_out=left_out,
    )


def _add_left_out(one: LeftOut | None, other: LeftOut | None) -> LeftOut | None:
    if one is None or other is None:
        return one or other
    below = max(one.below, other.below)
    return LeftOut(below, one.different + other.different, one.pretokens + other.pretokens, one.bytes + other.bytes)


def has_order(connection: duckdb.DuckDBPyConnection, path: Path) -> bool:
    """Tell whether all chunks of a table know where they occur first."""
    return _numbers(connection, f"SELECT count(*) FROM {_table(path)} WHERE first IS NULL") == [0]


def groups_in_order(connection: duckdb.DuckDBPyConnection, path: Path) -> list[str]:
    """Return the groups of a table, in the order of first occurrence."""
    rows = connection.execute(f'SELECT "group" FROM {_table(path)} GROUP BY 1 ORDER BY min(first), 1').fetchall()
    return [name for (name,) in rows]


def chunks_in_order(
    connection: duckdb.DuckDBPyConnection, path: Path, *, one_row_each: bool = False, group: str | None = None
) -> Iterator[Any]:
    """Yield batches of ``chunk`` and ``count``, a row a chunk, in the order of first occurrence."""
    some = "" if group is None else f'WHERE "group" = {_quoted(group)} '
    query = f"SELECT chunk, sum(count)::BIGINT AS count FROM {_table(path)} {some}GROUP BY 1 ORDER BY min(first), chunk"
    if one_row_each:  # in that order already
        query = f"SELECT chunk, count FROM {_table(path)}"
    batches: Any = connection.sql(query).to_arrow_reader(1 << 18)
    yield from batches


def available_memory() -> int:
    """Return half of the memory that is free, in bytes."""
    pages = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, StopIteration):  # what the system would give back counts on Linux
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        pages = next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    return pages // 2


def _quoted(value: object) -> str:
    return "'" + str(value).replace("'", "''") + "'"
