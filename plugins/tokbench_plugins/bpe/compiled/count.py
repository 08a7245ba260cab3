"""From a stream of documents to the chunks that are different, with their counts, fast.

The documents are taken in batches of a few megabytes, so that the corpus is never held: memory is bounded
by what is different in it. The chunks keep the order in which they first occur, which is what the ties
of training go by.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from threading import local
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin import valid_unicode
from tokbench_plugins.bpe.compiled.count_kernels import BLOCK, add_chunks, move_table, read_counts
from tokbench_plugins.bpe.compiled.scan import scanner
from tokbench_plugins.bpe.fast.parallel import batches, in_order
from tokbench_plugins.bpe.fast.train import count_chunks

__all__ = ["ChunkCounter", "Counts", "count_documents", "encode_documents"]

_NO_WEIGHTS: Final = np.empty(0, np.int64)


class Counts(NamedTuple):
    """Different chunks in the order in which they first occur.

    Attributes:
        data: uint8[n], the UTF-8 of all chunks, one after the other.
        offsets: int64[c + 1]; chunk ``k`` is ``data[offsets[k]:offsets[k + 1]]``.
        counts: int64[c], how often each occurs.
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> Counts:
        """The same in arrays.

        >>> Counts.of({"no": 2, "é": 1}).offsets.tolist()
        [0, 2, 4]
        """
        data, offsets = encode_documents(list(counts))
        return cls(data, offsets, np.fromiter(counts.values(), np.int64, len(counts)))


class ChunkCounter:
    """Different chunks and their counts, growing.

    >>> counter = ChunkCounter()
    >>> counter.add(*encode_documents(["no", "yes", "no"]))
    >>> counter.merge(Counts.of({"yes": 5, "maybe": 1}))
    >>> counts = counter.counts()
    >>> counts.data.tobytes(), counts.counts.tolist()
    (b'noyesmaybe', [2, 6, 1])
    """

    def __init__(self) -> None:
        self._known = 0
        self._data = np.empty(1 << 16, np.uint8)
        self._offsets = np.zeros((1 << 12) + 1, np.int64)
        self._table = _empty_table(1 << 13)

    def add(
        self, data: NDArray[np.uint8], offsets: NDArray[np.int64], weights: NDArray[np.int64] = _NO_WEIGHTS
    ) -> None:
        """Count chunks that lie one after the other, none of them empty.

        Args:
            data: uint8[n], their bytes.
            offsets: int64[c + 1], where each of them begins, and where the last one ends.
            weights: int64[c], how often each is counted; empty for once.
        """
        first, chunks = 0, offsets.size - 1
        while first < chunks:
            last = min(first + BLOCK, chunks)
            self._make_room(last - first, int(offsets[last] - offsets[first]))
            first, self._known = add_chunks(
                data, offsets, weights, first, self._data, self._offsets, self._known, self._table
            )

    def merge(self, other: Counts) -> None:
        """Count what was counted elsewhere; its new chunks come after those known here."""
        self.add(*other)

    @property
    def known(self) -> int:
        """How many different chunks there are so far."""
        return self._known

    def counts(self) -> Counts:
        """All chunks so far."""
        counts = np.empty(self._known, np.int64)
        read_counts(self._table, counts)
        return Counts(self._data[: self._offsets[self._known]], self._offsets[: self._known + 1], counts)

    def _make_room(self, chunks: int, size: int) -> None:
        """Room for so many more different chunks, of ``size`` bytes in all."""
        used = int(self._offsets[self._known])
        if used + size > self._data.size:
            self._data = _grown(self._data, used, used + size)
        if self._known + chunks >= self._offsets.size:
            self._offsets = _grown(self._offsets, self._known + 1, 0)
        if 4 * (self._known + chunks) > 3 * len(self._table):
            table = _empty_table(2 * len(self._table))
            move_table(self._table, table)
            self._table = table


