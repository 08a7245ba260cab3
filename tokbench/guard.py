"""Foreign code is called here: what it raises becomes a failure with a reason, and the run goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from tokbench.errors import one_line

__all__ = ["Failure", "attempt"]

T = TypeVar("T")


class Failure(NamedTuple):
    """Why a step has no result."""

    reason: str


def attempt(step: Callable[[], T], what: str = "") -> T | Failure:
    """The result of a step, or why there is none; ``what`` is put before the reason.

    Native libraries panic with exceptions that are no ``Exception`` (``pyo3_runtime.PanicException``),
    so everything is caught but what a person or the interpreter uses to stop the program.

    >>> attempt(lambda: 1 / 0, "dividing")
    Failure(reason='dividing: ZeroDivisionError: division by zero')
    """
    try:
        return step()
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001 - see above
        return Failure(f"{what}: {one_line(error)}" if what else one_line(error))
