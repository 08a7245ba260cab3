"""Values as plain data: JSON, and the bytes of arrays. To read them runs no code that they name.

The store keeps what a run has computed in this form, which is exact. It can hold numbers, text, bytes, lists, tuples,
dictionaries, sets, NumPy arrays of numbers, and dataclasses, named tuples and enums of modules. No number is NaN or
infinite. The first line is JSON with three keys; the bytes of all arrays follow, each from a multiple of eight on:

===========  =================================================================================
key          content
===========  =================================================================================
``arrays``   for each array its type and shape, or ``["bytes", length]`` for bytes
``classes``  for each class its module and name, and the names of its fields
``value``    the value
===========  =================================================================================

In ``value`` lists, text, numbers and ``null`` stand for themselves. All else is an object with one key, see ``_TAGS``.
A class is taken only if its module is loaded, if it has the same fields, and if every field is of its declared type.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cached_property, lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from tokbench.foundation.declared_types import Fits, declared, fits

Json: TypeAlias = Any
"""Plain JSON data."""

DEEPEST: Final = 60
"""So deep may values be nested."""

_TAGS: Final[Mapping[str, Any]] = {
    "t": tuple,
    "s": set,
    "f": frozenset,
    "d": dict,
    "n": Counter,
}
"""The containers beside lists; an object ``m`` is a dictionary whose keys are text. The other objects are ``a`` and
``b`` (the number of an array, or of bytes), ``x`` (type and value of a NumPy number), ``c`` (the number of a class, and
the values of its fields) and ``e`` (the number of an enum, and the name of its member)."""

_OF_CONTAINER: Final = {kind: tag for tag, kind in _TAGS.items()}
_TOO_DEEP: Final = "it is nested too deeply"
_ALIGNED: Final = 8
_NUMBERS: Final = "biuf"


class NotPlain(Exception):  # noqa: N818 - a finding about a value
    """A value that has no plain form, or data that are not those of a value; the argument is the reason."""


def parsed(text: str | bytes) -> Json:
    """Return JSON data without NaN.

    Raises:
        NotPlain: they are something else.

    >>> parsed('{"seconds": 1.5}')
    {'seconds': 1.5}
    >>> parsed('{"seconds": NaN}')
    Traceback (most recent call last):
    tokbench.foundation.plain_data.NotPlain: NaN stands where a number is due
    """
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise NotPlain("it is not JSON that tokbench writes") from None


def check_depth(data: Json) -> None:
    """Look how deep lists and objects are nested.

    Raises:
        NotPlain: they are deeper than :data:`DEEPEST`.
    """
    level = [data]
    for _ in range(DEEPEST):
        level = [inner for value in level for inner in _members(value)]
        if not level:
            return
    raise NotPlain(_TOO_DEEP)


def _members(value: Json) -> Iterator[Json]:
    """Yield the lists and objects in a list or object."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (member for member in inner if isinstance(member, list | dict))


def _no_number(name: str) -> float:
    raise NotPlain(f"{name} stands where a number is due")


class _Shape(NamedTuple):
    """The fields of a class, and the tests that their values must pass."""

    names: tuple[str, ...]
    tests: tuple[Fits, ...]


@lru_cache(maxsize=1000)
def _shape(cls: type) -> _Shape | None:
    """Return the shape of a named tuple or a dataclass; ``None`` for other classes."""
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        names: tuple[str, ...] = cls._fields
    elif is_dataclass(cls) and not hasattr(cls, "__del__"):
        names = tuple(field.name for field in fields(cls))
    else:
        return None
    types = declared(cls)
    return _Shape(names, tuple(fits(types.get(name, Any)) for name in names))


def _class_of(name: str) -> type:
    """Return a class by its module and name.

    Raises:
        NotPlain: the module is not loaded, or has no such class.
    """
    module, _, path = name.partition(":")
    inner: Any = sys.modules.get(module)
    for part in path.split("."):
        inner = getattr(inner, "__dict__", {}).get(part)
    if not isinstance(inner, type) or f"{inner.__module__}:{inner.__qualname__}" != name:
        raise NotPlain(f"it names {name!r}, which is no class of the run")
    return inner


def packed(value: object, kind: Any = Any) -> bytes:
    """Return a value as plain data.

    Args:
        value: the value.
        kind: its type.

    Raises:
        NotPlain: it, or something in it, has no plain form or is not of its declared type.

    >>> unpacked(packed({("a", 1): {2, 3}, "b": 0.1})) == {("a", 1): {2, 3}, "b": 0.1}
    True
    >>> packed(object())
    Traceback (most recent call last):
    tokbench.foundation.plain_data.NotPlain: a value of the type object has no plain form
    """
    packer = _Packer()
    if not fits(kind)(value):
        raise NotPlain(f"a value of the type {type(value).__name__} is not {kind}")
    data = packer.pack(value, 0)
    head = {"arrays": packer.arrays, "classes": packer.classes, "value": data}
    try:
        line = json.dumps(head, separators=(",", ":"), allow_nan=False).encode()
    except ValueError as error:
        raise NotPlain(str(error)) from None
    line += b" " * (-(len(line) + 1) % _ALIGNED) + b"\n"
    return b"".join([line, *packer.blocks])


