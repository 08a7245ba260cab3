"""The table of counts: one Parquet file, with what was counted in its metadata.

========= ======== ============================================================================================
column    type     meaning
========= ======== ============================================================================================
``chunk`` binary   the pre-token, as UTF-8
``count`` int64    how often it occurs
``first`` int64    where it occurs first: a number that rises through the text, or null where nobody knows
``group`` string   the group, such as a language; empty without groups
``part``  int8     one of 16 parts of the text, for intervals; 0 if the table has none
========= ======== ============================================================================================

A row is a chunk of one group and part; rows are in the order of ``first``. The key ``tokbench.counts`` of the metadata
is :class:`CountFacts` as JSON. Counts of two texts add up, and the smaller ``first`` stays, so that parts may arrive in
any order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from tokbench import plugin
from tokbench_plugins.bpe.compiled.count import Counts, grown
from tokbench_plugins.bpe.compiled.encode_chunks import PADDING
from tokbench_plugins.bpe.compiled.scan import scanner
from tokbench_plugins.bpe.patterns import Splitter, pattern_name

if TYPE_CHECKING:
    import pyarrow as pa

KEY: Final = "tokbench.counts"
VERSION: Final = 1
COLUMNS: Final = ("chunk", "count", "first", "group", "part")
PARTS: Final = 16
_FILE: Final = 40
_BLOCK: Final = 20
_ROWS: Final = 1 << 18
"""Rows of a batch: what fits into the offsets of a binary column at any length that occurs."""


def position(file: int, byte: int) -> int:
    """Return the number of a place: files in order, and the bytes of each.

    >>> position(0, 7), position(1, 0) == 2**40
    (7, True)
    """
    return (file << _FILE) + byte


def part_of(positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return int64[n], the part of each place: blocks of a megabyte take turns, and begin one later in each file.

    >>> part_of(np.array([0, 1 << 20, 17 << 20, position(3, 0)])).tolist()
    [0, 1, 1, 3]
    """
    parts: NDArray[np.int64] = ((positions >> _FILE) + (positions >> _BLOCK & (1 << _FILE - _BLOCK) - 1)) % PARTS
    return parts


@dataclass(frozen=True)
class LeftOut:
    """What a table lacks, because it is too rare."""

    below: int
    """The chunks that occur less often."""
    different: int = 0
    pretokens: int = 0
    bytes: int = 0

    def __str__(self) -> str:
        return (
            f"{self.different:,} different pre-tokens that occur less than {self.below} times are left out: "
            f"{self.pretokens:,} pre-tokens, {self.bytes:,} bytes"
        )


@dataclass(frozen=True)
class CountFacts:
    """What was counted."""

    pattern: str
    """The regular expression."""
    documents: int = 0
    bytes: int = 0
    """Of the documents, in UTF-8."""
    sources: tuple[str, ...] = ()
    """The files, in order; the numbers of ``first`` begin anew at multiples of 2^40 for each."""
    numbered: bool = False
    """Whether ``first`` counts through all tables that are to be added, as numbers that the caller gave do."""
    parts: bool = False
    """Whether the text was counted in parts."""
    normalizer: str = ""
    left_out: LeftOut | None = None

    @property
    def pattern_name(self) -> str:
        return pattern_name(self.pattern)

    def as_json(self) -> str:
        left_out = None if self.left_out is None else asdict(self.left_out)
        known = {**asdict(self), "left_out": left_out, "pattern_name": self.pattern_name}
        return json.dumps({"version": VERSION, **known})

    @classmethod
    def of(cls, metadata: Mapping[Any, Any] | None, where: str) -> CountFacts:
        """Read the metadata of a table; ``where`` is for errors."""
        text = (metadata or {}).get(KEY.encode())
        if text is None:
            raise plugin.InputError(
                f"{where}: not a table of counts: its metadata has no {KEY!r}; make one with: tokbench count"
            )
        known = json.loads(text)
        if known.pop("version") != VERSION:
            raise plugin.InputError(f"{where}: counts of another version of tokbench; count again")
        known.pop("pattern_name")
        left_out = known.pop("left_out")
        facts = cls(**{**known, "sources": tuple(known["sources"])})
        return replace(facts, left_out=LeftOut(**left_out)) if left_out else facts


