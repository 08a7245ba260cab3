"""Makes plain Python or NumPy of plugins' values, or refuses them by the name of the member.

Plain: ``None``, ``bool``, ``int``, finite ``float``, ``str`` or ``bytes`` of exactly that type, a list, tuple or
dictionary of plain values, an array of numbers in native byte order, an enum, or tokbench's named tuples and
dataclasses of them.
"""

from __future__ import annotations

import sys
import types
import typing
from collections import UserString
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum
from functools import cache, partial
from itertools import chain
from numbers import Integral, Real
from operator import is_
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

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
"""Classes that are converted, by plain type; also NumPy's scalars."""
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

    Args:
        value: NumPy's scalars, subclasses of Python's types, generators and the like are converted.
        expected: a plain type, ``list[int]``, ``int | None``, a named tuple, a dataclass; ``Any`` for JSON data with
            arrays.
        member: the name for the error.

    Raises:
        ContractError: it cannot be converted without loss.

    >>> plain(np.uint16(3), int, "n"), plain(Decimal("0.5"), float, "value"), plain(np.arange(2), list[int], "encode")
    (3, 0.5, [0, 1])
    >>> plain({1: (UserString("a"), np.True_)}, Any, "raw")
    {'1': ['a', True]}
    >>> plain(2.0, int, "n")
    Traceback (most recent call last):
    tokbench.foundation.errors.ContractError: n is 2.0, but must be a whole number
    """
    scalars, others = _alternatives(expected)
    if _is_plain(value, scalars):
        return value
    try:
        if type(value) in others and type(value) is not np.ndarray:
            return others[type(value)](value, member)
        value = _unwrapped(value)
        for kind in scalars:
            if isinstance(value, _SCALARS[kind]) and (kind is bool or not isinstance(value, bool)):
                return _scalar(value, kind)  # True is not the number 1
        return next(convert for kind, convert in others.items() if isinstance(value, kind))(value, member)
    except TokbenchError:
        raise
    except Exception as error:
        union = typing.get_origin(expected) in {*_UNIONS, typing.Literal}
        types_ = typing.get_args(expected) if union else (expected,)
        must = " or ".join(_WORDS.get(typing.get_origin(one) or one, getattr(one, "__name__", one)) for one in types_)
        raise ContractError(f"{shortened(member, _LONGEST)} is {shown(value)}, but must be {must}") from error


@cache
def _alternatives(expected: Any) -> tuple[tuple[Any, ...], Mapping[type, _Conversion]]:
    members = typing.get_args(expected) if typing.get_origin(expected) in _UNIONS else (expected,)
    if expected is Any:
        members = (*list(_SCALARS)[:-1], np.ndarray, dict[str | int, Any], list[Any])
    others = dict[type, _Conversion](_other(one) for one in members if one not in _SCALARS)
    others |= {object: _of_fields} if expected is Any else {}
    return tuple(kind for kind in _SCALARS if kind in members), others


def _other(expected: Any) -> tuple[type, _Conversion]:
    """Return the class that becomes a type other than a scalar, and the conversion."""
    kind, arguments = typing.get_origin(expected) or expected, typing.get_args(expected)
    if kind is typing.Literal:
        return object, lambda value, member: next(one for one in arguments if one == plain(value, type(one), member))
    if issubclass(kind, Enum):
        return object, lambda value, _: kind(value)
    if names := [field.name for field in fields(kind)] if is_dataclass(kind) else getattr(kind, "_fields", ()):
        hints = typing.get_type_hints(kind)
        fields_ = [(name, hints[name], _alternatives(hints[name])[0]) for name in names]
        return kind, partial(_record, kind, fields_)
    for base, convert in ((np.ndarray, _sound), (Mapping, _mapping), (Iterable, _sequence)):
        if issubclass(kind, base):
            return base, partial(convert, kind, arguments)
    return kind, lambda value, _: value


def _is_plain(value: Any, scalars: tuple[Any, ...]) -> bool:
    kind = type(value)
    return kind in scalars and (kind not in {int, float} or -_LARGEST <= value <= _LARGEST)


def _unwrapped(value: Any) -> Any:
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, str | bytes | list | tuple) or not hasattr(value, "__array__"):
        return value
    array = np.asarray(value)
    if array.ndim and array.dtype.kind in "biuf":
        return array.astype(array.dtype.newbyteorder("="), copy=False)
    return array.tolist() if array.ndim else array.item()


def _scalar(value: Any, kind: Any) -> Any:
    if kind is str:  # str() of NumPy's text would lose zeros at its end
        return str.__str__(value if isinstance(value, str) else value.data)
    if kind is bytes:
        return bytes.__getitem__(value, slice(None)) if isinstance(value, bytes) else memoryview(value).tobytes()
    if value is None:
        return None
    made = kind(value)
    if kind in {int, float} and not -_LARGEST <= made <= _LARGEST:
        raise ValueError
    return made


def _of_fields(value: Any, member: str) -> Any:
    return plain({field.name: getattr(value, field.name) for field in fields(value)}, Any, member)


def _sound(_kind: Any, _arguments: Any, array: NDArray[Any], _member: str) -> NDArray[Any]:
    if not np.isfinite(array).all():
        raise ValueError
    return array


def _record(kind: Any, hints: Sequence[tuple[str, Any, tuple[Any, ...]]], value: Any, member: str) -> Any:
    given = value if isinstance(value, tuple) else [getattr(value, name) for name, *_ in hints]
    made = [
        field if _is_plain(field, scalars) else plain(field, hint, f"{member}.{name}")
        for field, (name, hint, scalars) in zip(given, hints, strict=True)
    ]
    same = type(value) is kind and all(map(is_, given, made))
    return value if same else kind(**dict(zip((name for name, *_ in hints), made, strict=True)))


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
    if rest in ([], [...]) and _all_plain(items, one):
        return value if type(value) is tuple is kind else tuple(items) if issubclass(kind, tuple) else items
    of_each = [one] * len(items) if rest in ([], [...]) else arguments
    made = [plain(item, one, f"{member}[{k}]") for k, (item, one) in enumerate(zip(items, of_each, strict=True))]
    return tuple(made) if issubclass(kind, tuple) else made


def _all_plain(items: Sequence[Any], expected: Any) -> bool:
    """Tell whether items have one plain type, without a look at each."""
    kinds, members = set(map(type, items)), typing.get_args(expected)
    if typing.get_origin(expected) is tuple and len(set(members)) == 1:  # such as pairs of numbers
        alike = kinds <= {tuple} and set(map(len, items)) <= {len(members)}
        return alike and _all_plain(list(chain.from_iterable(items)), members[0])
    numbers = bool(kinds & {int, float})
    alike = len(kinds) == 1 and kinds <= set(_alternatives(expected)[0])
    return not items or (alike and (not numbers or -_LARGEST <= sum(items) <= _LARGEST))
