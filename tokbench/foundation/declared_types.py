"""Tests whether values are of the types that a class declares for its fields."""

from __future__ import annotations

import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

Fits: TypeAlias = Callable[[Any], bool]
"""Tells whether a value is of a type."""


def declared(cls: type) -> Mapping[str, Any]:
    """Return by field the types that a class declares; nothing if one of them is known to type checkers alone."""
    try:
        return typing.get_type_hints(cls)
    except (NameError, AttributeError, TypeError):
        return {}


def returned(function: Callable[..., Any]) -> Any:
    """Return the type that a function declares for what it returns; ``Any`` if it declares none that is known.

    >>> def count(text: str) -> int: ...
    >>> returned(count), returned(lambda text: 1)
    (<class 'int'>, typing.Any)
    """
    function = getattr(function, "__func__", function)
    kind = getattr(function, "__annotations__", {}).get("return", Any)
    holder = types.SimpleNamespace(__annotations__={"return": kind})
    try:
        return typing.get_type_hints(holder, getattr(function, "__globals__", {}))["return"]
    except (NameError, AttributeError, TypeError):
        return Any


def fits(kind: Any) -> Fits:
    """Return the test for a type. A type that it does not know is passed by every value.

    >>> fits(dict[str, int])({"a": 1}), fits(dict[str, int])({"a": 1.5}), fits(int | None)(None)
    (True, False, True)
    """
    try:
        return _fits(kind)
    except TypeError:  # it cannot be hashed
        return _anything


def _anything(_: Any) -> bool:
    return True


@lru_cache(maxsize=2000)
def _fits(kind: Any) -> Fits:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind in _SIMPLE:
        return _is_simple(*_SIMPLE[kind])
    if origin is None:
        return (lambda value: isinstance(value, kind)) if _is_class(kind) else _anything
    if origin is typing.Annotated:
        return fits(arguments[0])
    if origin is typing.Literal:
        return lambda value: any(type(value) is type(one) and value == one for one in arguments)
    if origin in (typing.Union, types.UnionType):
        tests = tuple(map(fits, arguments))
        return lambda value: any(test(value) for test in tests)
    return _container(origin, arguments) if isinstance(origin, type) else _anything


_SIMPLE: Any = {
    bool: ((bool,), "b"),
    int: ((int,), "iu"),
    float: ((int, float), "iuf"),
    str: ((str,), ""),
    bytes: ((bytes,), ""),
    None: ((type(None),), ""),
    type(None): ((type(None),), ""),
}
"""By type the classes of its values, and the kinds of NumPy's numbers that stand for them, too."""


def _is_simple(classes: tuple[type, ...], kinds: str) -> Fits:
    def test(value: Any) -> bool:
        return type(value) in classes or (
            bool(kinds)
            and (
                "numpy" in sys.modules and isinstance(value, sys.modules["numpy"].generic) and value.dtype.kind in kinds
            )
        )

    return test


def _is_class(kind: Any) -> bool:
    """Tell whether a value can be asked whether it is an instance."""
    return isinstance(kind, type) and kind not in (object, Any) and not getattr(kind, "_is_protocol", False)


def _container(origin: type, arguments: tuple[Any, ...]) -> Fits:
    if (origin.__module__, origin.__name__) == ("numpy", "ndarray"):
        return _array(origin, arguments)
    tests = tuple(fits(argument) for argument in arguments if argument is not Ellipsis)
    if origin is tuple and Ellipsis not in arguments:
        return lambda value: (
            type(value) is tuple
            and len(value) == len(tests)
            and all(test(one) for test, one in zip(tests, value, strict=True))
        )
    if issubclass(origin, Mapping):
        key, item = tests if tests[1:] else (*tests, fits(int))  # a Counter
        return lambda value: isinstance(value, origin) and all(key(k) and item(v) for k, v in value.items())
    if issubclass(origin, Iterable) and not tests[1:]:
        [test] = tests
        return lambda value: isinstance(value, origin) and not isinstance(value, str | bytes) and all(map(test, value))
    return lambda value: isinstance(value, origin)


def _array(origin: Any, arguments: tuple[Any, ...]) -> Fits:
    """Return the test for an array, whose type stands inside ``dtype[...]``."""
    import numpy as np

    inner = typing.get_args(arguments[-1]) or (Any,)
    number = typing.get_origin(inner[0]) or inner[0]
    if not isinstance(number, type) or not issubclass(number, np.generic):
        return lambda value: isinstance(value, origin)
    known = lru_cache(maxsize=100)(lambda dtype: np.issubdtype(dtype, number))
    return lambda value: isinstance(value, origin) and known(value.dtype)
