"""The sizes of the pages of a Parquet file, read from their heads, so that a limit acts before one is unpacked."""

from __future__ import annotations

from typing import IO, Any, Final, NamedTuple

_STOP, _BYTE, _DOUBLE, _BINARY, _STRUCT = 0, 3, 8, 8, 12
_BOOLEANS: Final = (1, 2)
_NUMBERS: Final = (4, 5, 6)
_LISTS: Final = (9, 10)
_UNPACKED, _PACKED = 2, 3
"""Fields of the head of a page."""
_LONG_LIST: Final = 15
_LONGEST: Final = 1 << 16
"""Bytes or items of a value, at most: heads are short."""


class PageSizes(NamedTuple):
    """Bytes of a column in a row group, unpacked."""

    largest: int
    """Of its pages."""
    dictionary: int
    """Of its dictionary, 0 without one: the most that a row can repeat."""


def page_sizes(file: IO[bytes], column: Any) -> PageSizes:
    """Return the sizes of the pages of a column, whose ``ColumnChunkMetaData`` says where they are.

    Raises:
        EOFError: the file is damaged.
    """
    at: int = column.dictionary_page_offset or column.data_page_offset
    end, largest, dictionary = at + column.total_compressed_size, 0, 0
    while at < end:
        file.seek(at)
        try:
            head = _struct(file)
        except RecursionError:
            head = {}
        unpacked, packed = head.get(_UNPACKED, -1), head.get(_PACKED, -1)
        if min(unpacked, packed) < 0:
            raise EOFError("a page without its size")
        dictionary = dictionary or (unpacked if column.has_dictionary_page else 0)
        largest, at = max(largest, unpacked), file.tell() + packed
    return PageSizes(largest, dictionary)


def _struct(file: IO[bytes]) -> dict[int, int]:
    """Read a struct in Thrift's compact protocol; return its numbers by field."""
    numbers: dict[int, int] = {}
    field = 0
    while (head := _read(file, 1)[0]) & 15 != _STOP:
        field = field + (head >> 4) if head >> 4 else _number(file)
        value = _value(file, head & 15)
        if value is not None:
            numbers[field] = value
    return numbers


def _value(file: IO[bytes], kind: int, *, listed: bool = False) -> int | None:
    """Read a value; return it if it is a number."""
    if kind in _NUMBERS:
        return _number(file)
    if kind in _BOOLEANS:
        _read(file, int(listed))
    elif kind in _LISTS:
        head = _read(file, 1)[0]
        for _ in range(min(_varint(file), _LONGEST) if head >> 4 == _LONG_LIST else head >> 4):
            _value(file, head & 15, listed=True)
    elif kind == _STRUCT:
        _struct(file)
    else:
        _read(file, {_BYTE: 1, 7: 8}.get(kind) or _varint(file))
    return None


def _number(file: IO[bytes]) -> int:
    value = _varint(file)
    return value >> 1 ^ -(value & 1)


def _varint(file: IO[bytes]) -> int:
    value = shift = 0
    while (byte := _read(file, 1)[0]) > 127:  # noqa: PLR2004
        value, shift = value | (byte & 127) << shift, shift + 7
    return value | byte << shift


def _read(file: IO[bytes], size: int) -> bytes:
    data = file.read(min(size, _LONGEST))
    if len(data) < size:
        raise EOFError("a head of a page is cut off")
    return data
