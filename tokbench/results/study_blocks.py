"""The blocks of studies in ``results.json``: what each found beyond numbers in cells, in a type of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Generic, TypeVar

import numpy as np
from pydantic import GetCoreSchemaHandler, TypeAdapter, ValidationError
from pydantic_core import CoreSchema, core_schema

from tokbench.foundation.errors import ResultsError, one_line
from tokbench.foundation.plain_values import plain
from tokbench.foundation.validation_messages import wrong_value

B_co = TypeVar("B_co", covariant=True)
T = TypeVar("T")

_VERSION: Final = "version"
_BODY: Final = "body"


@dataclass(frozen=True, kw_only=True)
class BlockType(Generic[B_co]):
    """The type of a block, and how it is read."""

    study: str
    """The name of the study that writes it."""
    kind: Any
    """The type, made of frozen dataclasses, lists, mappings, strings and numbers: its JSON schema comes from it."""
    version: int = 1
    """Raise it with every change by which an older block cannot be read."""

    def read(self, version: int, body: Any) -> B_co:
        """Return a block from plain data.

        Raises:
            ResultsError: it has another version, or is damaged.

        >>> BlockType(study="ages", kind=dict[str, int]).read(1, {"one": 1})
        {'one': 1}
        """
        if version != self.version:
            advice = "update tokbench to read it" if version > self.version else "run it again"
            raise ResultsError(f"the block of {self.study!r} has version {version}, not {self.version}; {advice}")
        try:
            block: B_co = _adapter(self).validate_python(body)
        except (ValidationError, ValueError, TypeError, LookupError) as error:
            raise ResultsError(f"the block of {self.study!r} is damaged: {_reason(error)}") from error
        return block


@cache
def _adapter(block: BlockType[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(block.kind)


def _reason(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return one_line(error)
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {wrong_value(first)}"


class StudyBlocks:
    """The blocks of a run by study. They are plain data in a file, and read when they are asked for.

    >>> ages = BlockType(study="ages", kind=dict[str, int])
    >>> blocks = StudyBlocks({"ages": {"version": 1, "body": {"one": 1}}})
    >>> blocks.get(ages), blocks.get(BlockType(study="sizes", kind=int)), list(blocks)
    ({'one': 1}, None, ['ages'])
    """

    def __init__(self, plain: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self._plain = dict(plain or {})
        self._known: dict[str, Any] = {}

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(cls, handler(dict[str, dict[str, Any]]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StudyBlocks) and json.dumps(self.plain()) == json.dumps(other.plain())

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[str]:
        return iter(self._plain)

    def __contains__(self, study: object) -> bool:
        return study in self._plain

    def __len__(self) -> int:
        return len(self._plain)

    def put(self, kind: BlockType[T], block: T) -> None:
        """Keep the block of a study as plain data, and as it is read from them.

        Raises:
            ContractError: something in it is not JSON data.
            ResultsError: it is not of its type.
        """
        data = json.dumps(plain(block, Any, "block"), default=np.ndarray.tolist)
        self._plain[kind.study] = {_VERSION: kind.version, _BODY: json.loads(data)}
        self._known.pop(kind.study, None)
        if kind.kind is not Any:  # Any: of a study of others, whose block only its readers can type
            self._known[kind.study] = kind.read(kind.version, json.loads(data))

    def get(self, kind: BlockType[T]) -> T | None:
        """Return the block of a study, or ``None`` if the run has none.

        Raises:
            ResultsError: it cannot be read, see :meth:`BlockType.read`.
        """
        name = kind.study
        if name not in self._known and name in self._plain:
            stored = self._plain[name]
            self._known[name] = kind.read(int(stored.get(_VERSION, 1)), stored.get(_BODY))
        known: T | None = self._known.get(name)
        return known

    def plain(self) -> dict[str, dict[str, Any]]:
        return {name: dict(stored) for name, stored in self._plain.items()}
