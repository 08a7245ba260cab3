"""The file ``states.bin`` beside ``results.json``: the raw sums behind the cells, compact, exact, and plain data.

The file is data and never code: it is not a pickle. Version 1 is laid out so:

====================  =================================================================================
bytes                 content
====================  =================================================================================
first line            ``tokbench-states/1``
8, little-endian      the length of the body in bytes
32                    the SHA-256 of the body
rest                  the body, packed with zlib
====================  =================================================================================

The body begins with a line of JSON: ``{"arrays": [[kind, how, length], ...], "states": [...]}``. The bytes of the
arrays follow, one after the other, little-endian. A state stands in ``states`` as ``[tokenizer, corpus, group, family,
data]``. A list or array of 8 numbers and more stands in ``data`` as ``{"#": k}``, the array with the number ``k``;
equal ones are the same array. ``kind`` is the type of its numbers (``u1 u2 u4 i8 f8``). ``how`` is ``plain``, or
``steps`` if each number is kept as its difference from the one before. A mapping whose only key begins with ``#`` gets
one more ``#``.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import starmap
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray
from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from tokbench.foundation.errors import ResultsError, one_line
from tokbench.foundation.parsing import parse_json
from tokbench.results.blocks import RawState, StatesFile

Json: TypeAlias = Any
"""Plain JSON data."""

Place: TypeAlias = tuple[str, str, str, str]
"""Tokenizer, corpus, group and metric family of a state."""

_MAGIC: Final = b"tokbench-states/1\n"
_FAMILY: Final = b"tokbench-states/"
_LENGTH: Final = 8
_DIGEST: Final = 32
_SHORTEST: Final = 8
"""Lists with fewer numbers stay in the JSON part."""

_LARGEST: Final = 2**62
"""Larger numbers stay in the JSON part, so that no difference of two overflows."""

_UNSIGNED: Final = {"u1": 0xFF, "u2": 0xFFFF, "u4": 0xFFFF_FFFF}
"""The largest number of each unsigned type."""

_KINDS: Final = (*_UNSIGNED, "i8", "f8")
_LEVEL: Final = 4
"""Level 6 takes four times as long, for a file that is smaller by 4 %."""


class RawStates(Sequence[RawState]):
    """The raw states of a run: a list of them, or the file that holds them, which is read when one is asked for.

    Args:
        states: the states, or the path of the file.
        described: the description of the file in ``results.json``.

    Raises:
        ResultsError: when a state is asked for, and the file is missing, damaged, or that of another run.

    >>> states = RawStates([RawState(tokenizer="a", corpus="c", group="g", family="f", state=[1, 2])])
    >>> len(states), states[0].state, states == list(states)
    (1, [1, 2], True)
    """

    def __init__(self, states: Iterable[RawState] | Path = (), described: StatesFile | None = None) -> None:
        self._path = states if isinstance(states, Path) else None
        self._states: Sequence[RawState] | None = None
        if not isinstance(states, Path):
            self._states = states if isinstance(states, PackedStates) else PackedStates(states)
        self._described = described

    def packed(self) -> PackedStates:
        """Return the states in their compact form."""
        states = self._read()
        return states if isinstance(states, PackedStates) else PackedStates(states)

    @property
    def places(self) -> list[Place]:
        """The place of each state, see :data:`Place`."""
        states = self._read()
        return states.places if isinstance(states, PackedStates) else list(map(_place, states))

    def _read(self) -> Sequence[RawState]:
        if self._states is None:
            assert self._path is not None
            self._states = read_states(self._path, self._described)
        return self._states

    def __len__(self) -> int:
        return len(self._read())

    @overload
    def __getitem__(self, at: int) -> RawState: ...
    @overload
    def __getitem__(self, at: slice) -> list[RawState]: ...
    def __getitem__(self, at: int | slice) -> RawState | list[RawState]:
        states = self._read()
        return list(states[at]) if isinstance(at, slice) else states[at]

    def __iter__(self) -> Iterator[RawState]:
        return iter(self._read())

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # compared by content

    def __repr__(self) -> str:
        return f"RawStates({list(self._states) if self._states is not None else self._path!r})"

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """In JSON they are a list of states."""
        return core_schema.no_info_after_validator_function(cls, handler(list[RawState]))


def _place(state: RawState) -> Place:
    return state.tokenizer, state.corpus, state.group, state.family


class PackedStates(Sequence[RawState]):
    """States in a compact form: a state is unpacked each time it is asked for.

    Thousands of lists of numbers take ten times as much memory as the numbers.

    Args:
        states: the states; each is packed as it comes.

    Attributes:
        blocks: the bytes of the arrays.

    >>> some = PackedStates([RawState(tokenizer="a", corpus="c", group="g", family="f", state=list(range(100)))])
    >>> len(some), some[0].state == list(range(100)), len(some.blocks[0])
    (1, True, 100)
    """

    def __init__(self, states: Iterable[RawState] = ()) -> None:
        self._packer = _Packer()
        self._rows: list[tuple[str, str, str, str, str]] = []
        for state in states:
            self.add(state)

    def add(self, state: RawState) -> None:
        """Add a state at the end. Ctrl-C leaves it out, or adds it; it does no harm to the others.

        Raises:
            TypeError, ValueError: it is not JSON data.
        """
        self._rows.append((*_place(state), _json(self._packer.pack(state.state))))

    @property
    def blocks(self) -> list[bytes]:
        """The bytes of the arrays."""
        return self._packer.blocks

    @property
    def places(self) -> list[Place]:
        """The place of each state, see :data:`Place`."""
        return [row[:4] for row in self._rows]

    def head(self) -> str:
        """Return the JSON part of the file."""
        rows = (f"{_json(place)[:-1]},{state}]" for *place, state in self._rows)
        return f'{{"arrays":{_json(self._packer.table)},"states":[{",".join(rows)}]}}'

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, at: int) -> RawState: ...
    @overload
    def __getitem__(self, at: slice) -> list[RawState]: ...
    def __getitem__(self, at: int | slice) -> RawState | list[RawState]:
        return [self._state(row) for row in self._rows[at]] if isinstance(at, slice) else self._state(self._rows[at])

    def _state(self, row: tuple[str, str, str, str, str]) -> RawState:
        tokenizer, corpus, group, family, kept = row
        state = _unpacked(json.loads(kept), self._packer.array)
        return RawState(tokenizer=tokenizer, corpus=corpus, group=group, family=family, state=state)


def _json(data: object) -> str:
    return json.dumps(data, separators=(",", ":"), allow_nan=False)


def write_states(states: Iterable[RawState]) -> bytes:
    """Return the content of the file with some states.

    >>> one = RawState(tokenizer="a", corpus="c", group="g", family="f", state={"sums": list(range(1000)), "p": 0.1})
    >>> data = write_states([one])
    >>> len(data) < 300, list(unpacked(data)) == [one]
    (True, True)
    """
    packed = states.packed() if isinstance(states, RawStates) else PackedStates(states)
    body = [packed.head().encode(), b"\n", *packed.blocks]
    digest, zipper = hashlib.sha256(), zlib.compressobj(_LEVEL)
    written = []
    for part in body:  # never joined: that would take the memory of all states once more
        digest.update(part)
        written.append(zipper.compress(part))
    length = sum(map(len, body)).to_bytes(_LENGTH, "little")
    return b"".join([_MAGIC, length, digest.digest(), *written, zipper.flush()])


def read_states(path: Path, described: StatesFile | None = None) -> list[RawState]:
    """Return the states of a file.

    Args:
        path: the file.
        described: its description in ``results.json``, to tell the file of another run.

    Raises:
        ResultsError: it is missing, damaged, of a newer version, or that of another run.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        advice = "copy it there from the run's folder; the cells and reports do not need it"
        raise ResultsError(f"{path}: the raw states cannot be read: {error.strerror}; {advice}") from error
    if described and hashlib.sha256(data).hexdigest() != described.sha256:
        raise ResultsError(f"{path}: is not the file that results.json was written with (its sha256 is another)")
    try:
        return list(unpacked(data))
    except ResultsError as error:
        raise ResultsError(f"{path}: {error}") from error