def schema() -> pa.Schema:
    """Return the columns of a table."""
    import pyarrow as pa

    types = (pa.binary(), pa.int64(), pa.int64(), pa.string(), pa.int8())
    return pa.schema(list(zip(COLUMNS, types, strict=True)))


def rows_of(counts: Counts, firsts: NDArray[np.int64] | None, group: str, part: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one group and part."""
    import pyarrow as pa

    for start in range(0, counts.counts.size, _ROWS):
        some = slice(start, start + _ROWS)
        size = counts.counts[some].size
        offsets = counts.offsets[start : start + size + 1]
        data = counts.data[offsets[0] : offsets[-1]]
        buffers = [
            None,
            pa.py_buffer((offsets - offsets[0]).astype(np.int32)),
            pa.py_buffer(np.ascontiguousarray(data)),
        ]
        first = pa.nulls(size, pa.int64()) if firsts is None else pa.array(firsts[some])
        columns = [
            pa.BinaryArray.from_buffers(pa.binary(), size, buffers),
            pa.array(counts.counts[some]),
            first,
            pa.repeat(group, size),
            pa.repeat(pa.scalar(part, pa.int8()), size),
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=schema())


def read_facts(path: Path) -> CountFacts:
    """Return what a table was made from.

    Raises:
        InputError: the file cannot be read, is cut short, or is no table of counts.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(path)
    except OSError as error:
        raise plugin.InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except pa.ArrowInvalid as error:
        raise plugin.InputError(f"{path}: not a whole Parquet file; count again, or copy it again") from error
    missing = [name for name in COLUMNS if name not in metadata.schema.to_arrow_schema().names]
    if missing:
        raise plugin.InputError(f"{path}: not a table of counts: it has no column {', '.join(missing)}")
    return CountFacts.of(metadata.metadata, str(path))


def gather(batches: Iterator[Any], rows: int) -> Counts:
    """Put the columns ``chunk`` and ``count`` of batches into arrays; ``rows`` is a guess of their number."""
    data, offsets = np.empty(16 * rows + PADDING, np.uint8), np.zeros(rows + 1, np.int64)
    counts = np.empty(rows, np.int64)
    known = used = 0
    for batch in batches:
        chunks, size = batch.column("chunk"), batch.num_rows
        ends = np.frombuffer(chunks.buffers()[1], np.int32)[chunks.offset : chunks.offset + size + 1].astype(np.int64)
        length = int(ends[-1] - ends[0])
        if known + size + 1 > offsets.size:
            offsets, counts = grown(offsets, known + 1, known + size + 1), grown(counts, known, known + size)
        if used + length + PADDING > data.size:
            data = grown(data, used, used + length + PADDING)
        data[used : used + length] = np.frombuffer(chunks.buffers()[2], np.uint8)[ends[0] : ends[-1]]
        offsets[known + 1 : known + size + 1] = ends[1:] - ends[0] + used
        counts[known : known + size] = batch.column("count").to_numpy()
        known, used = known + size, used + length
    data[used : used + PADDING] = 0
    return Counts(data[: used + PADDING], offsets[: known + 1], counts[:known])


def check_counts(counts: Counts, facts: CountFacts, path: Path) -> None:
    """Refuse counts below 1 and chunks that the split does not give.

    Raises:
        InputError: it names the first such row.
    """
    if counts.counts.size and counts.counts.min() < 1:
        row = int(np.argmax(counts.counts < 1))
        raise plugin.InputError(
            f"{path}: row {row + 1}: a count of {counts.counts[row]}: counts are 1 or more; count again"
        )
    data, offsets = counts.data[: counts.offsets[-1]], counts.offsets
    whole = bool((np.diff(offsets) > 0).all()) and not ((data[offsets[:-1]] & 0xC0) == 0x80).any()  # noqa: PLR2004
    if whole:
        try:
            str(data.tobytes(), "utf-8")
        except UnicodeDecodeError:
            whole = False
    scan = scanner(facts.pattern)
    if whole and scan is not None:
        whole = scan.ends(counts.data, offsets).size == counts.counts.size
    elif whole:
        split = Splitter(facts.pattern)
        whole = all(len(split(bytes(data[a:b]).decode())) == 1 for a, b in pairwise(offsets))
    if not whole:
        message = f"holds chunks that the split {facts.pattern_name} does not give; count again with this split"
        raise plugin.InputError(f"{path}: {message}")
