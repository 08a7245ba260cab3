"""Adds tables of counts with DuckDB, which spills to disk what memory does not hold."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tokbench import plugin
from tokbench.foundation.files import UNFINISHED, remove_unfinished, unfinished_prefix, writing
from tokbench_plugins.bpe.compiled.train import MOST_SLOTS
from tokbench_plugins.counts.facts import (
    KEY,
    SEAL,
    UNSEALED,
    CountFacts,
    LeftOut,
    joined_spans,
    named_span,
    position,
    read_facts,
    seal,
    sha256_of,
)

if TYPE_CHECKING:
    import duckdb

BASE: Final = 256 << 20
"""The memory of a process before it counts or adds."""
_LEAST: Final = 128 << 20
"""What DuckDB needs for each thread."""
_SMALL: Final = 64 << 10
"""The mean size of files of which most of the work is to open them, for which threads wait."""
_FEW: Final = 5
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
    before: tuple[int, ...] = ()
    """The different chunks that occur first before each of some places."""
    fitting: int = 1
    """The ``--min-count`` with which the table can be trained on."""

    @property
    def slots(self) -> int:
        """What :data:`MOST_SLOTS` limits."""
        return self.chunk_bytes + self.different + 1

    @property
    def training_memory(self) -> int:
        """The memory that training takes, about, in bytes.

        Fitted to 1.2 GB for 5.2 million chunks of 8 bytes each, 3.7, 5.8 and 7.7 for 19, 29 and 38 million of 11, and
        21.8 for 82 million of 17, with 131,072 tokens.
        """
        return 300_000_000 + 90 * self.different + 10 * self.chunk_bytes


@contextmanager
def engine(memory: int, spill: Path, threads: int | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open DuckDB with a limit of memory in bytes and a folder to spill to; by default with all cores.

    Raises:
        BackendUnavailable: it is not installed.
        InputError: the disk is full.
    """
    try:
        import duckdb
    except ImportError as error:
        raise plugin.BackendUnavailable("counts need DuckDB: pip install 'tokbench[counts]'") from error
    room = max(memory - BASE, _LEAST)
    settings: dict[str, str | bool | int | float | list[str]]
    settings = {"memory_limit": f"{room >> 20}MiB", "temp_directory": str(spill)}
    settings["threads"] = min(threads or os.cpu_count() or 1, room // _LEAST)  # each has buffers of its own
    with duckdb.connect(config=settings) as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute("SET enable_external_file_cache = false")  # no table is read twice
        # Or a column's type would depend on the number of files, and on whether one of them is empty.
        connection.execute("SET disabled_optimizers = 'statistics_propagation'")
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
    places: Sequence[int] = (),
) -> Merged:
    """Add parts into one table, in the order of first occurrence.

    Chunks that occur less than ``least`` times are left out, of the sum; ``places`` are of the text, for
    :class:`Merged`.
    """
    rows = _moved(connection, parts)
    added = (
        'SELECT chunk, sum(count)::BIGINT AS count, min(first) AS first, "group", part '
        f'FROM ({rows}) GROUP BY chunk, "group", part'
    )
    if not facts.groups:
        groups = connection.execute(f'SELECT DISTINCT "group" FROM ({rows}) ORDER BY 1').fetchall()
        facts = replace(facts, groups=tuple(name for (name,) in groups))
    connection.execute("SET preserve_insertion_order = false")
    connection.execute(f"CREATE TEMP TABLE added AS {added}")  # to add and to sort at once takes more memory
    connection.execute("RESET preserve_insertion_order")
    kept = "added"
    if least > 1:
        rare = f"SELECT chunk, sum(count)::BIGINT AS n FROM added GROUP BY chunk HAVING n < {least}"
        numbers = _numbers(connection, f"SELECT count(*), sum(n), sum(n * octet_length(chunk)) FROM ({rare})")
        facts = replace(facts, left_out=_add_left_out(facts.left_out, LeftOut(least, *numbers)))
        kept = f"(SELECT * FROM added WHERE chunk NOT IN (SELECT chunk FROM ({rare})))"
    metadata = f"{{'{KEY}': {_quoted(facts.as_json())}, '{SEAL}': '{UNSEALED}'}}"
    options = f"FORMAT parquet, COMPRESSION zstd, KV_METADATA {metadata}"
    order = 'ORDER BY first, chunk, "group", part'
    remove_unfinished(output.parent)
    with writing(output) as unfinished:
        connection.execute(f"COPY (SELECT * FROM {kept} {order}) TO {_quoted(unfinished)} ({options})")
        seal(unfinished)
    connection.execute("DROP TABLE added")
    by_chunk = _by_chunk(output, facts)
    columns = ["count(*)", "sum(n)", "sum(octet_length(chunk))"]
    columns += [f"count(*) FILTER (first < {place})" for place in places]
    query = f"SELECT {', '.join(columns)} FROM ({by_chunk})"
    different, pretokens, chunk_bytes, *before = _numbers(connection, query)
    merged = Merged(facts, different, pretokens, chunk_bytes, tuple(before))
    if merged.slots > MOST_SLOTS:
        merged = merged._replace(fitting=fitting_min_count(connection, output, facts))
    return merged