def unpacked(data: bytes) -> Iterator[RawState]:
    """Yield the states in the content of a file.

    Raises:
        ResultsError: it is damaged, or of a newer version.
    """
    if not data.startswith(_MAGIC):
        newer = data.startswith(_FAMILY)
        raise ResultsError("is of a newer version; update tokbench" if newer else "not a file of raw states")
    start = len(_MAGIC)
    length = int.from_bytes(data[start : start + _LENGTH], "little")
    digest = data[start + _LENGTH : start + _LENGTH + _DIGEST]
    unzip = zlib.decompressobj()
    try:
        # Never more than the file says and one byte, whatever a damaged file would unpack to.
        body = unzip.decompress(data[start + _LENGTH + _DIGEST :], length + 1)
        if len(body) != length or hashlib.sha256(body).digest() != digest:
            raise ResultsError("is damaged: its content is not what its SHA-256 says")
        end = body.index(b"\n")
        head = parse_json(body[:end])
        unpacker = _Unpacker(head["arrays"], memoryview(body)[end + 1 :])
        for tokenizer, corpus, group, family, state in head["states"]:
            whole = unpacker.unpack(state)
            yield RawState(tokenizer=tokenizer, corpus=corpus, group=group, family=family, state=whole)
    except (zlib.error, ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        raise ResultsError(f"is damaged: {one_line(error)}") from error


class _Array(NamedTuple):
    """An array of the file: its kind, how it is kept, its length, and its bytes."""

    kind: str
    how: str
    length: int
    block: bytes


class _Packer:
    """Takes lists of numbers out of JSON data."""

    def __init__(self) -> None:
        self._arrays: list[_Array] = []
        self._known: dict[tuple[str, str, bytes], int] = {}

    @property
    def table(self) -> list[tuple[str, str, int]]:
        """For each array its kind, how it is kept, and its length."""
        return [array[:3] for array in self._arrays]

    @property
    def blocks(self) -> list[bytes]:
        """The bytes of each array."""
        return [array.block for array in self._arrays]

    def pack(self, data: Json) -> Json:
        """Return the data with references in the place of long lists of numbers."""
        if isinstance(data, np.ndarray):
            return self._packed_array(data)
        if isinstance(data, dict):
            packed = {str(key): self.pack(value) for key, value in data.items()}
            return {f"#{key}": value for key, value in packed.items()} if _like_reference(packed) else packed
        if not isinstance(data, list | tuple):
            return data
        array = _array(data) if len(data) >= _SHORTEST else None
        return [self.pack(item) for item in data] if array is None else {"#": self._number(array)}

    def _packed_array(self, data: NDArray[Any]) -> Json:
        """Return what :meth:`pack` returns for the list of the same numbers, without making that list."""
        kind = data.dtype.kind
        if (
            data.ndim != 1
            or len(data) < _SHORTEST
            or kind not in "iuf"
            or (kind != "f" and not _fits(data.min(), data.max()))
        ):
            return self.pack(data.tolist())
        return {"#": self._number(data.astype(np.float64 if kind == "f" else np.int64))}

    def _number(self, array: NDArray[Any]) -> int:
        kind, how = "f8", "plain"
        if array.dtype.kind == "i":
            steps = array.copy()
            steps[1:] -= array[:-1]
            if steps.min() >= 0:
                array, how = steps, "steps"
            low, high = array.min(), array.max()
            kind = next((name for name, most in _UNSIGNED.items() if low >= 0 and high <= most), "i8")
        block = array.astype(f"<{kind}").tobytes()
        number = self._known.get((kind, how, block), len(self._arrays))
        if number == len(self._arrays):
            self._arrays.append(_Array(kind, how, len(array), block))  # as a whole, so that Ctrl-C cannot part it
            self._known[kind, how, block] = number
        return number

    def array(self, number: int) -> list[Any]:
        """Return the list of numbers that an array was made of."""
        kind, how, _, block = self._arrays[number]
        return _listed(np.frombuffer(block, dtype=f"<{kind}"), how)


def _listed(array: NDArray[Any], how: str) -> list[Any]:
    listed: list[Any] = (np.cumsum(array, dtype=np.int64) if how == "steps" else array).tolist()
    return listed


def _fits(low: Any, high: Any) -> bool:
    """Tell whether whole numbers from one to another can stand in an array."""
    return max(-int(low), int(high)) < _LARGEST


def _array(data: Sequence[Json]) -> NDArray[Any] | None:
    """Return a list as an array if it is one of whole numbers that fit into 64 bits, or one of floats."""
    kinds = set(map(type, data))
    if kinds == {int} and _fits(min(data), max(data)):
        return np.array(data, dtype=np.int64)
    return np.array(data, dtype=np.float64) if kinds == {float} else None


class _Unpacker:
    """Puts lists of numbers back into JSON data."""

    def __init__(self, table: list[tuple[str, str, int]], data: memoryview) -> None:
        self._arrays: list[list[Any]] = []
        self._data, self._at = data, 0
        self._arrays.extend(starmap(self._array, table))

    def _array(self, kind: str, how: str, length: int) -> list[Any]:
        if kind not in _KINDS:
            raise ValueError(f"an array of kind {kind!r}")
        array = np.frombuffer(self._data, dtype=f"<{kind}", count=length, offset=self._at)
        self._at += array.nbytes
        return _listed(array, how)

    def unpack(self, data: Json) -> Json:
        """Return the data with lists of numbers in the place of references."""
        return _unpacked(data, lambda number: list(self._arrays[number]))


def _unpacked(data: Json, array: Callable[[int], list[Any]]) -> Json:
    """Return data with lists of numbers in the place of references; ``array`` gives the list of a number."""
    if isinstance(data, list):
        return [_unpacked(item, array) for item in data]
    if not isinstance(data, dict):
        return data
    if not _like_reference(data):
        return {key: _unpacked(value, array) for key, value in data.items()}
    [(key, value)] = data.items()
    return array(value) if key == "#" else {key[1:]: _unpacked(value, array)}


def _like_reference(data: dict[str, Json]) -> bool:
    return len(data) == 1 and next(iter(data)).startswith("#")
