"""The settings of a process that its tokenizers share: what one of them changes is put back after its turn, and told.

Libraries add environment variables, folders of modules and filters of warnings when they are loaded. That harms nobody,
so additions stay.
"""

from __future__ import annotations

import decimal
import gc
import locale
import os
import signal
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from operator import eq
from typing import Any, Final, NamedTuple

import numpy as np

_SIGNALS: Final = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGCHLD", "SIGALRM") if hasattr(signal, name)
)


class _Setting(NamedTuple):
    """One setting of a process."""

    name: str
    """The setting, in words."""
    get: Callable[[], Any]
    """Returns its value."""
    put: Callable[[Any], object]
    """Takes a value that ``get`` has returned, and puts it back."""
    kept: Callable[[Any, Any], bool] = eq
    """Tells of a value and a later one whether nothing was changed that others would notice."""


def _folder() -> str | None:
    with suppress(OSError):  # it was deleted
        return os.getcwd()  # noqa: PTH109 - a path takes four times as long
    return None


def _go_to(folder: str | None) -> None:
    if folder is not None:
        os.chdir(folder)


def _put_variables(variables: dict[Any, Any]) -> None:
    os.environ.update({os.fsdecode(name): os.fsdecode(value) for name, value in variables.items()})


def _handlers() -> list[Any]:
    return list(map(signal.getsignal, _SIGNALS))


def _put_handlers(handlers: list[Any]) -> None:
    for number, handler in zip(_SIGNALS, handlers, strict=True):
        if handler is not None:  # None: it is not one of Python
            signal.signal(number, handler)


def _rules(context: decimal.Context) -> tuple[Any, ...]:
    """Return all of a decimal context but the events that it has noted."""
    return context.prec, context.rounding, context.Emin, context.Emax, context.capitals, context.clamp, context.traps


def _errors() -> list[Any]:
    """Return the filters that make errors of warnings."""
    return [rule for rule in warnings.filters if rule[0] == "error"]


def _put_errors(rules: list[Any]) -> None:
    with warnings.catch_warnings():
        pass  # its end lets Python forget what the filters so far have decided
    warnings.filters[:] = [rule for rule in warnings.filters if rule[0] != "error" or rule in rules]  # type: ignore[index]


def _put_streams(streams: tuple[Any, Any]) -> None:
    sys.stdout, sys.stderr = streams


def _put_folders(folders: list[str]) -> None:
    sys.path[:] = folders


def _contain(before: list[str], now: list[str]) -> bool:
    return set(before) <= set(now)


_SETTINGS: Final = (
    _Setting("the working directory", _folder, _go_to),
    _Setting(
        "environment variables",
        os.environ._data.copy,  # type: ignore[attr-defined]  # noqa: SLF001 - to decode them takes long
        _put_variables,
        lambda before, now: before.items() <= now.items(),
    ),
    _Setting("the folders of modules", lambda: list(sys.path), _put_folders, _contain),
    _Setting("the recursion limit", sys.getrecursionlimit, sys.setrecursionlimit),
    _Setting("the handlers of signals", _handlers, _put_handlers),
    _Setting("the locale", partial(locale.setlocale, locale.LC_ALL), partial(locale.setlocale, locale.LC_ALL)),
    _Setting("the errors of arithmetic in numpy", np.geterr, lambda how: np.seterr(**how)),
    _Setting(
        "the decimal context",
        lambda: decimal.getcontext().copy(),
        lambda context: decimal.setcontext(context.copy()),
        lambda before, now: _rules(before) == _rules(now),
    ),
    _Setting("the warnings that are errors", _errors, _put_errors),
    _Setting("the standard streams", lambda: (sys.stdout, sys.stderr), _put_streams),
    _Setting("the garbage collector", gc.isenabled, lambda on: gc.enable() if on else gc.disable()),
)


class Surroundings:
    """The settings of this process as they should be.

    >>> surroundings, before = Surroundings(), sys.getrecursionlimit()
    >>> sys.setrecursionlimit(5000)
    >>> surroundings.restore(), surroundings.restore(), sys.getrecursionlimit() == before
    (['the recursion limit'], [], True)
    """

    def __init__(self) -> None:
        self._values = [setting.get() for setting in _SETTINGS]

    def restore(self) -> list[str]:
        """Put back what was changed, and return it in words."""
        changed = []
        for setting, value in zip(_SETTINGS, self._values, strict=True):
            if not setting.kept(value, setting.get()):
                setting.put(value)
                changed.append(setting.name)
        return changed
