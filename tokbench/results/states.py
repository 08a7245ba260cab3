"""The file ``states.jsonl.gz`` next to ``results.json``: the raw sums behind the cells, exact.

It is text, packed with gzip. A line is a state, as JSON: ``[tokenizer, corpus, group, family, data]``.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from tokbench.foundation.errors import ResultsError, one_line
from tokbench.foundation.parsing import parse_json
from tokbench.results.blocks import RawState, StatesFile

Place: TypeAlias = tuple[str, str, str, str]
"""Tokenizer, corpus, group and metric family of a state."""

_LEVEL: Final = 4
"""Level 6 takes twice as long, for a file that is smaller by 6%."""


class _Row(NamedTuple):
    place: Place
    packed: bytes
    """The data as JSON, packed with zlib: lists of numbers take ten times as much memory."""


class RawStates(Sequence[RawState]):
    """The raw states of a run, each unpacked when it is asked for. A file is read when the first of them is.

    Args:
        states: the states, or the path of the file.
        described: the description of the file in ``results.json``.

    Raises:
        ResultsError: when a state is asked for, and the file is missing, damaged, or of another run.

    >>> states = RawStates([RawState(tokenizer="a", corpus="c", group="g", family="f", state=[1, 2])])
    >>> len(states), states[0].state, states == list(states)
    (1, [1, 2], True)
    """

    def __init__(self, states: Iterable[RawState] | Path = (), described: StatesFile | None = None) -> None:
        self._path = states if isinstance(states, Path) else None
        self._described = described
        self._rows: list[_Row] | None = None if self._path else []
        for state in () if isinstance(states, Path) else states:
            self.add(state)

    def add(self, state: RawState) -> None:
        """Add a state at the end; it is there or not when Ctrl-C comes meanwhile.

        Raises:
            TypeError, ValueError: it is not JSON data; arrays count as lists.
        """
        text = json.dumps(state.state, separators=(",", ":"), allow_nan=False, default=_listed)
        place = state.tokenizer, state.corpus, state.group, state.family
        self._read().append(_Row(place, zlib.compress(text.encode(), 1)))

    @property
    def places(self) -> list[Place]:
        """The place of each state."""
        return [row.place for row in self._read()]

    def to_bytes(self) -> bytes:
        """Return the content of the file; equal states give equal bytes."""
        content = io.BytesIO()
        with gzip.GzipFile("", "wb", _LEVEL, content, mtime=0) as file:
            for place, packed in self._read():
                file.write(json.dumps(place)[:-1].encode() + b", " + zlib.decompress(packed) + b"]\n")
        return content.getvalue()

    def _read(self) -> list[_Row]:
        if self._rows is None:
            assert self._path is not None
            read = RawStates(_states_in(self._path, self._described))
            self._rows = read._rows
        assert self._rows is not None
        return self._rows

    def __len__(self) -> int:
        return len(self._read())

    def __getitem__(self, at: int) -> RawState:  # type: ignore[override]  # no slices
        return _state(self._read()[at])

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # compared by content

    def __repr__(self) -> str:
        return f"RawStates({self._path if self._rows is None else list(self)!r})"

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """In JSON they are a list of states."""
        return core_schema.no_info_after_validator_function(cls, handler(list[RawState]))


def _listed(value: object) -> object:
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not JSON data")


def _state(row: _Row) -> RawState:
    tokenizer, corpus, group, family = row.place
    state = json.loads(zlib.decompress(row.packed))
    return RawState(tokenizer=tokenizer, corpus=corpus, group=group, family=family, state=state)


def _states_in(path: Path, described: StatesFile | None) -> Iterator[RawState]:
    """Yield the states of a file."""
    try:
        data = path.read_bytes()
    except OSError as error:
        advice = "copy it there from the run's folder; the results and reports do not need it"
        raise ResultsError(f"{path}: the raw states cannot be read: {error.strerror}; {advice}") from error
    if described and hashlib.sha256(data).hexdigest() != described.sha256:
        raise ResultsError(f"{path}: is not the file that results.json was written with (its sha256 is another)")
    try:
        for line in gzip.GzipFile(fileobj=io.BytesIO(data)):
            *place, state = parse_json(line)
            tokenizer, corpus, group, family = map(str, place)
            yield RawState(tokenizer=tokenizer, corpus=corpus, group=group, family=family, state=state)
    except (OSError, EOFError, zlib.error, ValueError, TypeError) as error:
        raise ResultsError(f"{path}: is damaged, or not a file of raw states: {one_line(error)}") from error
