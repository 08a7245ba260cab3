"""How an executor is made: by the call that ``--scheduler`` names."""

from __future__ import annotations

import ast
import importlib
import os
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any, NamedTuple

from tokbench.engine.workers.worker import end_with_parent
from tokbench.foundation.errors import one_line
from tokbench.plugin import InputError

_FORM = """write "module:name(arguments)", such as 'loky:ProcessPoolExecutor(4)'"""


class Made(NamedTuple):
    """An executor, and what closes it and all that was made for it."""

    executor: Executor
    close: Callable[[], object]


Maker = Callable[[], Made]


def maker(call: str, workers: int) -> Maker:
    """Return what makes the executor of a call; of an empty one, so many processes on this machine.

    The arguments are plain values. What has a method ``get_executor``, as a client of Dask has, is asked for it.

    Raises:
        InputError: the call cannot be read, or its module or name is not there.

    >>> made = maker("concurrent.futures:ThreadPoolExecutor(max_workers=2)", 1)()
    >>> made.executor.submit(len, "four").result(), made.close()
    (4, None)
    """
    if not call:
        start = partial(ProcessPoolExecutor, workers, get_context("spawn"), end_with_parent, (os.getpid(),))
        return partial(_made, f"{workers} processes", start)
    module, colon, rest = call.partition(":")
    name, parenthesis, arguments = rest.partition("(")
    try:
        called = ast.parse(f"f({arguments if parenthesis else ')'}", mode="eval").body
        if not (colon and isinstance(called, ast.Call)):
            raise InputError(f"{call}: no call; {_FORM}")
        given = [ast.literal_eval(argument) for argument in called.args]
        named = {keyword.arg: ast.literal_eval(keyword.value) for keyword in called.keywords if keyword.arg}
    except (SyntaxError, ValueError) as error:
        raise InputError(f"{call}: its arguments cannot be read: {one_line(error)}; {_FORM}") from error
    try:
        make = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"{call}: {one_line(error)}; {_FORM}") from error
    return partial(_made, call, partial(make, *given, **named))


def _made(call: str, make: Callable[[], Any]) -> Made:
    try:
        made = make()
        if isinstance(made, Executor):
            return Made(made, partial(made.shutdown, wait=False))
        if hasattr(made, "get_executor"):
            return Made(made.get_executor(), made.close)
    except Exception as error:
        raise InputError(f"{call}: no executor can be made: {one_line(error)}") from error
    raise InputError(f"{call}: gives {type(made).__name__}, and not a concurrent.futures.Executor")
