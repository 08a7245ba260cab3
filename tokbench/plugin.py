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

from tokbench.version import __version__ as __version__

if TYPE_CHECKING:
    # fmt: off
    from tokbench.tokenizers.batch import (
        check_encoded as check_encoded, check_id as check_id, check_ids as check_ids, check_span as check_span,
        decode_batch as decode_batch, encode_batch as encode_batch, from_buffers as from_buffers,
        fresh_copies as fresh_copies,
        from_lists as from_lists, offsets_of as offsets_of, valid_unicode as valid_unicode,
    )
    from tokbench.tokenizers.backend import (
        BackendSpec as BackendSpec, GroupedText as GroupedText, TrainProgress as TrainProgress,
    )
    from tokbench.corpus.contract import CorpusSpec as CorpusSpec, Document as Document, Gold as Gold, Source as Source
    from tokbench.measuring.examples import (
        DocumentExample as DocumentExample, FindsWorstDocuments as FindsWorstDocuments,
    )
    from tokbench.measuring.isolated_metric import (
        IsolatedMetric as IsolatedMetric, StepAnswers as StepAnswers, TrainedIn as TrainedIn,
    )
    from tokbench.measuring.family import MetricFamily as MetricFamily
    from tokbench.measuring.metric import (
        Answer as Answer,
        CorpusMetric as CorpusMetric,
        CorpusOutcome as CorpusOutcome,
        CorpusStates as CorpusStates,
        FindsLosses as FindsLosses,
        LossSummary as LossSummary,
        Measured as Measured,
        Metric as Metric,
        NotApplicable as NotApplicable,
        Probe as Probe,
        Role as Role,
        Segmented as Segmented,
        TextMetric as TextMetric,
        TimedMetric as TimedMetric,
        TimedOutcome as TimedOutcome,
        TimedText as TimedText,
    )
    from tokbench.measuring.model_metric import (
        Checkpoints as Checkpoints, EncodedPart as EncodedPart,
        ModelMetric as ModelMetric, ModelOutcome as ModelOutcome,
        ModelStates as ModelStates, ModelTask as ModelTask, ModelTexts as ModelTexts,
    )
    from tokbench.tokenizers.options import (
        CorpusName as CorpusName, FilesPath as FilesPath, GroupName as GroupName, LocalPath as LocalPath,
        Options as Options, TokenizerName as TokenizerName,
    )
    from tokbench.results.reporter import ReporterSpec as ReporterSpec
    from tokbench.tokenizers.contract import (
        ClaimsLossless as ClaimsLossless, DecodesBatch as DecodesBatch, Encoded as Encoded,
        EncodesBatch as EncodesBatch, EncodesWithOffsets as EncodesWithOffsets,
        EncodesWithSpecial as EncodesWithSpecial, Exports as Exports,
        HasDummyPrefix as HasDummyPrefix, HasIdentity as HasIdentity, HasMerges as HasMerges,
        HasNotes as HasNotes,
        HasSpecialTokens as HasSpecialTokens, HasTokenBytes as HasTokenBytes, HasUnknown as HasUnknown,
        NamesEngine as NamesEngine, Offsets as Offsets, Saves as Saves, ThreadSafe as ThreadSafe,
        Adaptation as Adaptation, Adapts as Adapts, CountsDetours as CountsDetours, Tokenizer as Tokenizer,
        WarmsUp as WarmsUp,
    )
    from tokbench.corpus.excerpts import cut_excerpt as cut_excerpt
    from tokbench.corpus.languages import slices as slices
    from tokbench.corpus.shards import BUCKETS as BUCKETS, Shard as Shard
    from tokbench.corpus.words.find import Spans as Spans
    from tokbench.corpus.words.gold import GoldWords as GoldWords
    from tokbench.corpus.words.units import UNIT_NAMES as UNIT_NAMES, Unit as Unit
    from tokbench.foundation.errors import (
        BackendError as BackendError, BackendUnavailable as BackendUnavailable, ContractError as ContractError,
        InputError as InputError, Problem as Problem, TokbenchError as TokbenchError, did_you_mean as did_you_mean,
        one_line as one_line,
    )
    from tokbench.foundation.failures import Failure as Failure, attempt as attempt, doing as doing
    from tokbench.foundation.files import (
        is_utf8 as is_utf8,
        not_text as not_text,
        read_file as read_file,
        write_atomically as write_atomically,
    )
    from tokbench.hookspecs import hookimpl as hookimpl
    from tokbench.foundation.jit import compiled as compiled, has_numba as has_numba, inlined as inlined
    from tokbench.measuring.chat_templates import (
        CHAT_TEMPLATES as CHAT_TEMPLATES, Message as Message, PromptPart as PromptPart, stretches as stretches,
    )
    from tokbench.measuring.encoded_shard import (
        EncodedShard as EncodedShard, LoadedTokenizer as LoadedTokenizer, TokenEnds as TokenEnds,
    )
    from tokbench.statistics.inequality import gini_coefficient as gini_coefficient
    from tokbench.measuring.document_sample import (
        document_hashes as document_hashes, first_by_hash as first_by_hash, hashes_of as hashes_of,
    )
    from tokbench.statistics.jackknife import (
        Interval as Interval, Lengths as Lengths, MIN_BUCKETS as MIN_BUCKETS, interval as interval,
        holm as holm, jackknife as jackknife, leave_out as leave_out, p_value as p_value, spread as spread,
        student_t as student_t,
    )
    from tokbench.measuring.spans import (
        cut_places as cut_places, cuts as cuts, find_spans as find_spans, shard_bytes as shard_bytes,
        sum_by_document as sum_by_document, tokens_within as tokens_within, touches as touches,
    )
    from tokbench.measuring.sums import (
        PairedSums as PairedSums, SummedMetric as SummedMetric, Sums as Sums, shortcoming as shortcoming,
        sums_of as sums_of,
    )
    from tokbench.measuring.token_counts import (
        AnyCountTable as AnyCountTable, CountTable as CountTable, GroupedCountTable as GroupedCountTable,
        TokenCounts as TokenCounts, add_counts as add_counts, add_tables as add_tables, join_tables as join_tables,
        renyi_entropy as renyi_entropy,
    )
    from tokbench.measuring.word_units import (
        AlignedWords as AlignedWords, LaidWords as LaidWords, NOT_ALIGNED as NOT_ALIGNED, NO_GOLD as NO_GOLD,
        UnitSums as UnitSums, WordOptions as WordOptions, count_by_document as count_by_document,
        token_ends as token_ends,
        unknown_tokens as unknown_tokens, words_of as words_of,
    )
    from tokbench.measuring.body import (
        LEARNING_RATES as LEARNING_RATES, PRESETS as PRESETS, SHARES as SHARES, Body as Body, Point as Point,
        memory_bytes as memory_bytes,
    )
    from tokbench.model.ngram import bits_by_order as bits_by_order
    from tokbench.measuring.scored_bits import (
        LEAST_DIFFERENCE as LEAST_DIFFERENCE, ScoredBits as ScoredBits, TRAINING_PARTS as TRAINING_PARTS,
        bits_verdict as bits_verdict, compare_bits as compare_bits,
    )
    from tokbench.model.learning_rate import SeedCurves as SeedCurves, train_seeds as train_seeds
    from tokbench.model.transformer import window_of as window_of
    from tokbench.model.windows import renumbered as renumbered
    from tokbench.foundation.progress import Progress as Progress, silent as silent
    from tokbench.report.cells import DisplayCell as DisplayCell, legends as legends
    from tokbench.report.escaping import (
        latex_text as latex_text, markdown_table as markdown_table, markdown_text as markdown_text, plain as plain,
        spreadsheet_text as spreadsheet_text, visible as visible,
    )
    from tokbench.report.number_format import byte_size as byte_size, duration as duration, unit_label as unit_label
    from tokbench.report.pages import html_environment as html_environment
    from tokbench.report.html_nodes import HtmlNodes as HtmlNodes
    from tokbench.report.markdown_nodes import section_markdown as section_markdown
    from tokbench.report.report import Report as Report
    from tokbench.results.bits_per_byte import (
        BitsComparison as BitsComparison, ModelTraining as ModelTraining, ModelWords as ModelWords,
        TrainedAmount as TrainedAmount,
    )
    from tokbench.results.blocks import (
        LossCause as LossCause, LossExample as LossExample, PairComparison as PairComparison, PairMatrix as PairMatrix,
    )
    from tokbench.results.cells import (
        COLUMNS as COLUMNS, Cell as Cell, OWN_TEXTS as OWN_TEXTS,
        Status as Status, TokenizerState as TokenizerState, WHOLE as WHOLE, group_name as group_name,
        place_name as place_name,
    )
    from tokbench.results.metric_curves import CurvePoint as CurvePoint
    from tokbench.results.model import Results as Results
    from tokbench.foundation.store import open_store as open_store
    from tokbench.vocabulary.curve import Curve as Curve
    from tokbench.vocabulary.inspect.tokens import (
        TokenKind as TokenKind, list_tokens as list_tokens, script_of as script_of,
    )
    from tokbench.vocabulary.inspect.usage import Usage as Usage, usage_classes as usage_classes
    from tokbench.tokenizers.merges import MergeOrder as MergeOrder, merge_order as merge_order
    # fmt: on

