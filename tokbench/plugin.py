"""The public interface for plugins: everything that a plugin needs is here, and nothing else of tokbench is stable.

A plugin is a module with functions marked :data:`hookimpl`; ``plugins/README.md`` shows one of each kind. The built-in
backends, metric families, corpus sources and report formats import this module and nothing else of tokbench.

>>> from tokbench.plugin import check_id, from_lists
>>> from_lists([[7, 8], [9]]).offsets.tolist()
[0, 2, 3]

A name is imported from its module when it is first used, so that a backend does not load what only metrics need.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from tokbench import __version__ as __version__

if TYPE_CHECKING:
    from tokbench.batch import check_encoded as check_encoded
    from tokbench.batch import check_id as check_id
    from tokbench.batch import check_ids as check_ids
    from tokbench.batch import check_span as check_span
    from tokbench.batch import decode_batch as decode_batch
    from tokbench.batch import encode_batch as encode_batch
    from tokbench.batch import from_buffers as from_buffers
    from tokbench.batch import from_lists as from_lists
    from tokbench.batch import offsets_of as offsets_of
    from tokbench.batch import valid_unicode as valid_unicode
    from tokbench.contracts.backend import BackendSpec as BackendSpec
    from tokbench.contracts.backend import TrainProgress as TrainProgress
    from tokbench.contracts.corpus import CorpusSpec as CorpusSpec
    from tokbench.contracts.corpus import Document as Document
    from tokbench.contracts.corpus import Gold as Gold
    from tokbench.contracts.corpus import Source as Source
    from tokbench.contracts.metric import Answer as Answer
    from tokbench.contracts.metric import CorpusMetric as CorpusMetric
    from tokbench.contracts.metric import CorpusOutcome as CorpusOutcome
    from tokbench.contracts.metric import CorpusStates as CorpusStates
    from tokbench.contracts.metric import FindsLosses as FindsLosses
    from tokbench.contracts.metric import LossSummary as LossSummary
    from tokbench.contracts.metric import Measured as Measured
    from tokbench.contracts.metric import Metric as Metric
    from tokbench.contracts.metric import MetricFamily as MetricFamily
    from tokbench.contracts.metric import NotApplicable as NotApplicable
    from tokbench.contracts.metric import Probe as Probe
    from tokbench.contracts.metric import Role as Role
    from tokbench.contracts.metric import Segmented as Segmented
    from tokbench.contracts.metric import TextMetric as TextMetric
    from tokbench.contracts.metric import TimedMetric as TimedMetric
    from tokbench.contracts.metric import TimedOutcome as TimedOutcome
    from tokbench.contracts.metric import TimedText as TimedText
    from tokbench.contracts.options import CorpusName as CorpusName
    from tokbench.contracts.options import GroupName as GroupName
    from tokbench.contracts.options import LocalPath as LocalPath
    from tokbench.contracts.options import Options as Options
    from tokbench.contracts.options import TokenizerName as TokenizerName
    from tokbench.contracts.reporter import ReporterSpec as ReporterSpec
    from tokbench.contracts.tokenizer import ClaimsLossless as ClaimsLossless
    from tokbench.contracts.tokenizer import DecodesBatch as DecodesBatch
    from tokbench.contracts.tokenizer import Encoded as Encoded
    from tokbench.contracts.tokenizer import EncodesBatch as EncodesBatch
    from tokbench.contracts.tokenizer import EncodesWithOffsets as EncodesWithOffsets
    from tokbench.contracts.tokenizer import Exports as Exports
    from tokbench.contracts.tokenizer import HasDummyPrefix as HasDummyPrefix
    from tokbench.contracts.tokenizer import HasMerges as HasMerges
    from tokbench.contracts.tokenizer import HasNotes as HasNotes
    from tokbench.contracts.tokenizer import HasSpecialTokens as HasSpecialTokens
    from tokbench.contracts.tokenizer import HasTokenBytes as HasTokenBytes
    from tokbench.contracts.tokenizer import HasUnknown as HasUnknown
    from tokbench.contracts.tokenizer import Offsets as Offsets
    from tokbench.contracts.tokenizer import Saves as Saves
    from tokbench.contracts.tokenizer import ThreadSafe as ThreadSafe
    from tokbench.contracts.tokenizer import Tokenizer as Tokenizer
    from tokbench.contracts.tokenizer import WarmsUp as WarmsUp
    from tokbench.corpus.languages import slices as slices
    from tokbench.corpus.shards import BUCKETS as BUCKETS
    from tokbench.corpus.shards import Shard as Shard
    from tokbench.corpus.words import UNIT_NAMES as UNIT_NAMES
    from tokbench.corpus.words import GoldWords as GoldWords
    from tokbench.corpus.words import Unit as Unit
    from tokbench.corpus.words import Words as Words
    from tokbench.errors import BackendError as BackendError
    from tokbench.errors import BackendUnavailable as BackendUnavailable
    from tokbench.errors import ContractError as ContractError
    from tokbench.errors import InputError as InputError
    from tokbench.errors import Problem as Problem
    from tokbench.errors import TokbenchError as TokbenchError
    from tokbench.errors import did_you_mean as did_you_mean
    from tokbench.errors import one_line as one_line
    from tokbench.failures import Failure as Failure
    from tokbench.failures import attempt as attempt
    from tokbench.failures import doing as doing
    from tokbench.files import read_file as read_file
    from tokbench.files import write_atomically as write_atomically
    from tokbench.hookspecs import hookimpl as hookimpl
    from tokbench.metrics.encoded_shard import EncodedShard as EncodedShard
    from tokbench.metrics.encoded_shard import LoadedTokenizer as LoadedTokenizer
    from tokbench.metrics.encoded_shard import TokenEnds as TokenEnds
    from tokbench.metrics.inequality import gini_coefficient as gini_coefficient
    from tokbench.metrics.jackknife import MIN_BUCKETS as MIN_BUCKETS
    from tokbench.metrics.jackknife import jackknife as jackknife
    from tokbench.metrics.jackknife import leave_out as leave_out
    from tokbench.metrics.jackknife import p_value as p_value
    from tokbench.metrics.jackknife import spread as spread
    from tokbench.metrics.paired_sums import PairedSums as PairedSums
    from tokbench.metrics.paired_sums import shortcoming as shortcoming
    from tokbench.metrics.paired_sums import sums_of as sums_of
    from tokbench.metrics.spans import Spans as Spans
    from tokbench.metrics.spans import cuts as cuts
    from tokbench.metrics.spans import find_spans as find_spans
    from tokbench.metrics.spans import shard_bytes as shard_bytes
    from tokbench.metrics.spans import sum_by_document as sum_by_document
    from tokbench.metrics.spans import tokens_within as tokens_within
    from tokbench.metrics.spans import touches as touches
    from tokbench.metrics.sums import Sums as Sums
    from tokbench.metrics.token_counts import TokenCounts as TokenCounts
    from tokbench.metrics.token_counts import add_counts as add_counts
    from tokbench.metrics.token_counts import renyi_entropy as renyi_entropy
    from tokbench.metrics.word_units import NO_GOLD as NO_GOLD
    from tokbench.metrics.word_units import NOT_ALIGNED as NOT_ALIGNED
    from tokbench.metrics.word_units import UnitSums as UnitSums
    from tokbench.metrics.word_units import WordOptions as WordOptions
    from tokbench.metrics.word_units import count_by_document as count_by_document
    from tokbench.metrics.word_units import token_ends as token_ends
    from tokbench.metrics.word_units import unknown_tokens as unknown_tokens
    from tokbench.metrics.word_units import words_of as words_of
    from tokbench.progress import Progress as Progress
    from tokbench.progress import silent as silent
    from tokbench.report.cells import DisplayCell as DisplayCell
    from tokbench.report.escaping import markdown_table as markdown_table
    from tokbench.report.escaping import markdown_text as markdown_text
    from tokbench.report.escaping import plain as plain
    from tokbench.report.escaping import spreadsheet_text as spreadsheet_text
    from tokbench.report.escaping import visible as visible
    from tokbench.report.number_format import byte_size as byte_size
    from tokbench.report.number_format import duration as duration
    from tokbench.report.number_format import unit_label as unit_label
    from tokbench.report.report import Report as Report
    from tokbench.results.blocks import LossCause as LossCause
    from tokbench.results.blocks import LossExample as LossExample
    from tokbench.results.blocks import PairComparison as PairComparison
    from tokbench.results.cells import COLUMNS as COLUMNS
    from tokbench.results.cells import WHOLE as WHOLE
    from tokbench.results.cells import Cell as Cell
    from tokbench.results.cells import Status as Status
    from tokbench.results.cells import TokenizerState as TokenizerState
    from tokbench.results.model import Results as Results
    from tokbench.vocabulary.curve import Curve as Curve
    from tokbench.vocabulary.inspect.usage import Usage as Usage
    from tokbench.vocabulary.inspect.usage import usage_classes as usage_classes
    from tokbench.vocabulary.merges import MergeOrder as MergeOrder
    from tokbench.vocabulary.merges import merge_order as merge_order

_HOMES: Final = {
    # register things
    "hookimpl": "hookspecs",
    # tokenizers: the contract and its capabilities
    "Tokenizer": "contracts.tokenizer",
    "Encoded": "contracts.tokenizer",
    "Offsets": "contracts.tokenizer",
    "EncodesBatch": "contracts.tokenizer",
    "DecodesBatch": "contracts.tokenizer",
    "HasTokenBytes": "contracts.tokenizer",
    "HasDummyPrefix": "contracts.tokenizer",
    "EncodesWithOffsets": "contracts.tokenizer",
    "HasUnknown": "contracts.tokenizer",
    "HasSpecialTokens": "contracts.tokenizer",
    "HasMerges": "contracts.tokenizer",
    "ClaimsLossless": "contracts.tokenizer",
    "ThreadSafe": "contracts.tokenizer",
    "HasNotes": "contracts.tokenizer",
    "Saves": "contracts.tokenizer",
    "Exports": "contracts.tokenizer",
    "WarmsUp": "contracts.tokenizer",
    # backends
    "BackendSpec": "contracts.backend",
    "TrainProgress": "contracts.backend",
    # options
    "Options": "contracts.options",
    "LocalPath": "contracts.options",
    "TokenizerName": "contracts.options",
    "CorpusName": "contracts.options",
    "GroupName": "contracts.options",
    # corpora
    "CorpusSpec": "contracts.corpus",
    "Source": "contracts.corpus",
    "Document": "contracts.corpus",
    "Gold": "contracts.corpus",
    # metrics
    "MetricFamily": "contracts.metric",
    "Metric": "contracts.metric",
    "Measured": "contracts.metric",
    "NotApplicable": "contracts.metric",
    "TextMetric": "contracts.metric",
    "CorpusMetric": "contracts.metric",
    "CorpusOutcome": "contracts.metric",
    "CorpusStates": "contracts.metric",
    "FindsLosses": "contracts.metric",
    "LossSummary": "contracts.metric",
    "LossCause": "results.blocks",
    "LossExample": "results.blocks",
    "PairComparison": "results.blocks",
    "Role": "contracts.metric",
    "Probe": "contracts.metric",
    "Answer": "contracts.metric",
    "Segmented": "contracts.metric",
    "TimedMetric": "contracts.metric",
    "TimedOutcome": "contracts.metric",
    "TimedText": "contracts.metric",
    # building blocks of metrics
    "EncodedShard": "metrics.encoded_shard",
    "LoadedTokenizer": "metrics.encoded_shard",
    "TokenEnds": "metrics.encoded_shard",
    "Sums": "metrics.sums",
    "PairedSums": "metrics.paired_sums",
    "shortcoming": "metrics.paired_sums",
    "sums_of": "metrics.paired_sums",
    "gini_coefficient": "metrics.inequality",
    "MIN_BUCKETS": "metrics.jackknife",
    "jackknife": "metrics.jackknife",
    "leave_out": "metrics.jackknife",
    "p_value": "metrics.jackknife",
    "spread": "metrics.jackknife",
    "Spans": "metrics.spans",
    "cuts": "metrics.spans",
    "find_spans": "metrics.spans",
    "shard_bytes": "metrics.spans",
    "sum_by_document": "metrics.spans",
    "tokens_within": "metrics.spans",
    "touches": "metrics.spans",
    "NOT_ALIGNED": "metrics.word_units",
    "NO_GOLD": "metrics.word_units",
    "UnitSums": "metrics.word_units",
    "WordOptions": "metrics.word_units",
    "token_ends": "metrics.word_units",
    "unknown_tokens": "metrics.word_units",
    "words_of": "metrics.word_units",
    "count_by_document": "metrics.word_units",
    "TokenCounts": "metrics.token_counts",
    "add_counts": "metrics.token_counts",
    "renyi_entropy": "metrics.token_counts",
    "BUCKETS": "corpus.shards",
    "Shard": "corpus.shards",
    "GoldWords": "corpus.words",
    "UNIT_NAMES": "corpus.words",
    "Unit": "corpus.words",
    "Words": "corpus.words",
    "slices": "corpus.languages",
    "Curve": "vocabulary.curve",
    "MergeOrder": "vocabulary.merges",
    "merge_order": "vocabulary.merges",
    "Usage": "vocabulary.inspect.usage",
    "usage_classes": "vocabulary.inspect.usage",
    # reports
    "ReporterSpec": "contracts.reporter",
    "COLUMNS": "results.cells",
    "WHOLE": "results.cells",
    "Cell": "results.cells",
    "Status": "results.cells",
    "TokenizerState": "results.cells",
    "Results": "results.model",
    "Report": "report.report",
    "DisplayCell": "report.cells",
    "markdown_table": "report.escaping",
    "markdown_text": "report.escaping",
    "plain": "report.escaping",
    "spreadsheet_text": "report.escaping",
    "visible": "report.escaping",
    "byte_size": "report.number_format",
    "duration": "report.number_format",
    "unit_label": "report.number_format",
    # many documents at a time
    "check_encoded": "batch",
    "check_id": "batch",
    "check_ids": "batch",
    "check_span": "batch",
    "decode_batch": "batch",
    "encode_batch": "batch",
    "from_buffers": "batch",
    "from_lists": "batch",
    "offsets_of": "batch",
    "valid_unicode": "batch",
    # files
    "read_file": "files",
    "write_atomically": "files",
    # errors and failures
    "BackendError": "errors",
    "BackendUnavailable": "errors",
    "ContractError": "errors",
    "InputError": "errors",
    "Problem": "errors",
    "TokbenchError": "errors",
    "did_you_mean": "errors",
    "one_line": "errors",
    "Failure": "failures",
    "attempt": "failures",
    "doing": "failures",
    "Progress": "progress",
    "silent": "progress",
}

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 - the names of _HOMES are strings


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        msg = f"module 'tokbench.plugin' has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(importlib.import_module(f"tokbench.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
