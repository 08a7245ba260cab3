"""The rows of a table of counts, from and to arrays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from tokbench import plugin
from tokbench_plugins.bpe.compiled.count import Counts, grown
from tokbench_plugins.bpe.compiled.encode_chunks import PADDING
from tokbench_plugins.bpe.compiled.scan import scanner
from tokbench_plugins.bpe.patterns import Splitter
from tokbench_plugins.counts.facts import CountFacts, schema

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS: Final = 1 << 18
"""Rows of a batch: what fits into the offsets of a binary column at any length that occurs."""


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


def gather(batches: Iterator[Any]) -> Counts:
    """Put the columns ``chunk`` and ``count`` of batches into arrays."""
    data, offsets, counts = np.empty(1 << 20, np.uint8), np.zeros(1 << 16, np.int64), np.empty(1 << 16, np.int64)
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


def check_counts(counts: Counts, facts: CountFacts, path: Path | str) -> None:
    """Refuse counts below 1 and chunks that the split does not give.

    Raises:
        InputError: it names the first such row.
    """
    if counts.counts.size and counts.counts.min() < 1:
        row = int(np.argmax(counts.counts < 1))
        raise plugin.InputError(
            f"{path}: row {row + 1}: a count of {counts.counts[row]}: counts are 1 or more; count again"
        )
    if facts.superwords:
        return
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
        whole = all(len(split(chunk.decode())) == 1 for chunk, _ in counts.chunks())
    if not whole:
        message = f"holds chunks that the split {facts.pattern_name} does not give; count again with this split"
        raise plugin.InputError(f"{path}: {message}")
