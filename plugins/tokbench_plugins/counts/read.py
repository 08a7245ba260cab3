"""Reads tables of counts for training."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from tokbench import plugin
from tokbench_plugins.bpe.artefact import TrainingText
from tokbench_plugins.bpe.compiled.count import Counts
from tokbench_plugins.bpe.compiled.train import MOST_SLOTS
from tokbench_plugins.bpe.literal import Tie
from tokbench_plugins.counts.facts import CountFacts, read_facts
from tokbench_plugins.counts.merge import (
    add_tables,
    available_memory,
    chunks_in_order,
    engine,
    fitting_min_count,
    groups_in_order,
    has_order,
    slots_of,
    too_large,
)
from tokbench_plugins.counts.rows import check_counts, gather

if TYPE_CHECKING:
    import duckdb


def counts_of_tables(tables: Mapping[str, plugin.CountsFile], tie: Tie) -> Counts:
    """Return the chunks of all tables, in the order of first occurrence.

    Raises:
        InputError: a table is damaged.
        BackendError: ``tie`` is ``first``, and a table does not know where its chunks occurred first.
    """
    with _one_table(tables) as (path, folder):
        return read_counts(path, tie, folder)


class TableRows(NamedTuple):
    """The rows of tables, as one."""

    rows: Counts
    facts: CountFacts


def rows_of_tables(tables: Mapping[str, plugin.CountsFile], tie: Tie) -> TableRows:
    """Return the chunks of all tables with what was counted.

    Raises:
        As :func:`counts_of_tables`.
    """
    with _one_table(tables) as (path, folder):
        return TableRows(read_counts(path, tie, folder), read_facts(path))


def counts_of_groups(tables: Mapping[str, plugin.CountsFile], tie: Tie) -> dict[str, Counts]:
    """Return the chunks of each group, groups and chunks in the order of first occurrence.

    A table without groups is one, named like the table.

    Raises:
        As :func:`counts_of_tables`.
    """
    if not has_groups(tables):
        return {name: counts_of_tables({name: table}, tie) for name, table in tables.items()}
    with _one_table(tables) as (path, folder), engine(available_memory(), folder) as connection:
        _check_order(connection, path, tie)
        groups = groups_in_order(connection, path)
        counts = {group: gather(chunks_in_order(connection, path, group=group)) for group in groups}
        facts = read_facts(path)
    for of_group in counts.values():
        check_counts(of_group, facts, path)
    return counts


def has_groups(tables: Mapping[str, plugin.CountsFile]) -> bool:
    """Tell whether a table has groups."""
    return any(set(read_facts(table.path).groups) - {""} for table in tables.values())


@contextmanager
def _one_table(tables: Mapping[str, plugin.CountsFile]) -> Iterator[tuple[Path, Path]]:
    """Make a table of several; also give a folder for what memory does not hold."""
    with TemporaryDirectory(prefix="tokbench-counts-") as folder:
        paths = [table.path for table in tables.values()]
        path = paths[0]
        if len(paths) > 1:
            path = Path(folder, "all.counts")
            add_tables(paths, path, available_memory())
        yield path, Path(folder)


def read_counts(path: Path, tie: Tie, folder: Path) -> Counts:
    """Return the chunks of one table; ``folder`` is for what memory does not hold."""
    facts = read_facts(path)
    with engine(available_memory(), folder) as connection:
        _check_order(connection, path, tie)
        _check_size(connection, path, facts)
        ready = facts.in_order and facts.one_row_each
        counts = gather(chunks_in_order(connection, path, one_row_each=ready))
    check_counts(counts, facts, path)
    return counts


def _check_order(connection: duckdb.DuckDBPyConnection, path: Path, tie: Tie) -> None:
    if tie == "first" and not has_order(connection, path):
        message = "does not know where its chunks occur first; train with 'tie: smallest', or count with numbers"
        raise plugin.BackendError(f"{path}: {message}")


def _check_size(connection: duckdb.DuckDBPyConnection, path: Path, facts: CountFacts) -> None:
    if (slots := slots_of(connection, path, facts)) > MOST_SLOTS:
        raise plugin.InputError(f"{path}: {too_large(path, slots, fitting_min_count(connection, path, facts))}")


def text_of_tables(tables: Mapping[str, plugin.CountsFile]) -> TrainingText:
    """Describe what was counted, for an artefact."""
    digest = hashlib.sha256("".join(table.sha256 for table in tables.values()).encode()).hexdigest()
    documents, n_bytes = (sum(getattr(table, name) for table in tables.values()) for name in ("documents", "bytes"))
    return TrainingText(
        digest, documents, n_bytes, "; ".join(note for table in tables.values() for note in table.notes)
    )
