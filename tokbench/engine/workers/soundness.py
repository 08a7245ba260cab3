"""Looks whether foreign code has made a worker process unfit for the tokenizers that follow, and ends it then."""

from __future__ import annotations

import collections.abc
import os
import sys
import typing
from collections.abc import Callable, Iterator
from functools import cached_property
from operator import is_
from types import FunctionType, ModuleType
from typing import Any, Final, NamedTuple

from tokbench.engine.workers.surroundings import Surroundings
from tokbench.foundation.failures import present, set_ended

CLOSED: Final = "the process was ended, because its file descriptors had been closed"
_WIPED: Final = "the process was ended, because modules had been removed from sys.modules"
_REPLACED: Final = "the process was ended, because it had replaced {}"

_NEEDED: Final = {"builtins", "copyreg", "numpy", "os", "pickle", "sys", "threading", "tokbench"}
"""Modules that must stay, beside those of tokbench."""

_RESTS_ON: Final = set(
    "builtins bisect collections copyreg functools hashlib heapq itertools json json.decoder json.encoder math numpy "
    "operator os pickle random re statistics struct time tokbench unicodedata zlib".split()
)
"""Modules on whose functions numbers rest."""

_RESTS_ON_ALL_OF: Final = ("numpy._core.", "numpy.lib.", "numpy.linalg.", "regex", "tokbench.")
"""The beginnings of the names of further ones."""

_DOES_NOT_REST_ON: Final = tuple(f"tokbench.{room}." for room in ("config", "formats", "registry", "report", "sources"))

_HAS_CLASSES: Final = tuple(
    f"tokbench.{room}." for room in ("corpus", "foundation", "measuring", "metrics", "statistics", "tokenizers")
)
"""Modules of which the methods of classes are looked at, too."""

_all, _map = all, map  # what looks must not be replaced itself
_METHODS: Final = {FunctionType, property, classmethod, staticmethod, cached_property}
_OF_TYPES: Final = {*typing.__all__, *collections.abc.__all__}
"""Names that annotations alone need."""


class _Namespace(NamedTuple):
    """The functions of a module or class, as they were."""

    name: str
    get: Callable[[str], Any]
    names: tuple[str, ...]
    values: tuple[Any, ...]


class Functions:
    """The functions and classes on which numbers rest, as they were when their modules were first seen.

    >>> import math
    >>> functions, sine = Functions(), math.sin
    >>> math.sin = math.cos
    >>> functions.replaced()
    'math.sin'
    >>> math.sin = sine
    >>> functions.replaced()
    ''
    """

    def __init__(self) -> None:
        self._namespaces: dict[str, tuple[_Namespace, ...]] = {}
        self._modules = 0
        self._take_new()

    def replaced(self) -> str:
        """Return the name of a function that is another one now, or has gone; empty if all are as they were.

        Modules that were imported since are known from then on.
        """
        for namespaces in self._namespaces.values():
            for namespace in namespaces:
                if not _all(_map(is_, _map(namespace.get, namespace.names), namespace.values)):
                    known = zip(namespace.names, namespace.values, strict=True)
                    return next(f"{namespace.name}.{name}" for name, value in known if namespace.get(name) is not value)
        self._take_new()
        return ""

    def _take_new(self) -> None:
        if len(sys.modules) == self._modules:
            return
        self._modules = len(sys.modules)
        for name, module in list(sys.modules.items()):
            if name not in self._namespaces and isinstance(module, ModuleType) and _counts(name):
                self._namespaces[name] = tuple(_namespaces(name, module))


def _counts(module: str) -> bool:
    """Tell whether numbers rest on a module."""
    return module in _RESTS_ON or (module.startswith(_RESTS_ON_ALL_OF) and not module.startswith(_DOES_NOT_REST_ON))


def _namespaces(name: str, module: ModuleType) -> Iterator[_Namespace]:
    """Yield what is to stay in a module, and in the classes that tokbench defines there.

    Data may change, as caches do, except for the numbers of ``math`` and ``numpy``.
    """
    members = [(key, value) for key, value in vars(module).items() if key not in _OF_TYPES and key[:2] != "__"]
    numbers = name in {"math", "numpy"}
    stays = {k: v for k, v in members if callable(v) or type(v) is ModuleType or (numbers and type(v) is float)}
    yield _Namespace(name, vars(module).get, tuple(stays), tuple(stays.values()))
    if name.startswith(_HAS_CLASSES):
        for key, value in members:
            if isinstance(value, type) and value.__module__ == name:
                methods = {k: v for k, v in vars(value).items() if type(v) in _METHODS and k[:2] != "__"}
                yield _Namespace(f"{name}.{key}", vars(value).get, tuple(methods), tuple(methods.values()))


class Soundness:
    """The state of a worker process that all tokenizers in it rest on.

    Args:
        is_open: tells whether the line to the parent is open.
        tell: tells the parent a note for the reader of the results.
    """

    def __init__(self, is_open: Callable[[], bool], tell: Callable[[str], object]) -> None:
        self._is_open = is_open
        self._tell = tell
        self._surroundings = Surroundings()
        self._modules = {
            name: module for name, module in sys.modules.items() if name in _NEEDED or name.startswith("tokbench.")
        }
        self._functions = Functions()
        self._just_seen = False

    def inspect(self) -> None:
        """End the process if its files or modules have gone, else put back its settings; it takes microseconds."""
        self._just_seen = False
        how = CLOSED if not self._is_open() else _WIPED if not self._modules.items() <= sys.modules.items() else ""
        if how:
            _end(how)
        if changed := self._surroundings.restore():
            tokenizer, *activity = present()[:3]
            when = " ".join(part for part in activity if part)
            what = " and ".join(changed)
            self._tell(f"{tokenizer}: it changed {what} of its process while {when}; that was put back")

    def inspect_all(self) -> None:
        """End the process also if a function was replaced; it takes less than a millisecond."""
        self.inspect()
        if replaced := self._functions.replaced():
            _end(_REPLACED.format(replaced))
        self._just_seen = True

    def end_turn(self) -> None:
        """See after a tokenizer's turn whether the process is sound, unless that was just seen."""
        if not self._just_seen:
            self.inspect_all()


def _end(how: str) -> None:
    set_ended(how)
    os._exit(1)