class _Packer:
    """Makes JSON of values, and collects arrays and classes."""

    def __init__(self) -> None:
        self.arrays: list[Json] = []
        self.blocks: list[bytes] = []
        self.classes: list[Json] = []
        self._places: dict[int, int] = {}
        self._kept: list[object] = []  # so that no two of them have one id
        self._numbers: dict[type, int] = {}

    def pack(self, value: Any, depth: int) -> Json:
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return _finite(value)
        if depth > DEEPEST:
            raise NotPlain(_TOO_DEEP)
        if kind is list:
            return [self.pack(item, depth + 1) for item in value]
        return self._tagged(value, kind, depth + 1)

    def _tagged(self, value: Any, kind: Any, depth: int) -> Json:
        if kind is dict and all(type(key) is str for key in value):
            return {"m": {key: self.pack(item, depth) for key, item in value.items()}}
        if kind in _OF_CONTAINER:
            return {_OF_CONTAINER[kind]: self._items(value, depth)}
        if kind is bytes:
            return {"b": self._block(value, ["bytes", len(value)], lambda: value)}
        number = self._of_numpy(value) if "numpy" in sys.modules else None
        return self._instance(value, kind, depth) if number is None else number

    def _items(self, value: Any, depth: int) -> list[Json]:
        if isinstance(value, dict):
            return [[self.pack(key, depth), self.pack(item, depth)] for key, item in value.items()]
        if isinstance(value, set | frozenset):  # before they are packed, because arrays are numbered as they come
            value = sorted(value) if {type(item) for item in value} <= {str} else sorted(value, key=packed)
        return [self.pack(item, depth) for item in value]

    def _of_numpy(self, value: Any) -> Json:
        """Return an array or a number of NumPy; ``None`` if it is neither."""
        import numpy as np

        if type(value) is np.ndarray and value.dtype.kind in _NUMBERS:
            if value.dtype.kind == "f" and not np.isfinite(value).all():
                raise NotPlain("an array has numbers that are not finite")
            return {"a": self._block(value, [value.dtype.str, list(value.shape)], value.tobytes)}
        if isinstance(value, np.generic) and value.dtype.kind in _NUMBERS:
            return {"x": [value.dtype.str, _finite(value.item())]}
        return None

    def _block(self, value: object, described: Json, content: Callable[[], bytes]) -> int:
        """Return the number of an array; one that is there already is not kept twice."""
        number = self._places.setdefault(id(value), len(self.arrays))
        if number == len(self.arrays):
            data = content()
            self._kept.append(value)
            self.arrays.append(described)
            self.blocks.append(data + bytes(-len(data) % _ALIGNED))
        return number

    def _instance(self, value: Any, kind: type, depth: int) -> Json:
        shape = _shape(kind)
        if isinstance(value, Enum):
            return {"e": [self._class(kind, ()), value.name]}
        if shape is None:
            raise NotPlain(f"a value of the type {kind.__name__} has no plain form")
        for name in getattr(value, "__dict__", {}):
            if name not in shape.names and not isinstance(getattr(kind, name, None), cached_property):
                raise NotPlain(f"{kind.__name__} has {name!r} besides its fields")
        values = [getattr(value, name) for name in shape.names]
        _check(kind, shape, values)
        return {"c": [self._class(kind, shape.names), *(self.pack(item, depth) for item in values)]}

    def _class(self, kind: type, names: tuple[str, ...]) -> int:
        number = self._numbers.setdefault(kind, len(self.classes))
        if number == len(self.classes):
            name = f"{kind.__module__}:{kind.__qualname__}"
            if _class_of(name) is not kind:
                raise NotPlain(f"the class {kind.__name__} cannot be found by its name")
            self.classes.append([name, list(names)])
        return number


def _finite(number: Any) -> Any:
    if not math.isfinite(number):
        raise NotPlain("a number is not finite")
    return number


def _check(kind: type, shape: _Shape, values: list[Any]) -> None:
    """Compare the values of fields with their declared types.

    Raises:
        NotPlain: one is of another type.
    """
    for name, test, value in zip(shape.names, shape.tests, values, strict=True):
        if not test(value):
            raise NotPlain(f"{kind.__name__}.{name} is not what it is declared to be, but {type(value).__name__}")


def unpacked(data: bytes, kind: Any = Any) -> Any:
    """Return the value that :func:`packed` has written. Its arrays may be written to.

    Args:
        data: the plain data.
        kind: the type that the value must have, such as ``list[int]``.

    Raises:
        NotPlain: they are not those of such a value.

    >>> unpacked(packed([1, 2]), list[str])
    Traceback (most recent call last):
    tokbench.foundation.plain_data.NotPlain: it holds another value than list[str]
    """
    end = data.find(b"\n") + 1
    head = parsed(data[:end])
    if not isinstance(head, dict) or set(head) != {"arrays", "classes", "value"}:
        raise NotPlain("its first line does not describe a value")
    try:
        value = _Unpacker(head, bytearray(memoryview(data)[end:])).unpack(head["value"])
    except (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError) as error:
        raise NotPlain(f"its values contradict each other: {error}") from None
    if not fits(kind)(value):
        raise NotPlain(f"it holds another value than {kind.__name__ if type(kind) is type else kind}")
    return value


