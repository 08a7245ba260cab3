"""Reads tables of counts for training."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from tokbench import plugin
from tokbench_plugins.bpe.artefact import TrainingText
from tokbench_plugins.bpe.compiled.count import Counts
from tokbench_plugins.bpe.literal import Tie
from tokbench_plugins.counts.facts import read_facts
from tokbench_plugins.counts.merge import add_tables, available_memory, chunks_in_order, engine, has_order
from tokbench_plugins.counts.rows import check_counts, gather


def counts_of_tables(tables: Mapping[str, plugin.CountsFile], tie: Tie) -> Counts:
    """Return the chunks of all tables, in the order of first occurrence.

    Raises:
        InputError: a table is damaged.
        BackendError: ``tie`` is ``first``, and a table does not know where its chunks occurred first.
    """
    with TemporaryDirectory(prefix="tokbench-counts-") as folder:
        paths = [table.path for table in tables.values()]
        path = paths[0]
        if len(paths) > 1:
            path = Path(folder, "all.counts")
            add_tables(paths, path, available_memory())
        return read_counts(path, tie, folder=Path(folder))


def read_counts(path: Path, tie: Tie, folder: Path) -> Counts:
    """Return the chunks of one table; ``folder`` is for what memory does not hold."""
    facts = read_facts(path)
    with engine(available_memory(), folder) as connection:
        if tie == "first" and not has_order(connection, path):
            message = "does not know where its chunks occur first; train with 'tie: smallest', or count with firsts"
            raise plugin.BackendError(f"{path}: {message}")
        counts = gather(chunks_in_order(connection, path, one_row_each=not facts.parts and len(facts.groups) < 2))  # noqa: PLR2004
    check_counts(counts, facts, path)
    return counts


def text_of_tables(tables: Mapping[str, plugin.CountsFile]) -> TrainingText:
    """Describe what was counted, for an artefact."""
    digest = hashlib.sha256("".join(table.sha256 for table in tables.values()).encode()).hexdigest()
    documents, n_bytes = (sum(getattr(table, name) for table in tables.values()) for name in ("documents", "bytes"))
    return TrainingText(
        digest, documents, n_bytes, "; ".join(note for table in tables.values() for note in table.notes)
    )
