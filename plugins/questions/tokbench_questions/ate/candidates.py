"""The texts that a vocabulary may have been trained on: pre-tokens with their counts, in parts of each candidate."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench import InputError

PARTS: Final = 8  # of each candidate, of which random halves give the intervals
Texts = Mapping[str, Sequence[str]]


class Candidates(NamedTuple):
    """Different chunks and their counts: a sparse matrix with ``PARTS`` columns for each candidate."""

    names: list[str]
    chunks: list[bytes]
    counts: Any
    n_bytes: NDArray[np.float64]
    """A row for each candidate, a column for each part."""


def _candidates(rows: Iterable[tuple[str, int, bytes, int]]) -> Candidates:
    from scipy.sparse import coo_array

    names: dict[str, int] = {}
    chunks: dict[bytes, int] = {}
    found = [
        (chunks.setdefault(chunk, len(chunks)), names.setdefault(name, len(names)) * PARTS + part, count)
        for name, part, chunk, count in rows
    ]
    chunk, column, count = np.array(found, dtype=np.int64).reshape(-1, 3).T
    counts = coo_array((count.astype(float), (chunk, column)), shape=(len(chunks), len(names) * PARTS)).tocsr()
    n_bytes = (counts.T @ np.array([*map(len, chunks)], dtype=float)).reshape(-1, PARTS)
    short = [name for name, parts in zip(names, n_bytes, strict=True) if not parts.all()]
    if short or len(names) < 2:  # noqa: PLR2004
        need = f"a candidate needs {PARTS} documents or lines: {', '.join(short)}" if short else "give two or more"
        raise InputError(f"too little text to compare candidates; {need}")
    return Candidates([*names], [*chunks], counts, n_bytes)


def from_texts(texts: Texts, split: str) -> Candidates:
    r"""Split the documents of each candidate, or the lines of few, into chunks.

    >>> some = from_texts({"a": ["so so"] * 8, "b": ["no"] * 8}, r" ?\w+")
    >>> some.names, some.chunks, some.n_bytes[:, 0].tolist()
    (['a', 'b'], [b'so', b' so', b'no'], [5.0, 2.0])
    """
    import regex

    chunks = regex.compile(split).findall
    return _candidates(
        (name, number % PARTS, chunk.encode(), 1)
        for name, some in texts.items()
        for number, document in enumerate(some if len(some) >= PARTS else "".join(some).splitlines(keepends=True))
        for chunk in chunks(document)
    )


def table_split(paths: Sequence[Path]) -> str:
    """Return the split of tables of ``tokbench count``; an InputError if they differ."""
    import pyarrow.parquet as pq

    splits = {}
    for path in paths:
        try:
            facts = pq.read_schema(path).metadata[b"tokbench.counts"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}: not a table of counts; make one with tokbench count") from error
        splits[str(json.loads(facts)["pattern"])] = path
    if len(splits) > 1:
        raise InputError(f"{' and '.join(map(str, splits.values()))}: different splits; count again with one")
    return next(iter(splits))


def from_tables(paths: Sequence[Path]) -> Candidates:
    """Read tables of ``tokbench count``: a candidate for each group, or for a table without groups.

    Tables without ``--intervals`` are parted at random, as if each pre-token were a document.
    """
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)

    def rows() -> Iterable[tuple[str, int, bytes, int]]:
        for path in paths:
            chunks, counts, groups, parts = pq.read_table(path, columns=["chunk", "count", "group", "part"]).columns
            has_parts = len(parts.unique()) > 1
            columns = (column.to_pylist() for column in (chunks, counts, groups, parts))
            for chunk, count, group, part in zip(*columns, strict=True):
                some = {part: count} if has_parts else enumerate(rng.multinomial(count, [1 / PARTS] * PARTS).tolist())
                yield from ((group or path.stem, place % PARTS, chunk, n) for place, n in dict(some).items() if n)

    return _candidates(rows())