_NAMES: Final = {
    # register things
    "hookspecs": "hookimpl",
    # tokenizers: the contract and its capabilities
    "tokenizers.contract": (
        "Tokenizer Encoded Offsets EncodesBatch DecodesBatch HasTokenBytes HasDummyPrefix EncodesWithOffsets "
        "EncodesWithSpecial HasIdentity HasUnknown HasSpecialTokens HasMerges ClaimsLossless ThreadSafe HasNotes "
        "NamesEngine Saves Exports CountsDetours WarmsUp Adaptation Adapts"
    ),
    # backends
    "tokenizers.backend": "BackendSpec GroupedText TrainProgress",
    # options
    "tokenizers.options": "Options LocalPath FilesPath TokenizerName CorpusName GroupName",
    # corpora
    "corpus.contract": "CorpusSpec Source Document Gold",
    # metrics
    "measuring.family": "MetricFamily",
    "measuring.metric": (
        "Metric Measured NotApplicable TextMetric CorpusMetric CorpusOutcome CorpusStates "
        "FindsLosses LossSummary Role Probe Answer Segmented TimedMetric TimedOutcome TimedText"
    ),
    "measuring.isolated_metric": "IsolatedMetric StepAnswers TrainedIn",
    "measuring.model_metric": "Checkpoints EncodedPart ModelMetric ModelOutcome ModelStates ModelTask ModelTexts",
    "measuring.examples": "DocumentExample FindsWorstDocuments",
    "corpus.excerpts": "cut_excerpt",
    "results.blocks": "LossCause LossExample PairComparison PairMatrix",
    "results.bits_per_byte": "BitsComparison ModelTraining ModelWords TrainedAmount",
    "results.metric_curves": "CurvePoint",
    # building blocks of metrics
    "measuring.chat_templates": "CHAT_TEMPLATES Message PromptPart stretches",
    "measuring.document_sample": "document_hashes first_by_hash hashes_of",
    "measuring.encoded_shard": "EncodedShard LoadedTokenizer TokenEnds",
    "measuring.sums": "Sums SummedMetric PairedSums shortcoming sums_of",
    "statistics.inequality": "gini_coefficient",
    "statistics.jackknife": "Interval Lengths MIN_BUCKETS holm interval jackknife leave_out p_value spread student_t",
    "measuring.spans": "cut_places cuts find_spans shard_bytes sum_by_document tokens_within touches",
    "measuring.word_units": (
        "NOT_ALIGNED NO_GOLD AlignedWords LaidWords UnitSums WordOptions token_ends unknown_tokens words_of "
        "count_by_document"
    ),
    "measuring.token_counts": (
        "AnyCountTable CountTable GroupedCountTable TokenCounts add_counts add_tables join_tables renyi_entropy"
    ),
    "measuring.body": "LEARNING_RATES PRESETS SHARES Body Point memory_bytes",
    "model.ngram": "bits_by_order",
    "model.learning_rate": "SeedCurves train_seeds",
    "model.transformer": "window_of",
    "model.windows": "renumbered",
    "measuring.scored_bits": "LEAST_DIFFERENCE TRAINING_PARTS ScoredBits bits_verdict compare_bits",
    "corpus.shards": "BUCKETS Shard",
    "corpus.words.find": "Spans",
    "corpus.words.gold": "GoldWords",
    "corpus.words.units": "UNIT_NAMES Unit",
    "corpus.languages": "slices",
    "vocabulary.curve": "Curve",
    "tokenizers.merges": "MergeOrder merge_order",
    "vocabulary.inspect.tokens": "TokenKind list_tokens script_of",
    "vocabulary.inspect.usage": "Usage usage_classes",
    # reports
    "results.reporter": "ReporterSpec",
    "results.cells": "COLUMNS OWN_TEXTS WHOLE Cell Status TokenizerState group_name place_name",
    "results.model": "Results",
    "report.report": "Report",
    "report.html_nodes": "HtmlNodes",
    "report.markdown_nodes": "section_markdown",
    "report.cells": "DisplayCell legends",
    "report.escaping": "latex_text markdown_table markdown_text plain spreadsheet_text visible",
    "report.number_format": "byte_size duration unit_label",
    "report.pages": "html_environment",
    # functions compiled with numba where it is installed
    "foundation.jit": "compiled has_numba inlined",
    # many documents at a time
    "tokenizers.batch": (
        "check_encoded check_id check_ids check_span decode_batch encode_batch from_buffers from_lists offsets_of "
        "fresh_copies valid_unicode"
    ),
    # files
    "foundation.files": "is_utf8 not_text read_file write_atomically",
    # finished work that is kept for later runs
    "foundation.store": "open_store",
    # errors and failures
    "foundation.errors": (
        "BackendError BackendUnavailable ContractError InputError Problem TokbenchError did_you_mean one_line"
    ),
    "foundation.failures": "Failure attempt doing",
    "foundation.progress": "Progress silent",
}
"""The names of the door, by the module that is their home."""

_HOMES: Final = {name: module for module, names in _NAMES.items() for name in names.split()}

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