def _moved(connection: duckdb.DuckDBPyConnection, parts: Sequence[Part]) -> str:
    """Return a query of the rows of parts, each with its ``first`` in the whole text."""
    import pyarrow as pa

    files = _files([part.path for part in parts])
    if not any(part.shift for part in parts):
        return f'SELECT chunk, count, first, "group", part FROM read_parquet({files})'
    shifts = pa.table({"path": [str(part.path) for part in parts], "shift": [part.shift for part in parts]})
    connection.register("shifts", shifts)
    return (
        'SELECT chunk, count, first + shift AS first, "group", part '
        f"FROM read_parquet({files}, filename = true) JOIN shifts ON filename = path"
    )


def _by_chunk(path: Path, facts: CountFacts) -> str:
    """Return a query of the different chunks of a table; to add their rows up takes long where each has one."""
    if facts.one_row_each:
        return f"SELECT chunk, count AS n, first FROM {_table(path)}"
    return f"SELECT chunk, sum(count) AS n, min(first) AS first FROM {_table(path)} GROUP BY chunk"


def too_large(path: Path, slots: int, fitting: int) -> str:
    """Return why a table cannot be trained on, and what to do."""
    return (
        f"{slots:,} bytes of pre-tokens and their ends are more than the {MOST_SLOTS:,} that training takes; leave "
        f"rare ones out: tokbench count --add {shlex.quote(str(path))} --min-count {fitting} -o SMALLER"
    )


def slots_of(connection: duckdb.DuckDBPyConnection, path: Path, facts: CountFacts) -> int:
    """Return what :data:`MOST_SLOTS` limits, of a table; of rows with one chunk each it is read without their sum."""
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(path)
    if sum(metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups)) < MOST_SLOTS:
        return 0
    return _numbers(connection, f"SELECT 1 + sum(octet_length(chunk) + 1) FROM ({_by_chunk(path, facts)})")[0]


def fitting_min_count(connection: duckdb.DuckDBPyConnection, path: Path, facts: CountFacts) -> int:
    """Return the smallest ``--min-count`` whose table can be trained on."""
    of_n = f"SELECT n, sum(octet_length(chunk) + 1) AS slots FROM ({_by_chunk(path, facts)}) GROUP BY n"
    rising = f"SELECT n, sum(slots) OVER (ORDER BY n DESC) AS slots FROM ({of_n})"
    return _numbers(connection, f"SELECT min(n) FROM ({rising}) WHERE slots < {MOST_SLOTS}")[0]


def _numbers(connection: duckdb.DuckDBPyConnection, query: str) -> list[int]:
    (row,) = connection.execute(query).fetchall()
    return [int(number or 0) for number in row]


def _files(paths: Sequence[Path]) -> str:
    return f"[{', '.join(map(_quoted, paths))}]"


