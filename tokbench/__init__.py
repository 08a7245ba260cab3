"""tokbench: compare and benchmark tokenizers.

>>> import tokbench
>>> tokenizer = tokbench.load("utf8_bytes")
>>> tokenizer.encode("né")
[110, 195, 169]

This is what users import; plugins import :mod:`tokbench.plugin`. A name is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tokbench.api import compare as compare
    from tokbench.api import leaderboard as leaderboard
    from tokbench.api import load as load
    from tokbench.api import merge as merge
    from tokbench.api import run as run
    from tokbench.api import show as show
    from tokbench.api import train as train
    from tokbench.errors import BackendError as BackendError
    from tokbench.errors import BackendUnavailable as BackendUnavailable
    from tokbench.errors import InputError as InputError
    from tokbench.errors import ResultsError as ResultsError
    from tokbench.errors import TokbenchError as TokbenchError
    from tokbench.results.model import Results as Results

_HOMES: Final = {
    "BackendError": "errors",
    "BackendUnavailable": "errors",
    "InputError": "errors",
    "Results": "results.model",
    "ResultsError": "errors",
    "TokbenchError": "errors",
    "compare": "api",
    "leaderboard": "api",
    "load": "api",
    "merge": "api",
    "run": "api",
    "show": "api",
    "train": "api",
}

__version__ = "0.1.0"
__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 - the names of _HOMES are strings


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        msg = f"module 'tokbench' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(importlib.import_module(f"tokbench.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
