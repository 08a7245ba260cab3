"""The table of counts: one Parquet file, with what was counted in its metadata.

========= ======== ============================================================================================
column    type     meaning
========= ======== ============================================================================================
``chunk`` binary   the pre-token, as UTF-8
``count`` int64    how often it occurs
``first`` int64    where it occurs first: a number that rises through the text, or null if unknown
``group`` string   the group, such as a language; empty without groups
``part``  int8     one of 16 parts of the text, for intervals; 0 if the table has none
========= ======== ============================================================================================

A row is a chunk of one group and part; rows are in the order of ``first``. The key ``tokbench.counts`` of the metadata
is :class:`CountFacts` as JSON. Counts of two texts add up, and the smaller ``first`` stays, so that parts may arrive in
any order.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench import plugin
from tokbench.foundation.files import open_regular
from tokbench_plugins.bpe.patterns import pattern_name

if TYPE_CHECKING:
    import pyarrow as pa

KEY: Final = "tokbench.counts"
SEAL: Final = "tokbench.sha256"
"""The key whose value is the sha256 of the file, with :data:`UNSEALED` for it; what others write has none."""
UNSEALED: Final = 64 * "0"
VERSION: Final = 1
COLUMNS: Final = ("chunk", "count", "first", "group", "part")
PARTS: Final = 16
_FILE: Final = 40
_DOCUMENT: Final = 257 << 20  # bytes, and an odd number of megabytes, so that documents take turns in the parts
_BLOCK: Final = 20
_BATCH: Final = 1 << 20
_MOST_SPANS: Final = 1000
_TAIL: Final = 1 << 14


def position(file: int, byte: int) -> int:
    """Return the number of a place: files in order, and the bytes of each.

    >>> position(0, 7), position(1, 0) == 2**40
    (7, True)
    """
    return (file << _FILE) + byte


def part_position(number: int) -> int:
    """Return where a file or partition begins that a caller numbered; raise InputError if the number is too large."""
    return _within(number, 1 << _FILE, "one number for all documents numbers files or partitions")


def document_position(number: int) -> int:
    """Return where a document begins that a caller numbered; raise InputError if the number is too large."""
    return _within(number, _DOCUMENT, "number documents from 0, or give the number of their file or partition")


Span = tuple[int, int]
"""From a place up to another."""


def span_of_part(begin: int) -> Span:
    """Return the places of a file or partition that begins there."""
    return begin, begin + (1 << _FILE)


def spans_of_documents(numbers: Sequence[int]) -> tuple[Span, ...]:
    """Return the places of documents with rising numbers; none if they are scattered over too many.

    >>> [named_span(*span) for span in spans_of_documents([3, 4, 5, 9])]
    ['documents 3 to 5', 'document 9']
    """
    places = np.array([document_position(number) for number in numbers], np.int64)
    cuts = np.flatnonzero(np.diff(places) > _DOCUMENT) + 1
    if cuts.size >= _MOST_SPANS or not places.size:
        return ()
    starts, lasts = places[np.append(0, cuts)], places[np.append(cuts - 1, -1)]
    return tuple((start, last + _DOCUMENT) for start, last in zip(starts.tolist(), lasts.tolist(), strict=True))


def joined_spans(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return spans in order, those that touch as one; they do not overlap.

    >>> joined_spans([(4, 6), (0, 2), (2, 3)])
    ((0, 3), (4, 6))
    """
    joined: list[Span] = []
    for start, end in sorted(spans):
        begin = joined.pop()[0] if joined and joined[-1][1] == start else start
        joined.append((begin, end))
    return tuple(joined)


def named_span(start: int, end: int) -> str:
    """Return a span as the numbers that its caller gave.

    >>> named_span(part_position(2), part_position(5)), named_span(document_position(7), document_position(8))
    ('parts 2 to 4', 'document 7')
    """
    is_part = start % (1 << _FILE) == 0 == end % (1 << _FILE)
    kind, size = ("part", 1 << _FILE) if is_part else ("document", _DOCUMENT)
    first, last = start // size, end // size - 1
    return f"{kind} {first:,}" if first == last else f"{kind}s {first:,} to {last:,}"


