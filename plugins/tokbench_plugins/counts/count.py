"""Counts blocks of text, in one process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.text.given import checked_texts
from tokbench_plugins.bpe.compiled.count import ChunkCounter, encode_documents
from tokbench_plugins.bpe.compiled.scan import scanner
from tokbench_plugins.bpe.patterns import Splitter, resolve_pattern
from tokbench_plugins.counts.facts import (
    COLUMNS,
    KEY,
    CountFacts,
    document_position,
    part_of,
    part_position,
    schema,
)
from tokbench_plugins.counts.rows import rows_of

if TYPE_CHECKING:
    import pyarrow as pa

_DOCUMENTS: Final = 1000


class Block(NamedTuple):
    """Documents of one group, one after the other."""

    data: NDArray[np.uint8]
    """uint8[n], valid UTF-8, with 16 bytes of room behind."""
    offsets: NDArray[np.int64]
    """int64[d + 1]."""
    firsts: NDArray[np.int64] | None
    """int64[d], the places where the documents begin; ``None`` if unknown."""
    group: str = ""


class BlockCounter:
    """Counts the chunks of blocks by group and part."""

    def __init__(self, pattern: str, *, parts: bool = False) -> None:
        self._scan = scanner(pattern)
        self._split = None if self._scan else Splitter(pattern)
        self._parts = parts
        self._counters: dict[tuple[str, int], ChunkCounter] = {}
        self._firsts: dict[tuple[str, int], list[NDArray[np.int64]]] = {}

    @property
    def n_bytes(self) -> int:
        """The memory of the tables."""
        return sum(counter.n_bytes for counter in self._counters.values())

    def add(self, block: Block) -> None:
        ends = self._ends(block)
        bounds = np.concatenate([block.offsets[:1], ends])
        if self._parts and block.firsts is not None:
            parts = part_of(_places(bounds[:-1], block.offsets, block.firsts))
            cuts = [0, *(np.flatnonzero(np.diff(parts)) + 1).tolist(), parts.size]
            for start, end in pairwise(cuts):
                if end > start:
                    self._add(block, bounds[start : end + 1], int(parts[start]))
        else:
            self._add(block, bounds, 0)

    def rows(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a table, by group and part, each in order of first occurrence."""
        for (group, part), counter in sorted(self._counters.items()):
            firsts = self._firsts[group, part]
            yield from rows_of(counter.counts(), np.concatenate(firsts) if firsts else None, group, part)

    def _ends(self, block: Block) -> NDArray[np.int64]:
        if self._scan:
            return self._scan.ends(block.data, block.offsets)
        assert self._split is not None
        data, offsets = block.data, block.offsets.tolist()
        texts = (bytes(data[a:b]).decode() for a, b in pairwise(offsets))
        lengths = [len(chunk.encode()) for text in texts for chunk in self._split(text)]
        ends: NDArray[np.int64] = np.cumsum(np.array(lengths, np.int64)) + block.offsets[0]
        return ends

    def _add(self, block: Block, bounds: NDArray[np.int64], part: int) -> None:
        key = block.group, part
        if key not in self._counters:
            self._counters[key], self._firsts[key] = ChunkCounter(), []
        counter = self._counters[key]
        known = counter.firsts.size
        counter.add(block.data, bounds)
        if block.firsts is not None:
            self._firsts[key].append(_places(counter.firsts[known:], block.offsets, block.firsts))


def _places(at: NDArray[np.int64], offsets: NDArray[np.int64], firsts: NDArray[np.int64]) -> NDArray[np.int64]:
    document = np.searchsorted(offsets, at, side="right") - 1 if firsts.size > 1 else 0
    places: NDArray[np.int64] = at - offsets[document] + firsts[document]
    return places


def count_table(
    documents: Iterable[str],
    numbers: Iterable[int] | int | None = None,
    *,
    pattern: str = "gpt4",
    group: str = "",
    parts: bool = False,
) -> pa.Table:
    """Count documents: what a task of Ray, datatrove, Dask or Spark calls for its batch, file or partition.

    Args:
        documents: the texts; no chunk crosses from one to the next.
        numbers: where they are in the corpus: the number of each document, which rises through the whole corpus, or one
            number for all of them, if they are a file or partition in order. Batches, and the documents of a batch that
            have numbers of their own, may come in any order. Without numbers training needs ``tie: smallest``.
        pattern: a named split or a regular expression.
        group: of all these documents.
        parts: count 16 parts of the text by themselves, for intervals; needs ``numbers``.

    Raises:
        InputError: a number is out of range, or a document is not a string of Unicode.

    >>> table = count_table(["no!", "no no"], [1, 0], pattern="gpt2")
    >>> table.to_pydict()["chunk"], table.to_pydict()["count"]
    ([b'no', b' no', b'!'], [2, 1, 1])
    """
    import pyarrow as pa

    documents = checked_texts(documents, "documents")
    counter = BlockCounter(pattern, parts=parts)
    each: Iterator[int] | None = None
    begin: int | None = None
    if isinstance(numbers, Iterable):
        order = sorted(zip(numbers, documents, strict=True), key=itemgetter(0))
        each, documents = (document_position(number) for number, _ in order), [text for _, text in order]
    elif numbers is not None:
        begin = part_position(numbers)
    texts = iter(documents)
    n_documents = n_bytes = 0
    while some := list(islice(texts, _DOCUMENTS)):
        data, offsets = encode_documents(some)
        firsts = None if begin is None else offsets[:-1] + begin + n_bytes
        if each is not None:
            firsts = np.fromiter(islice(each, len(some)), np.int64, len(some))
        counter.add(Block(data, offsets, firsts, group))
        n_documents, n_bytes = n_documents + len(some), n_bytes + int(offsets[-1])
    facts = CountFacts(
        resolve_pattern(pattern), n_documents, n_bytes, numbered=numbers is not None, groups=(group,), parts=parts
    )
    return pa.Table.from_batches(counter.rows(), schema().with_metadata({KEY: facts.as_json()}))


def table_of(rows: pa.Table, *, pattern: str = "gpt4", documents: int = 0) -> pa.Table:
    """Make a table of counts of what another program has counted or added.

    Args:
        rows: the columns ``chunk`` (UTF-8 or strings) and ``count``, one row for each chunk; and ``first``, ``group``
            and ``part``, if there are some.
        pattern: the split of the text.
        documents: their number.

    >>> import pyarrow as pa
    >>> table_of(pa.table({"chunk": ["no", "!"], "count": [2, 1]}), pattern="gpt2").schema.names
    ['chunk', 'count', 'first', 'group', 'part']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    absent = {"first": pa.nulls, "group": partial(pa.repeat, ""), "part": partial(pa.repeat, pa.scalar(0, pa.int8()))}
    columns = [rows[name] if name in rows.column_names else absent[name](len(rows)) for name in COLUMNS]
    table = pa.table(columns, names=COLUMNS).cast(schema()).sort_by([("first", "ascending"), ("chunk", "ascending")])
    facts = CountFacts(
        resolve_pattern(pattern),
        documents,
        pc.sum(pc.multiply(table["count"], pc.binary_length(table["chunk"]).cast(pa.int64()))).as_py() or 0,
        numbered="first" in rows.column_names,
        groups=tuple(sorted(table["group"].unique().to_pylist())),
        parts=bool(pc.max(table["part"]).as_py()),
    )
    return table.replace_schema_metadata({KEY: facts.as_json()})
