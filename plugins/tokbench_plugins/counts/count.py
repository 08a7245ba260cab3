"""Counts blocks of text, in one process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from tokbench.text.faults import Faults
from tokbench.text.formats import FIELDS
from tokbench.text.given import checked_texts
from tokbench.text.rows import RowForm, text_of_row, value_of
from tokbench.text.templates import fill_template, template_at
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
    span_of_part,
    spans_of_documents,
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


class TextCutter(Protocol):
    """What cuts text by more than a split; it can be pickled."""

    @property
    def name(self) -> str:
        """Of the split, in the table."""

    @property
    def facts(self) -> dict[str, Any]:
        """What the table tells of it, for JSON."""

    def ends(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return int64[c], the positions behind each chunk, as :meth:`.scan.Scanner.ends`."""


class BlockCounter:
    """Counts the chunks of blocks by group and part."""

    def __init__(self, pattern: str, *, parts: bool = False, cutter: TextCutter | None = None) -> None:
        self._scan = cutter or scanner(pattern)
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


def blocks_of(texts: Sequence[str], groups: Sequence[str], firsts: NDArray[np.int64] | None) -> Iterator[Block]:
    """Yield the documents of each group as a block."""
    for group in dict.fromkeys(groups):
        chosen = [k for k, other in enumerate(groups) if other == group]
        data, offsets = encode_documents([texts[k] for k in chosen])
        yield Block(data, offsets, None if firsts is None else firsts[chosen], group)


