"""Makes plain Python or NumPy of plugins' values, or refuses them by the name of the member.

Plain: ``None``, ``bool``, ``int``, finite ``float``, ``str`` or ``bytes`` of exactly that type, lists, tuples and
dictionaries of them, arrays of numbers in native byte order, enums, and tokbench's named tuples and dataclasses.
"""

from __future__ import annotations

import sys
import types
import typing
from collections import UserString
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum
from functools import cache, partial
from itertools import chain
from numbers import Integral, Real
from operator import is_
from typing import Any, Final, TypeAlias

import numpy as np

from tokbench.foundation.errors import ContractError, TokbenchError, shortened, shown

_Conversion: TypeAlias = Callable[[Any, str], Any]
_LONGEST: Final = 200
_LARGEST: Final = sys.float_info.max
_UNIONS: Final = (typing.Union, types.UnionType)
_BYTES: Final = (bytes, bytearray, memoryview)
_SCALARS: Final[dict[Any, Any]] = {
    types.NoneType: types.NoneType,
    bool: bool,
    int: Integral,
    float: (Real, Decimal),
    str: (str, UserString),
    bytes: _BYTES,
}
_WORDS: Final[dict[Any, str]] = {
    types.NoneType: "None",
    bool: "True or False",
    int: "a whole number",
    float: "a finite number",
    str: "text",
    list: "a list",
    tuple: "a list",
    dict: "a mapping",
    Any: "JSON data",
}


def plain(value: Any, expected: Any, member: str) -> Any:
    """Return a plugin's value as a plain one.

    NumPy's scalars, subclasses of Python's types, generators and the like are converted. ``expected`` is a plain type,
    such as ``list[int]``, ``int | None`` or a dataclass; ``Any`` for JSON data with arrays.

    Raises:
        ContractError: it cannot be converted without loss; the error names the ``member``.

    >>> plain(np.uint16(3), int, "n"), plain(Decimal("0.5"), float, "value"), plain(np.arange(2), list[int], "encode")
    (3, 0.5, [0, 1])
    >>> plain({1: (UserString("a"), np.True_)}, Any, "raw")
    {'1': ['a', True]}
    >>> plain(2.0, int, "n")
    Traceback (most recent call last):
    tokbench.foundation.errors.ContractError: n is 2.0, but must be a whole number
    """
    scalars, conversions = _conversions(expected)
    if type(value) in scalars and (type(value) not in {int, float} or -_LARGEST <= value <= _LARGEST):
        return value
    try:
        value = _unwrapped(value)
        return next(convert for kind, convert in conversions if _is_a(value, kind))(value, member)
    except TokbenchError:
        raise
    except Exception as error:
        union = typing.get_origin(expected) in {*_UNIONS, typing.Literal}
        types_ = typing.get_args(expected) if union else (expected,)
        must = " or ".join(_WORDS.get(typing.get_origin(one) or one, getattr(one, "__name__", one)) for one in types_)
        raise ContractError(f"{shortened(member, _LONGEST)} is {shown(value)}, but must be {must}") from error


@cache
def _conversions(expected: Any) -> tuple[tuple[Any, ...], list[tuple[Any, _Conversion]]]:
    """Return the scalar types, and the conversions by class of the value, the first of which counts."""
    members = typing.get_args(expected) if typing.get_origin(expected) in _UNIONS else (expected,)
    if expected is Any:
        members = (*list(_SCALARS)[:-1], np.ndarray, dict[str | int, Any], list[Any])
    scalars = tuple(kind for kind in _SCALARS if kind in members)
    made: list[tuple[Any, _Conversion]] = [(_SCALARS[kind], partial(_scalar, kind)) for kind in scalars]
    made += [_other(one) for one in members if one not in _SCALARS]
    return scalars, made + ([(object, _of_fields)] if expected is Any else [])


def _is_a(value: Any, kind: Any) -> bool:
    """Tell whether a value has a class; True is not the number 1."""
    return isinstance(value, kind) and not (isinstance(value, bool) and kind in {Integral, _SCALARS[float]})


