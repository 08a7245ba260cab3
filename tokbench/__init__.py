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
    from tokbench.api import load as load
    from tokbench.api import run as run
    from tokbench.contracts.backend import BackendSpec as BackendSpec
    from tokbench.contracts.backend import TrainProgress as TrainProgress
    from tokbench.contracts.corpus import CorpusSpec as CorpusSpec
    from tokbench.contracts.corpus import Document as Document
    from tokbench.contracts.corpus import Gold as Gold
    from tokbench.contracts.metric import Answer as Answer
    from tokbench.contracts.metric import CorpusOutcome as CorpusOutcome
    from tokbench.contracts.metric import CorpusStates as CorpusStates
    from tokbench.contracts.metric import Measured as Measured
    from tokbench.contracts.metric import Metric as Metric
    from tokbench.contracts.metric import MetricFamily as MetricFamily
    from tokbench.contracts.metric import NotApplicable as NotApplicable
    from tokbench.contracts.metric import Segmented as Segmented
    from tokbench.contracts.options import LocalPath as LocalPath
    from tokbench.contracts.options import Options as Options
    from tokbench.contracts.reporter import ReporterSpec as ReporterSpec
    from tokbench.contracts.tokenizer import ClaimsLossless as ClaimsLossless
    from tokbench.contracts.tokenizer import Encoded as Encoded
    from tokbench.contracts.tokenizer import HasMerges as HasMerges
    from tokbench.contracts.tokenizer import HasSpecialTokens as HasSpecialTokens
    from tokbench.contracts.tokenizer import Offsets as Offsets
    from tokbench.contracts.tokenizer import ThreadSafe as ThreadSafe
    from tokbench.contracts.tokenizer import Tokenizer as Tokenizer
    from tokbench.errors import BackendError as BackendError
    from tokbench.errors import BackendUnavailable as BackendUnavailable
    from tokbench.errors import InputError as InputError
    from tokbench.errors import TokbenchError as TokbenchError
    from tokbench.errors import did_you_mean as did_you_mean
    from tokbench.files import write_atomically as write_atomically
    from tokbench.hookspecs import hookimpl as hookimpl
    from tokbench.metrics.encoded_shard import EncodedShard as EncodedShard
    from tokbench.metrics.sums import Sums as Sums
    from tokbench.results.model import Cell as Cell
    from tokbench.results.model import Results as Results

_HOMES = {
    "Answer": "contracts.metric",
    "CorpusOutcome": "contracts.metric",
    "BackendError": "errors",
    "BackendSpec": "contracts.backend",
    "BackendUnavailable": "errors",
    "Cell": "results.model",
    "ClaimsLossless": "contracts.tokenizer",
    "CorpusSpec": "contracts.corpus",
    "CorpusStates": "contracts.metric",
    "Document": "contracts.corpus",
    "Encoded": "contracts.tokenizer",
    "HasMerges": "contracts.tokenizer",
    "Gold": "contracts.corpus",
    "HasSpecialTokens": "contracts.tokenizer",
    "InputError": "errors",
    "LocalPath": "contracts.options",
    "Measured": "contracts.metric",
    "MetricFamily": "contracts.metric",
    "NotApplicable": "contracts.metric",
    "Offsets": "contracts.tokenizer",
    "Options": "contracts.options",
    "ReporterSpec": "contracts.reporter",
    "Results": "results.model",
    "Segmented": "contracts.metric",
    "Sums": "metrics.sums",
    "ThreadSafe": "contracts.tokenizer",
    "TokbenchError": "errors",
    "Tokenizer": "contracts.tokenizer",
    "TrainProgress": "contracts.backend",
    "Metric": "contracts.metric",
    "EncodedShard": "metrics.encoded_shard",
    "did_you_mean": "errors",
    "hookimpl": "hookspecs",
    "load": "api",
    "run": "api",
    "write_atomically": "files",
}

__version__ = "0.1.0"
__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 - the names of _HOMES are strings


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        msg = f"module 'tokbench' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(importlib.import_module(f"tokbench.{home}"), name)