def count_table(
    documents: Iterable[str],
    numbers: Iterable[int] | int | None = None,
    *,
    pattern: str = "gpt4",
    group: str = "",
    parts: bool = False,
) -> pa.Table:
    """Count documents of one group.

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
    documents = checked_texts(documents, "documents")
    counting = _Counting(pattern, parts=parts)
    if isinstance(numbers, Iterable):
        counting.numbered(_Row(text, group, number) for number, text in zip(numbers, documents, strict=True))
    else:
        counting.in_order((_Row(text, group) for text in documents), numbers)
    return counting.table(group)


def count_partition(
    batches: Iterable[Any],
    number: int | str | None = None,
    *,
    field: str = "",
    group: str = "",
    pattern: str = "gpt4",
    cutter: TextCutter | None = None,
) -> pa.Table:
    """Count what a task of a cluster reads: a partition, a file or a batch.

    Args:
        batches: Arrow tables or batches, data frames, mappings of columns, rows, or texts.
        number: where they are in the corpus: the number of this partition, or the field with the number of each row,
            which rises through the whole corpus. Without it training needs ``tie: smallest``.
        field: that holds the text, such as ``doc.text``; by default the first of the usual ones.
        group: a template of fields, such as ``{lang}`` or ``{meta.lang}``.
        pattern: a named split or a regular expression.
        cutter: what cuts the text instead of the split.

    Raises:
        InputError: a number is out of range, or a row has no such field or no text.

    >>> table = count_partition([{"text": ["no!", "nein"], "lang": ["en", "de"]}], 7, group="{lang}")
    >>> table.to_pydict()["chunk"], table.to_pydict()["group"]
    ([b'nein', b'no', b'!'], ['de', 'en', 'en'])
    """
    rows = _rows_of(batches, field, template_at(group, "group"), number if isinstance(number, str) else "")
    counting = _Counting(pattern, cutter=cutter)
    if isinstance(number, str):
        counting.numbered(rows)
    else:
        counting.in_order(rows, number)
    return counting.table()


def blocks_of_partition(batches: Iterable[Any], field: str = "") -> Iterator[Block]:
    """Yield the documents that :func:`count_partition` counts, without groups.

    Raises:
        InputError: a row has no such field or no text.
    """
    for some in _batched(_rows_of(batches, field, "", "")):
        yield from blocks_of([row.text for row in some], [""] * len(some), None)


def _rows_of(batches: Iterable[Any], field: str, group: str, column: str) -> Iterator[_Row]:
    form, faults = RowForm(field), Faults()
    for batch in batches:
        for values in _rows_of_batch(batch):
            text = text_of_row(values, form, faults, lambda: "a row of a batch")
            assert text is not None
            filled = fill_template(group, values, lambda: "a row of a batch") if group else ""
            yield _Row(text, filled, int(value_of(values, column)) if column else 0)


class _Row(NamedTuple):
    text: str
    group: str = ""
    number: int = 0


def _rows_of_batch(batch: Any) -> Iterable[Any]:
    if isinstance(batch, str):
        return [{FIELDS[0]: batch}]
    if hasattr(batch, "to_pylist"):
        return cast("Iterable[Any]", batch.to_pylist())
    if hasattr(batch, "to_dict"):
        return cast("Iterable[Any]", batch.to_dict("records"))
    if all(isinstance(values, list | np.ndarray) for values in batch.values()):
        return (dict(zip(batch, values, strict=True)) for values in zip(*batch.values(), strict=True))
    return [batch]


class _Counting:
    """Counts rows, and knows what was counted."""

    def __init__(self, pattern: str, *, parts: bool = False, cutter: TextCutter | None = None) -> None:
        self._counter = BlockCounter(pattern, parts=parts, cutter=cutter)
        name = cutter.name if cutter else resolve_pattern(pattern)
        self._facts = CountFacts(name, parts=parts, superwords=cutter.facts if cutter else None)

    def in_order(self, rows: Iterable[_Row], number: int | None) -> None:
        """Count rows of a file or partition that has a number, or none."""
        begin = None if number is None else part_position(number)
        if begin is not None:
            self._facts = replace(self._facts, numbered=True, spans=(span_of_part(begin),))
        for some in _batched(rows):
            sizes = [len(row.text.encode()) for row in some]
            starts = np.cumsum([self._facts.bytes, *sizes[:-1]])
            self._add(some, sum(sizes), None if begin is None else starts + begin)

    def numbered(self, rows: Iterable[_Row]) -> None:
        """Count rows that have numbers of their own."""
        ordered = sorted(rows, key=attrgetter("number"))
        self._facts = replace(self._facts, numbered=True, spans=spans_of_documents([row.number for row in ordered]))
        for some in _batched(ordered):
            firsts = np.array([document_position(row.number) for row in some], np.int64)
            self._add(some, sum(len(row.text.encode()) for row in some), firsts)

    def _add(self, rows: list[_Row], n_bytes: int, firsts: NDArray[np.int64] | None) -> None:
        for block in blocks_of([row.text for row in rows], [row.group for row in rows], firsts):
            self._counter.add(block)
        groups = tuple(sorted({*self._facts.groups, *(row.group for row in rows)}))
        documents, n_bytes = self._facts.documents + len(rows), self._facts.bytes + n_bytes
        self._facts = replace(self._facts, documents=documents, bytes=n_bytes, groups=groups)

    def table(self, group: str = "") -> pa.Table:
        """Return the table; ``group`` is that of no rows."""
        import pyarrow as pa

        facts = replace(self._facts, groups=self._facts.groups or (group,))
        return pa.Table.from_batches(self._counter.rows(), schema().with_metadata({KEY: facts.as_json()}))


def _batched(rows: Iterable[_Row]) -> Iterator[list[_Row]]:
    left = iter(rows)
    while some := list(islice(left, _DOCUMENTS)):
        yield some


def table_of(
    rows: pa.Table, *, pattern: str = "gpt4", documents: int = 0, cutter: TextCutter | None = None
) -> pa.Table:
    """Make a table of counts of what another program has counted or added.

    Args:
        rows: the columns ``chunk`` (UTF-8 or strings) and ``count``, one row for each chunk; and ``first``, ``group``
            and ``part``, if there are some.
        pattern: the split of the text.
        documents: their number.
        cutter: what cut the text instead of the split.

    >>> import pyarrow as pa
    >>> table_of(pa.table({"chunk": ["no", "!"], "count": [2, 1]}), pattern="gpt2").schema.names
    ['chunk', 'count', 'first', 'group', 'part']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    absent = {"first": pa.nulls, "group": partial(pa.repeat, ""), "part": partial(pa.repeat, pa.scalar(0, pa.int8()))}
    columns = [rows[name] if name in rows.column_names else absent[name](len(rows)) for name in COLUMNS]
    # Large offsets: the chunks of a batch may have more than 2 GiB.
    wide = schema().set(0, pa.field("chunk", pa.large_binary()))
    table = pa.table(columns, names=COLUMNS).cast(wide)
    facts = CountFacts(
        cutter.name if cutter else resolve_pattern(pattern),
        documents,
        pc.sum(pc.multiply(table["count"], pc.binary_length(table["chunk"]).cast(pa.int64()))).as_py() or 0,
        numbered="first" in rows.column_names,
        groups=tuple(sorted(table["group"].unique().to_pylist())),
        parts=bool(pc.max(table["part"]).as_py()),
        in_order=False,
        superwords=cutter.facts if cutter else None,
    )
    return table.replace_schema_metadata({KEY: facts.as_json()})
