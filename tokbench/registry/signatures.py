"""What tokbench calls with which arguments: a function of a plugin that does not take them is refused at once."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any, Final

_CALLED: Final[Mapping[str, Mapping[str, str]]] = {
    "BackendSpec": {
        "load": "options",
        "train": "documents, vocab_size, options, progress",
        "train_counts": "tables, vocab_size, options, progress",
        "check_counts": "options, tables",
        "local": "options",
    },
    "MetricFamily": dict.fromkeys(("text", "make"), "options"),
    "StudySpec": {
        "run": "context, options",
        "check": "plan, options",
        "due": "plan",
        "outlook": "plan, options",
        "largest": "options",
    },
    "SectionSpec": dict.fromkeys(("build", "charts", "answer", "lead", "notes"), "tables"),
    "CorpusSpec": {"open": "options"},
    "ReporterSpec": {"render": "results"},
    "ExecutorSpec": {"open": "scheduler, workers, limits, progress"},
}
"""By the class of a spec, its functions, each with the arguments that it is called with, in this order."""


def wrong_signatures(spec: Any) -> Iterator[str]:
    """Yield what the functions of a spec do not take, and what they must take.

    >>> from tokbench.tokenizers.backend import BackendSpec
    >>> for line in wrong_signatures(BackendSpec(name="mine", summary="", train=lambda documents, vocab_size: None)):
    ...     print(line)
    train(documents, vocab_size) must take (documents, vocab_size, options, progress)
    """
    for name, arguments in _CALLED.get(type(spec).__name__, {}).items():
        function = getattr(spec, name)
        if function is None:
            continue
        if not callable(function):
            yield f"{name} is not a function: {function!r}"
            continue
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):  # a function in C may have none that can be read
            continue
        try:
            signature.bind(*arguments.split(", "))
        except TypeError:
            yield f"{name}{signature} must take ({arguments})"