def _empty_table(slots: int) -> NDArray[np.uint64]:
    """Room for a table, placed so that no slot of 32 bytes lies in two of the cache's lines of 64."""
    room = np.zeros(4 * slots + 4, np.uint64)
    skipped = -room.ctypes.data % 32 // 8
    return room[skipped : skipped + 4 * slots].reshape(slots, 4)


_Array = TypeVar("_Array", NDArray[np.uint8], NDArray[np.int64])


def _grown(array: _Array, used: int, least: int) -> _Array:
    """A copy with half as much room again, and one entry more at least."""
    grown = np.empty(max(least, array.size + array.size // 2 + 1), array.dtype)
    grown[:used] = array[:used]
    return grown


def encode_documents(documents: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The UTF-8 of all documents in one array, and where each ends; lone surrogates become U+FFFD.

    >>> data, offsets = encode_documents(["né", "", "o"])
    >>> data.tolist(), offsets.tolist()
    ([110, 195, 169, 111], [0, 3, 3, 4])
    """
    try:
        encoded = [document.encode() for document in documents]
    except UnicodeEncodeError:
        encoded = [valid_unicode(document).encode() for document in documents]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
    return np.frombuffer(b"".join(encoded), np.uint8), offsets


def count_documents(documents: Iterable[str], pattern: str | None, processes: int = 1) -> Counts:
    """How often each chunk occurs, in the order in which the chunks first occur.

    Args:
        documents: the texts, gone through once.
        pattern: the split, a name or a regular expression; ``None``: a document is one chunk.
        processes: how many batches are cut and counted at a time. The scanners of the named patterns
            run in threads, which they leave to each other; ``regex`` does not, and runs in processes.

    Raises:
        ValueError: ``pattern`` is invalid.

    >>> counts = count_documents(["no no", "no!"], "gpt2")
    >>> counts.data.tobytes(), counts.offsets.tolist(), counts.counts.tolist()
    (b'no no!', [0, 2, 5, 6], [2, 1, 1])
    """
    if pattern is None or scanner(pattern) is not None:
        return _count_in_threads(documents, pattern, processes)
    counter = ChunkCounter()
    for counts in in_order(partial(_count_batch, pattern), batches(documents), processes):
        counter.merge(counts)
    return counter.counts()


class _Own(local):
    """What each thread that asks has for itself."""

    def __init__(self) -> None:
        self.counter = ChunkCounter()


def _count_in_threads(documents: Iterable[str], pattern: str | None, threads: int) -> Counts:
    """Each thread counts for itself, and remembers which of its chunks were new with which batch.

    Put together by batches, the chunks are in the order in which they first occur: a thread takes its
    batches in their order, so a chunk is new to it with the first of them that has it.
    """
    own = _Own()

    def work(batch: Sequence[str]) -> tuple[ChunkCounter, int, int]:
        counter = own.counter
        before = counter.known
        _scan_batch(counter, pattern, batch)
        return counter, before, counter.known

    news = list(in_order(work, batches(documents), threads, threads=True))
    counted = {counter: counter.counts() for counter, _, _ in news}
    if len(counted) == 1:
        return counted.popitem()[1]
    together = ChunkCounter()
    for counter, before, after in news:
        data, offsets, counts = counted[counter]
        together.add(data, offsets[before : after + 1], counts[before:after])
    return together.counts()


def _scan_batch(counter: ChunkCounter, pattern: str | None, batch: Sequence[str]) -> None:
    """Count the chunks of documents: the scanned ones of a named pattern, or the documents themselves."""
    data, offsets = encode_documents(batch)
    if pattern is not None and (scan := scanner(pattern)):
        offsets = np.concatenate([offsets[:1], scan.ends(data, offsets)])
    elif not all(batch):  # an empty document is no chunk
        offsets = np.unique(offsets)
    counter.add(data, offsets)


def _count_batch(pattern: str | None, batch: Sequence[str]) -> Counts:
    """What a process does."""
    return Counts.of(count_chunks(batch, pattern))