def _other(expected: Any) -> tuple[Any, _Conversion]:
    kind, arguments = typing.get_origin(expected) or expected, typing.get_args(expected)
    if kind is typing.Literal:
        return object, lambda value, member: next(one for one in arguments if one == plain(value, type(one), member))
    if issubclass(kind, Enum):
        return object, lambda value, _: kind(value)
    if names := [field.name for field in fields(kind)] if is_dataclass(kind) else getattr(kind, "_fields", ()):
        hints = typing.get_type_hints(kind)
        return kind, partial(_record, kind, {name: hints[name] for name in names})
    for base, convert in ((np.ndarray, _array), (Mapping, _mapping), (Iterable, _sequence)):
        if issubclass(kind, base):
            return base, partial(convert, kind, arguments)
    return kind, lambda value, _: value


def _unwrapped(value: Any) -> Any:
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, str | bytes | list | tuple) or not hasattr(value, "__array__"):
        return value
    array = np.asarray(value)
    if array.ndim and array.dtype.kind in "biuf":
        return array.astype(array.dtype.newbyteorder("="), copy=False)
    return array.tolist() if array.ndim else array.item()


def _scalar(kind: Any, value: Any, _member: str) -> Any:
    if kind is str:  # str() of NumPy's text would lose zeros at its end
        return str.__str__(value if isinstance(value, str) else value.data)
    if kind is bytes:
        return bytes.__getitem__(value, slice(None)) if isinstance(value, bytes) else memoryview(value).tobytes()
    made: Any = None if value is None else kind(value)
    if kind in {int, float} and not -_LARGEST <= made <= _LARGEST:
        raise ValueError
    return made


def _of_fields(value: Any, member: str) -> Any:
    return plain({field.name: getattr(value, field.name) for field in fields(value)}, Any, member)


def _array(_kind: Any, _arguments: Any, array: Any, _member: str) -> Any:
    if not np.isfinite(array).all():
        raise ValueError
    return array


def _record(kind: Any, hints: Mapping[str, Any], value: Any, member: str) -> Any:
    given = value if isinstance(value, tuple) else [getattr(value, name) for name in hints]
    made = [plain(one, hints[name], f"{member}.{name}") for one, name in zip(given, hints, strict=True)]
    same = type(value) is kind and all(map(is_, given, made))
    return value if same else kind(**dict(zip(hints, made, strict=True)))


def _mapping(_kind: Any, arguments: tuple[Any, ...], value: Mapping[Any, Any], member: str) -> dict[Any, Any]:
    of_key, of_item = arguments or (Any, Any)
    keys = [plain(key, of_key, f"a key of {member}") for key in value]
    keys = list(map(str, keys)) if of_key == str | int else keys
    if len(set(keys)) < len(keys):
        raise ValueError
    return {key: plain(item, of_item, f"{member}[{key!r}]") for key, item in zip(keys, value.values(), strict=True)}


def _sequence(kind: Any, arguments: tuple[Any, ...], value: Iterable[Any], member: str) -> Any:
    if isinstance(value, (Mapping, set, frozenset, str, UserString, *_BYTES)):
        raise TypeError
    items = value.tolist() if isinstance(value, np.ndarray) else list(value)
    one, *rest = arguments or (Any,)
    same = rest in ([], [...])
    if not (same and _all_plain(items, one)):
        expected = [one] * len(items) if same else arguments
        items = [plain(item, one, f"{member}[{k}]") for k, (item, one) in enumerate(zip(items, expected, strict=True))]
    return tuple(items) if issubclass(kind, tuple) else items


def _all_plain(items: list[Any], expected: Any) -> bool:
    """Tell whether items have one plain type, without a look at each."""
    kinds, members = set(map(type, items)), typing.get_args(expected)
    if typing.get_origin(expected) is tuple and len(set(members)) == 1:  # such as pairs of numbers
        alike = kinds <= {tuple} and set(map(len, items)) <= {len(members)}
        return alike and _all_plain(list(chain.from_iterable(items)), members[0])
    alike = len(kinds) == 1 and kinds <= set(_conversions(expected)[0])
    return not items or (alike and (not kinds & {int, float} or -_LARGEST <= sum(items) <= _LARGEST))