def _within(number: int, size: int, remedy: str) -> int:
    if not 0 <= number < (1 << 63) // size:
        raise plugin.InputError(f"number {number:,} is not within 0 and {(1 << 63) // size - 1:,}: {remedy}")
    return int(number) * size


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
    """The files, in order; the numbers of ``first`` begin at a multiple of 2^40 in each."""
    numbered: bool = False
    """Whether ``first`` counts through all tables that are to be added, as numbers that the caller gave do."""
    groups: tuple[str, ...] = ()
    parts: bool = False
    """Whether the text was counted in parts."""
    left_out: LeftOut | None = None
    spans: tuple[Span, ...] = ()
    """The places of the caller's numbers, rising; empty without numbers, or if they are scattered."""
    in_order: bool = True
    """Whether the rows are in the order of ``first``."""
    superwords: Mapping[str, Any] | None = None
    """What the text was cut by, if chunks may have several words."""

    @property
    def one_row_each(self) -> bool:
        """Whether each chunk has one row."""
        return not self.parts and len(self.groups) < 2  # noqa: PLR2004

    @property
    def gaps(self) -> tuple[Span, ...]:
        """The parts between the first and the last that are missing; documents may have any rising numbers."""
        between = ((before[1], after[0]) for before, after in pairwise(self.spans))
        return tuple((start, end) for start, end in between if start % (1 << _FILE) == 0 == end % (1 << _FILE))

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
        spans = tuple((start, end) for start, end in known.pop("spans", ()))
        facts = cls(**{**known, "sources": tuple(known["sources"]), "groups": tuple(known["groups"]), "spans": spans})
        return replace(facts, left_out=LeftOut(**left_out)) if left_out else facts


def schema() -> pa.Schema:
    """Return the columns of a table."""
    import pyarrow as pa

    types = (pa.binary(), pa.int64(), pa.int64(), pa.string(), pa.int8())
    return pa.schema(list(zip(COLUMNS, types, strict=True)))


def _footer(path: Path) -> bytes:
    with open_regular(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL))
        tail = file.readall()
        if (length := int.from_bytes(tail[-8:-4], "little") + 8) > len(tail):
            file.seek(max(0, size - length))
            tail = file.readall()
    return tail


class _Digests(NamedTuple):
    place: int
    """Where the seal is in the file; -1 without one."""
    seal: str
    unsealed: str
    """The sha256 with :data:`UNSEALED` for the seal."""
    whole: str


def _digests(path: Path) -> _Digests:
    status = path.stat()
    return _digests_of(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=64)
def _digests_of(path: Path, size: int, _mtime: int) -> _Digests:
    """Hash a file once for each of its states; raise OSError."""
    with open_regular(path) as file:
        file.seek(max(0, size - 8))
        footer = int.from_bytes(file.read(4), "little") + 8
        start = max(0, size - footer)
        file.seek(start)
        match = re.search(rb"%b..(.{64})" % re.escape(SEAL.encode()), file.read(), re.DOTALL)
        place = start + match.start(1) if match else -1
        file.seek(0)
        digest = hashlib.sha256()
        left = place if match else size
        while data := file.read(min(left, _BATCH)):
            digest.update(data)
            left -= len(data)
        if not match:
            return _Digests(place, "", "", digest.hexdigest())
        tail = file.readall()
    seal, rest, whole = tail[: len(UNSEALED)], tail[len(UNSEALED) :], digest.copy()
    digest.update(UNSEALED.encode() + rest)
    whole.update(seal + rest)
    return _Digests(place, seal.decode("latin-1"), digest.hexdigest(), whole.hexdigest())


def seal(path: Path) -> None:
    """Write the sha256 of a table into it."""
    digests = _digests(path)
    with path.open("r+b") as file:
        file.seek(digests.place)
        file.write(digests.unsealed.encode())
        file.flush()
        os.fsync(file.fileno())


def sha256_of(path: Path) -> str:
    """Return the sha256 of a table.

    Raises:
        InputError: its bytes have changed since it was written.
        OSError: it cannot be read.
    """
    digests = _digests(path)
    if digests.seal != digests.unsealed:
        raise plugin.InputError(f"{path}: damaged: its bytes have changed since it was written; count or copy it again")
    return digests.whole


def read_facts(path: Path) -> CountFacts:
    """Return what a table was made from.

    Raises:
        InputError: the file cannot be read, is damaged, or is not a table of counts.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        footer = _footer(path)
        if SEAL.encode() in footer:
            sha256_of(path)
        metadata = pq.read_metadata(pa.BufferReader(footer))
    except OSError as error:
        raise plugin.InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except pa.ArrowInvalid as error:
        raise plugin.InputError(f"{path}: not a whole Parquet file; count again, or copy it again") from error
    missing = [name for name in COLUMNS if name not in metadata.schema.names]
    if missing:
        raise plugin.InputError(f"{path}: not a table of counts: it has no column {', '.join(missing)}")
    return CountFacts.of(metadata.metadata, str(path))
