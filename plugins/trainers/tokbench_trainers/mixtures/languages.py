"""The chunks of all languages in one list, with the counts of each language: what every mixture is made from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench_plugins.counts.facts import CountFacts
from tokbench_plugins.counts.merge import available_memory, engine, placed
from tokbench_plugins.counts.rows import check_counts, gather


class LanguageTable(NamedTuple):
    """A table of counts, and the language of its text; without one its groups are the languages."""

    language: str
    path: Path
    facts: CountFacts

    @property
    def languages(self) -> tuple[str, ...]:
        return (self.language,) if self.language else self.facts.groups


class Entries(NamedTuple):
    """The chunks of one language: int64[n] their numbers, rising; counts; and the places where they occur first."""

    chunks: NDArray[np.int64]
    counts: NDArray[np.int64]
    firsts: NDArray[np.int64]


@dataclass(frozen=True)
class LanguageCounts:
    """The chunks of all languages, in the order of first occurrence, and the counts of each language."""

    data: NDArray[np.uint8]
    """All chunks, one after the other, with room behind."""
    offsets: NDArray[np.int64]
    entries: Mapping[str, Entries]

    @property
    def size(self) -> int:
        return self.offsets.size - 1

    @cached_property
    def n_bytes(self) -> dict[str, int]:
        """The bytes of text of each language."""
        lengths = np.diff(self.offsets)
        return {name: int(lengths[entries.chunks] @ entries.counts) for name, entries in self.entries.items()}

    def save(self, folder: Path) -> None:
        for name, array in _arrays(self):
            np.save(folder / f"{name}.npy", array)

    @classmethod
    def load(cls, folder: Path, languages: Sequence[str]) -> LanguageCounts:
        """Map what :meth:`save` wrote: processes share the memory."""

        def array(name: str) -> Any:  # writable: numba would compile once more for arrays that are not
            return np.asarray(np.load(folder / f"{name}.npy", mmap_mode="c"))

        columns = range(len(Entries._fields))
        entries = {name: Entries(*(array(f"{k}-{column}") for column in columns)) for k, name in enumerate(languages)}
        return cls(array("data"), array("offsets"), entries)


def _arrays(languages: LanguageCounts) -> Iterator[tuple[str, NDArray[Any]]]:
    yield "data", languages.data
    yield "offsets", languages.offsets
    for k, entries in enumerate(languages.entries.values()):
        yield from ((f"{k}-{column}", array) for column, array in enumerate(entries))


def read_languages(tables: Sequence[LanguageTable], languages: Sequence[str], folder: Path) -> LanguageCounts:
    """Read tables of one split; ``folder`` is for what memory does not hold.

    Raises:
        InputError: a table is damaged.
    """
    parts = placed([table.path for table in tables], [table.facts for table in tables])
    with engine(available_memory(), folder) as connection:
        connection.execute("CREATE TEMP TABLE every_row (chunk BLOB, language VARCHAR, count BIGINT, first BIGINT)")
        for table, part in zip(tables, parts, strict=True):
            columns = "chunk, coalesce(nullif(?, ''), \"group\"), count, coalesce(first, 0) + ?"
            query = f"INSERT INTO every_row SELECT {columns} FROM read_parquet(?)"  # noqa: S608 - of constants
            connection.execute(query, [table.language, part.shift, str(part.path)])
        connection.execute(
            "CREATE TEMP TABLE entries AS SELECT chunk, language, sum(count)::BIGINT AS count, min(count) AS least, "
            "min(first) AS first FROM every_row GROUP BY chunk, language"
        )
        connection.execute(
            "CREATE TEMP TABLE chunks AS SELECT chunk, min(least) AS count, "
            "row_number() OVER (ORDER BY min(first), chunk) - 1 AS number FROM entries GROUP BY chunk"
        )
        batches: Any = connection.sql("SELECT chunk, count FROM chunks ORDER BY number").to_arrow_reader(1 << 18)
        chunks = gather(iter(batches))
        check_counts(chunks, tables[0].facts, ", ".join(str(table.path) for table in tables))
        return LanguageCounts(chunks.data, chunks.offsets, {name: _entries(connection, name) for name in languages})


def _entries(connection: Any, language: str) -> Entries:
    query = (
        "SELECT number, entries.count, entries.first FROM entries JOIN chunks USING (chunk) "
        "WHERE language = ? ORDER BY number"
    )
    return Entries(*connection.execute(query, [language]).fetchnumpy().values())