def _table(path: Path) -> str:
    return f"read_parquet({_quoted(path)})"


def add_tables(paths: Sequence[Path], output: Path, memory: int, least: int = 1, *, gaps: bool = False) -> Merged:
    """Add tables as if their texts had been counted one after the other.

    Raises:
        InputError: they differ in split or version, or hold the same text; it names both. Or numbers are missing
            between the first and the last, unless ``gaps`` may be.
    """
    spill = output.with_name(f"{unfinished_prefix(output)}spill{UNFINISHED}")
    small = sum(path.stat().st_size for path in paths if path.is_file()) < _SMALL * len(paths)
    with engine(memory, spill, 1 if small else None) as connection:
        import duckdb

        read = _read_all_facts(connection, paths)
        _refuse_unlike(paths, read)
        _refuse_doubled(paths, read)
        facts = _sum(read)
        if facts.gaps and not gaps:
            missing = ", ".join(named_span(*gap) for gap in facts.gaps[:_FEW])
            more = f" and {len(facts.gaps) - _FEW:,} more gaps" if len(facts.gaps) > _FEW else ""
            raise plugin.InputError(f"missing: {missing}{more}; count what was lost, or allow it with --gaps")
        try:
            return merge(connection, placed(paths, read), facts, output, least=least)
        except duckdb.Error:
            for path in paths:
                read_facts(path)  # an error of its own names it
            raise


def _read_all_facts(connection: duckdb.DuckDBPyConnection, paths: Sequence[Path]) -> list[CountFacts]:
    """Read what tables were made from, in one statement; what is sealed or damaged is read by itself."""
    import duckdb

    query = (
        f"SELECT file_name, key, value FROM parquet_kv_metadata({_files(paths)}) "
        f"WHERE decode(key) IN ('{KEY}', '{SEAL}')"
    )
    metadata: dict[str, dict[bytes, bytes]] = {}
    with suppress(duckdb.Error):
        for name, key, value in connection.execute(query).fetchall():
            metadata.setdefault(name, {})[key] = value
    read = []
    for path in paths:
        keys = metadata.get(str(path), {})
        read.append(CountFacts.of(keys, str(path)) if keys.keys() == {KEY.encode()} else read_facts(path))
    return read


def _refuse_unlike(paths: Sequence[Path], read: Sequence[CountFacts]) -> None:
    for path, other in zip(paths[1:], read[1:], strict=True):
        for field, name in _ALIKE.items():
            ours, theirs = getattr(read[0], field), getattr(other, field)
            if ours != theirs:
                message = f"tables of different {name} cannot be added: {ours} and {theirs}; count one of them again"
                raise plugin.InputError(f"{paths[0]} and {path}: {message}")
    if len({other.numbered for other in read}) > 1:
        raise plugin.InputError(
            "some of these tables have numbers of the caller and some have not: add tables of one kind first"
        )


def _refuse_doubled(paths: Sequence[Path], read: Sequence[CountFacts]) -> None:
    unplaced: dict[tuple[object, ...], list[Path]] = {}
    for path, facts in zip(paths, read, strict=True):
        if facts.documents and not facts.spans:
            unplaced.setdefault((facts.documents, facts.bytes, facts.sources), []).append(path)
    for alike in unplaced.values():
        known: dict[str, Path] = {}
        for path in alike if len(alike) > 1 else ():
            if first := known.get(digest := sha256_of(path)):
                raise plugin.InputError(f"{first} and {path} are the same table; leave one of them out")
            known[digest] = path
    spans = sorted((span, path) for path, facts in zip(paths, read, strict=True) for span in facts.spans)
    for (one, path), (other, again) in pairwise(spans):
        if other[0] < one[1]:
            both = named_span(other[0], min(one[1], other[1]))
            raise plugin.InputError(f"{path} and {again} both hold {both}; leave one of them out")


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
        groups=tuple(sorted({group for one in facts for group in one.groups})),
        spans=joined_spans(span for one in facts for span in one.spans) if all(one.spans for one in facts) else (),
        in_order=True,
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
