"""tokbench: compare and benchmark tokenizers.

>>> import tokbench
>>> tokenizer = tokbench.load("utf8_bytes")
>>> tokenizer.encode("né")
[110, 195, 169]

The names below are the public interface; they are imported when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokbench.atomic import write_atomically as write_atomically
    from tokbench.backend import BackendSpec as BackendSpec
    from tokbench.backend import Options as Options
    from tokbench.backend import TrainProgress as TrainProgress
    from tokbench.corpus.gold import Gold as Gold
    from tokbench.corpus.source import CorpusSpec as CorpusSpec
    from tokbench.corpus.source import Document as Document
    from tokbench.errors import BackendError as BackendError
    from tokbench.errors import BackendUnavailable as BackendUnavailable
    from tokbench.errors import InputError as InputError
    from tokbench.errors import TokbenchError as TokbenchError
    from tokbench.errors import did_you_mean as did_you_mean
    from tokbench.hookspecs import hookimpl as hookimpl
    from tokbench.metrics.contract import AcrossOutcome as AcrossOutcome
    from tokbench.metrics.contract import Answer as Answer
    from tokbench.metrics.contract import CorpusStates as CorpusStates
    from tokbench.metrics.contract import Measured as Measured
    from tokbench.metrics.contract import MetricSpec as MetricSpec
    from tokbench.metrics.contract import NotApplicable as NotApplicable
    from tokbench.metrics.contract import Segmented as Segmented
    from tokbench.metrics.contract import ValueSpec as ValueSpec
    from tokbench.metrics.sums import Sums as Sums
    from tokbench.metrics.view import View as View
    from tokbench.paths import LocalPath as LocalPath
    from tokbench.protocol import ClaimsLossless as ClaimsLossless
    from tokbench.protocol import Encoded as Encoded
    from tokbench.protocol import HasMerges as HasMerges
    from tokbench.protocol import HasSpecialTokens as HasSpecialTokens
    from tokbench.protocol import Offsets as Offsets
    from tokbench.protocol import ThreadSafe as ThreadSafe
    from tokbench.protocol import Tokenizer as Tokenizer
    from tokbench.reporter import ReporterSpec as ReporterSpec
    from tokbench.results import Cell as Cell
    from tokbench.results import Results as Results
    from tokbench.runner.api import load as load
    from tokbench.runner.api import run as run

_HOMES = {
    "Answer": "metrics.contract",
    "AcrossOutcome": "metrics.contract",
    "BackendError": "errors",
    "BackendSpec": "backend",
    "BackendUnavailable": "errors",
    "Cell": "results",
    "ClaimsLossless": "protocol",
    "CorpusSpec": "corpus.source",
    "CorpusStates": "metrics.contract",
    "Document": "corpus.source",
    "Encoded": "protocol",
    "HasMerges": "protocol",
    "Gold": "corpus.gold",
    "HasSpecialTokens": "protocol",
    "InputError": "errors",
    "LocalPath": "paths",
    "Measured": "metrics.contract",
    "MetricSpec": "metrics.contract",
    "NotApplicable": "metrics.contract",
    "Offsets": "protocol",
    "Options": "backend",
    "ReporterSpec": "reporter",
    "Results": "results",
    "Segmented": "metrics.contract",
    "Sums": "metrics.sums",
    "ThreadSafe": "protocol",
    "TokbenchError": "errors",
    "Tokenizer": "protocol",
    "TrainProgress": "backend",
    "ValueSpec": "metrics.contract",
    "View": "metrics.view",
    "did_you_mean": "errors",
    "hookimpl": "hookspecs",
    "load": "runner.api",
    "run": "runner.api",
    "write_atomically": "atomic",
}

__version__ = "0.1.0"
__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 - the names of _HOMES are strings


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        msg = f"module 'tokbench' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(importlib.import_module(f"tokbench.{home}"), name)