class _Unpacker:
    """Makes values of JSON and arrays.

    Args:
        head: the first line.
        body: the bytes of the arrays, which share its memory.
    """

    def __init__(self, head: Json, body: bytearray) -> None:
        self._body = body
        self._classes = [self._known(name, names) for name, names in head["classes"]]
        self._arrays: list[Any] = []
        self._depth = 0
        at = 0
        for kind, shape in head["arrays"]:
            if kind == "bytes":
                size = shape
                self._arrays.append(bytes(memoryview(body)[at : at + size]))
            else:
                dtype, count = _described(kind, tuple(shape))
                size = dtype.itemsize * count
                self._arrays.append((dtype, count, shape, at))
            at += size + -size % _ALIGNED
            if type(size) is not int or size < 0 or at > len(body):
                raise ValueError("an array is longer than the file")
        if at != len(body):
            raise ValueError("the arrays are shorter than the file")
        self._makers: dict[str, Callable[[Any], Any]] = {
            "m": self._mapping,
            "c": self._object,
            "a": self._array,
            "b": self._bytes,
            "e": self._member,
            "x": lambda content: _number(*content),
        }

    @staticmethod
    def _known(name: str, names: list[str]) -> type:
        kind = _class_of(name)
        shape = _shape(kind)
        if list(shape.names if shape and not issubclass(kind, Enum) else ()) != names:
            raise NotPlain(f"it has other fields of {name} than the run")
        return kind

    def unpack(self, data: Json) -> Any:
        kind = type(data)
        if kind is not dict and kind is not list:
            return data
        self._depth += 1
        if self._depth > DEEPEST:
            raise NotPlain(_TOO_DEEP)
        value = self._tagged(data) if kind is dict else self._each(data)
        self._depth -= 1
        return value

    def _each(self, items: list[Json]) -> list[Any]:
        return [self.unpack(item) if type(item) in (list, dict) else item for item in items]

    def _tagged(self, data: Json) -> Any:
        [(tag, content)] = data.items()
        if tag in self._makers:
            return self._makers[tag](content)
        kind = _TAGS[tag]
        if issubclass(kind, dict):
            return kind({self.unpack(key): self.unpack(item) for key, item in content})
        return kind(self._each(_typed(content, list)))

    def _mapping(self, content: Mapping[str, Json]) -> Json:
        return {key: self.unpack(item) for key, item in content.items()}

    def _object(self, content: Json) -> Any:
        return self._instance(self._classes[content[0]], self._each(content[1:]))

    def _member(self, content: Json) -> Any:
        members: Any = self._classes[content[0]]
        return members.__members__[content[1]]

    def _bytes(self, number: int) -> bytes:
        return _typed(self._arrays[number], bytes)  # type: ignore[no-any-return]

    def _instance(self, kind: type, values: list[Any]) -> Any:
        shape = _shape(kind)
        if shape is None:
            raise TypeError(f"{kind.__name__} has no fields")
        _check(kind, shape, values)
        if issubclass(kind, tuple):
            return tuple.__new__(kind, values)
        made = object.__new__(kind)
        for name, value in zip(shape.names, values, strict=True):
            object.__setattr__(made, name, value)
        return made

    def _array(self, number: int) -> Any:
        array = self._arrays[number]
        if type(array) is tuple:
            import numpy as np

            dtype, count, shape, at = array
            array = np.frombuffer(self._body, dtype, count, at if count else 0)
            if len(shape) != 1:
                array = array.reshape(shape)
            if dtype.kind == "f" and not np.isfinite(array).all():
                raise NotPlain("NaN stands where a number is due")
            self._arrays[number] = array
        if type(array) is bytes:
            raise TypeError("bytes stand where an array is due")
        return array


def _typed(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{type(value).__name__} stands where {kind.__name__} is due")
    return value


@lru_cache(maxsize=1000)
def _described(kind: str, shape: tuple[int, ...]) -> tuple[Any, int]:
    """Return the type of an array of numbers, and how many it has.

    Raises:
        ValueError: it is another array.
    """
    import numpy as np

    dtype = np.dtype(kind)
    if dtype.kind not in _NUMBERS or not all(type(length) is int and length >= 0 for length in shape):
        raise ValueError(f"{kind!r} is no type of numbers")
    return dtype, math.prod(shape)


def _number(kind: str, value: object) -> Any:
    import numpy as np

    dtype = np.dtype(kind)
    if dtype.kind not in _NUMBERS or type(value) not in (bool, int, float):
        raise ValueError(f"{kind!r} is no type of a number")
    return dtype.type(value)
