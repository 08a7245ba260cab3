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

from tokbench.foundation.version import __version__

if TYPE_CHECKING:
    from tokbench.api import compare as compare
    from tokbench.api import run as run
    from tokbench.api import show as show
    from tokbench.api import train as train
    from tokbench.foundation.errors import BackendError as BackendError
    from tokbench.foundation.errors import BackendUnavailable as BackendUnavailable
    from tokbench.foundation.errors import InputError as InputError
    from tokbench.foundation.errors import ResultsError as ResultsError
    from tokbench.foundation.errors import TokbenchError as TokbenchError
    from tokbench.notebook.own_metric import metric as metric
    from tokbench.notebook.results import NotebookResults
    from tokbench.registry.load import load as load

    Results = NotebookResults

_HOMES: Final = {
    "BackendError": "foundation.errors",
    "BackendUnavailable": "foundation.errors",
    "InputError": "foundation.errors",
    "Results": "notebook.results:NotebookResults",
    "ResultsError": "foundation.errors",
    "TokbenchError": "foundation.errors",
    "compare": "api",
    "load": "registry.load",
    "metric": "notebook.own_metric",
    "run": "api",
    "show": "api",
    "train": "api",
}

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 - the names of _HOMES are strings


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        msg = f"module 'tokbench' has no attribute {name!r}"
        raise AttributeError(msg)
    module, _, other_name = home.partition(":")
    return getattr(importlib.import_module(f"tokbench.{module}"), other_name or name)


def __dir__() -> list[str]:
    return sorted(__all__)
