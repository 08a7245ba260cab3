"""The public interface for plugins; nothing else of tokbench is stable.

A plugin is a module with functions marked :data:`hookimpl`; ``plugins/README.md`` shows one of each kind. The built-in
plugins import only this module of tokbench.

>>> from tokbench.plugin import check_id, from_lists
>>> from_lists([[7, 8], [9]]).offsets.tolist()
[0, 2, 3]

Names are imported when they are first used, so that a backend does not load what only metrics need.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from tokbench.foundation.version import __version__ as __version__

if TYPE_CHECKING:
    # fmt: off
    from tokbench.registry.hookspecs import hookimpl as hookimpl
    from tokbench.tokenizers.contract import (
        Tokenizer as Tokenizer, Encoded as Encoded, Offsets as Offsets, EncodesBatch as EncodesBatch,
        DecodesBatch as DecodesBatch, HasTokenBytes as HasTokenBytes, HasDummyPrefix as HasDummyPrefix,
        EncodesWithOffsets as EncodesWithOffsets, EncodesWithSpecial as EncodesWithSpecial,
        HasIdentity as HasIdentity, HasUnknown as HasUnknown, HasSpecialTokens as HasSpecialTokens,
        HasMerges as HasMerges, ClaimsLossless as ClaimsLossless, ThreadSafe as ThreadSafe, HasNotes as HasNotes,
        ComparesFile as ComparesFile,
        DescribesStages as DescribesStages, NamesEngine as NamesEngine, Saves as Saves, Exports as Exports,
        CountsDetours as CountsDetours, WarmsUp as WarmsUp, Adaptation as Adaptation, Adapts as Adapts,
    )
    from tokbench.tokenizers.engine_contract import (
        CountsAlone as CountsAlone, CountsTokens as CountsTokens, DecodesStream as DecodesStream,
        EncodesChat as EncodesChat, NamesOutput as NamesOutput, ReportsSpans as ReportsSpans,
        TokenSpans as TokenSpans, output_of as output_of,
    )
    from tokbench.tokenizers.backend import (
        BackendSpec as BackendSpec, FileKind as FileKind, GroupedText as GroupedText, TrainProgress as TrainProgress,
    )
    from tokbench.tokenizers.options import (
        Options as Options, LocalPath as LocalPath, FilesPath as FilesPath, TokenizerName as TokenizerName,
        CorpusName as CorpusName, GroupName as GroupName,
    )
    from tokbench.corpus.contract import (
        CorpusSpec as CorpusSpec, Document as Document, Gold as Gold,
    )
    from tokbench.corpus.document_limit import DOCUMENT_LIMIT as DOCUMENT_LIMIT, too_long as too_long
    from tokbench.measuring.family import MetricFamily as MetricFamily
    from tokbench.measuring.counted import (
        Basis as Basis, Counts as Counts, TOKEN_PLACES as TOKEN_PLACES, counted as counted, declared as declared,
    )
    from tokbench.measuring.metric import (
        Metric as Metric, Measured as Measured, NotApplicable as NotApplicable,
        CorpusOutcome as CorpusOutcome, CorpusStates as CorpusStates,
        LossSummary as LossSummary, Role as Role, Probe as Probe, Answer as Answer,
        Segmented as Segmented, TimedOutcome as TimedOutcome, TimedText as TimedText,
    )
    from tokbench.measuring.isolated_metric import (
        StepAnswers as StepAnswers, TrainedIn as TrainedIn,
    )
    from tokbench.measuring.examples import (
        DocumentExample as DocumentExample,
    )
    from tokbench.corpus.excerpts import cut_excerpt as cut_excerpt, MOST_EXCERPTS as MOST_EXCERPTS
    from tokbench.results.blocks import (
        LossCause as LossCause, LossExample as LossExample, PairComparison as PairComparison,
        PairMatrix as PairMatrix, OwnTexts as OwnTexts,
    )
    from tokbench.results.metric_curves import CurvePoint as CurvePoint
    from tokbench.measuring.chat_templates import (
        CHAT_TEMPLATES as CHAT_TEMPLATES, ChatTemplate as ChatTemplate, Message as Message,
        prompt_ids as prompt_ids,
    )
    from tokbench.measuring.document_sample import (
        document_hashes as document_hashes, first_by_hash as first_by_hash, hashes_of as hashes_of,
    )
    from tokbench.measuring.encoded_shard import (
        EncodedShard as EncodedShard, LoadedTokenizer as LoadedTokenizer,
        DECODING as DECODING, ENCODING as ENCODING,
    )
    from tokbench.measuring.sums import (
        Sums as Sums, SummedMetric as SummedMetric, PairedSums as PairedSums,
        compared_sums as compared_sums, merged as merged,
    )
    from tokbench.measuring.align import (
        Hunk as Hunk, edits as edits, first_difference as first_difference, hunks as hunks,
    )
    from tokbench.measuring.round_trip import MOST_ERRORS as MOST_ERRORS, RoundTrip as RoundTrip
    from tokbench.statistics.sample_units import SampleUnits as SampleUnits
    from tokbench.statistics.inequality import gini_coefficient as gini_coefficient, lorenz as lorenz
    from tokbench.statistics.jackknife import (
        Interval as Interval, LEAST_UNITS as LEAST_UNITS, holm as holm, interval as interval, jackknife as jackknife,
        leave_out as leave_out, spread as spread, student_t as student_t, Spread as Spread,
        too_few as too_few, median_interval as median_interval,
    )
    from tokbench.measuring.spans import (
        cuts as cuts, find_spans as find_spans, shard_bytes as shard_bytes,
        sum_by_document as sum_by_document, tokens_within as tokens_within, touches as touches,
        cut_patterns as cut_patterns,
    )
    from tokbench.measuring.word_units import (
        NOT_ALIGNED as NOT_ALIGNED, NO_GOLD as NO_GOLD, AlignedWords as AlignedWords, LaidWords as LaidWords,
        UnitSums as UnitSums, WordOptions as WordOptions, token_ends as token_ends, unknown_tokens as unknown_tokens,
        words_of as words_of, count_by_document as count_by_document,
    )
    from tokbench.measuring.token_counts import (
        AnyCountTable as AnyCountTable, CountTable as CountTable,
        TokenCounts as TokenCounts, add_counts as add_counts, add_tables as add_tables, join_tables as join_tables,
        renyi_entropy as renyi_entropy, DEPENDS_ON_AMOUNT as DEPENDS_ON_AMOUNT,
    )
    from tokbench.corpus.shards import BUCKETS as BUCKETS, Shard as Shard
    from tokbench.corpus.words.find import Spans as Spans
    from tokbench.corpus.words.gold import GoldWords as GoldWords
    from tokbench.corpus.words.unicode_tables import GRAPHEME_RULES as GRAPHEME_RULES
    from tokbench.corpus.words.units import UNIT_NAMES as UNIT_NAMES
    from tokbench.corpus.languages import slices as slices
    from tokbench.corpus.programs import programming_language as programming_language
    from tokbench.tokenizers.curve import Curve as Curve, CutIds as CutIds, tokens_of_each as tokens_of_each
    from tokbench.tokenizers.merges import (
        MergeOrder as MergeOrder, merge_order as merge_order, ordinary_tokens as ordinary_tokens,
    )
    from tokbench.tokenizers.inspect.tokens import (
        TokenKind as TokenKind, list_tokens as list_tokens, script_of as script_of,
    )
    from tokbench.tokenizers.inspect.usage import Usage as Usage, usage_classes as usage_classes
    from tokbench.results.reporter import ReporterSpec as ReporterSpec
    from tokbench.results.cells import (
        COLUMNS as COLUMNS, OWN_TEXTS as OWN_TEXTS, WHOLE as WHOLE, Cell as Cell, Status as Status,
        group_name as group_name, place_name as place_name,
        trained_on as trained_on,
    )
    from tokbench.results.model import Results as Results, NamedRun as NamedRun
    from tokbench.report.report import Report as Report
    from tokbench.report.html_nodes import HtmlNodes as HtmlNodes
    from tokbench.report.markdown_nodes import section_markdown as section_markdown, nodes_markdown as nodes_markdown
    from tokbench.report.cells import (
        DisplayCell as DisplayCell, legends as legends, IN_SAMPLE as IN_SAMPLE, LEGENDS as LEGENDS, LOSSY as LOSSY,
        MARKS as MARKS, MUCH_LOST as MUCH_LOST, Series as Series, in_sample_legend as in_sample_legend,
        percent as percent,
    )
    from tokbench.report.escaping import (
        latex_text as latex_text, markdown_text as markdown_text, plain as plain,
        cut as cut,
    )
    from tokbench.foundation.visible_text import visible as visible
    from tokbench.report.number_format import byte_size as byte_size
    from tokbench.report.pages import html_environment as html_environment
    from tokbench.foundation.jit import compiled as compiled, has_numba as has_numba, inlined as inlined
    from tokbench.foundation.jit import worth_compiling as worth_compiling
    from tokbench.tokenizers.batch import (
        check_encoded as check_encoded, check_id as check_id, check_ids as check_ids, check_span as check_span,
        count_batch as count_batch, decode_batch as decode_batch, encode_batch as encode_batch,
        from_buffers as from_buffers, from_lists as from_lists, offsets_of as offsets_of, fresh_copies as fresh_copies,
        valid_unicode as valid_unicode, vocab_size_of as vocab_size_of,
    )
    from tokbench.foundation.memory import (
        begin_memory_peak as begin_memory_peak, resident_memory as resident_memory,
    )
    from tokbench.foundation.files import (
        is_utf8 as is_utf8, not_text as not_text, read_file as read_file, read_regular as read_regular,
        write_atomically as write_atomically,
    )
    from tokbench.foundation.parsing import (
        TextError as TextError, decode_utf8 as decode_utf8, parse_json as parse_json,
    )
    from tokbench.foundation.store import (
        open_store_if_usable as open_store_if_usable, Key as Key, Store as Store,
        digest_of as digest_of,
    )
    from tokbench.foundation.errors import (
        BackendError as BackendError, BackendUnavailable as BackendUnavailable, ContractError as ContractError,
        InputError as InputError, Problem as Problem, TokbenchError as TokbenchError, did_you_mean as did_you_mean,
        one_line as one_line, ResultsError as ResultsError, WorkersLost as WorkersLost,
    )
    from tokbench.foundation.failures import (
        Failure as Failure, attempt as attempt, doing as doing, tracebacks as tracebacks, Heartbeat as Heartbeat,
    )
    from tokbench.foundation.progress import Progress as Progress, silent as silent, RunProgress as RunProgress
    from tokbench.config.model import Config as Config, Limits as Limits
    from tokbench.corpus.corpus import Corpus as Corpus, fingerprint as fingerprint
    from tokbench.engine.segment import SegmentTexts as SegmentTexts, without_tokens as without_tokens
    from tokbench.measuring.job import (
        Job as Job, JobContext as JobContext, TokenizerJob as TokenizerJob, Unread as Unread,
    )
    from tokbench.measuring.cell import Values as Values, make_cell as make_cell
    from tokbench.measuring.plan import DESIGNED as DESIGNED, Plan as Plan, PlannedTokenizer as PlannedTokenizer
    from tokbench.measuring.prepared import PreparedTokenizer as PreparedTokenizer
    from tokbench.measuring.study import (
        AskedJobs as AskedJobs, Kept as Kept, Outcome as Outcome,
        StudyContext as StudyContext, StudyProblem as StudyProblem, StudySpec as StudySpec,
    )
    from tokbench.results.segmentation import (
        SHOWN_TEXTS as SHOWN_TEXTS, Segmentation as Segmentation, SegmentedText as SegmentedText,
        ShownTexts as ShownTexts, WorstDocument as WorstDocument, shown_texts as shown_texts,
    )
    from tokbench.results.study_blocks import BlockType as BlockType
    from tokbench.statistics.front import pareto_front as pareto_front
    from tokbench.tokenizers.members import missing_members as missing_members
    from tokbench.engine.reports import report_of as report_of
    from tokbench.report.section import Chart as Chart, SectionNotes as SectionNotes, SectionSpec as SectionSpec
    from tokbench.report.tables import (
        CellTables as CellTables, level_with as level_with,
    )
    from tokbench.report.charts.heat import heat_map as heat_map, LEVELS as LEVELS
    from tokbench.report.sections.overview import main_columns as main_columns
    from tokbench.report.charts.labels import Box as Box, Label as Label, place as place
    from tokbench.report.charts.line_profile import (
        ProfileLine as ProfileLine, WIDE as WIDE,
        line_profile as line_profile, line_css as line_css, line_key as line_key,
    )
    from tokbench.report.charts.scatter import (
        Scatter as Scatter, parity_chart as parity_chart, scatter as scatter, scatter_nodes as scatter_nodes,
    )
    from tokbench.report.charts.svg import Axis as Axis, COLOURS as COLOURS, Drawing as Drawing, Tick as Tick
    from tokbench.report.document import (
        Bullets as Bullets, Cards as Cards, Chooser as Chooser, Column as Column, Details as Details,
        Figure as Figure, Heading as Heading, Inline as Inline, ChartKey as ChartKey, Line as Line, Link as Link,
        Listing as Listing, MeasuredCell as MeasuredCell, Multiples as Multiples, Name as Name, Node as Node,
        Pane as Pane, Paragraph as Paragraph, Raised as Raised, Rich as Rich, Row as Row, Section as Section,
        Strong as Strong, Table as Table, TableCell as TableCell, Term as Term, TextCell as TextCell, Token as Token,
        TokenChooser as TokenChooser, Tokens as Tokens, captioned as captioned, legend_lines as legend_lines,
        measured_column as measured_column, names_line as names_line, sentence_paragraphs as sentence_paragraphs,
    )
    from tokbench.report.sections.answer_subject import names as names
    from tokbench.report.segmentation import SegmentationView as SegmentationView
    from tokbench.report.csv_text import csv_text as csv_text
    from tokbench.registry.parts import BrokenPart as BrokenPart, parts_of as parts_of
    from tokbench.config.validate import Part as Part, Place as Place, validate as validate
    from tokbench.measuring.executor import ExecutorSpec as ExecutorSpec
    from tokbench.engine.workers.one_thread import ONE_THREAD as ONE_THREAD
    from tokbench.engine.workers.pool import (
        Feeds as Feeds, WorkerDied as WorkerDied, WorkerPool as WorkerPool, text_batches as text_batches,
    )
    from tokbench.engine.workers.processes import ProcessPool as ProcessPool
    from tokbench.engine.workers.worker import (
        Recipe as Recipe, WorkerContext as WorkerContext, end_with_parent as end_with_parent,
    )
    from tokbench.engine.identity import (
        file_digest as file_digest, files_in as files_in, installed_versions as installed_versions,
        plain_name as plain_name, required_by as required_by, source_of as source_of,
    )
    # fmt: on

_NAMES: Final = {
    # register things
    "registry.hookspecs": "hookimpl",
    # tokenizers: the contract and its capabilities
    "tokenizers.contract": (
        "Tokenizer Encoded Offsets EncodesBatch DecodesBatch HasTokenBytes HasDummyPrefix EncodesWithOffsets "
        "EncodesWithSpecial HasIdentity HasUnknown HasSpecialTokens HasMerges ClaimsLossless ThreadSafe "
        "DescribesStages HasNotes ComparesFile NamesEngine Saves Exports CountsDetours WarmsUp Adaptation Adapts"
    ),
    "tokenizers.engine_contract": (
        "CountsAlone CountsTokens DecodesStream EncodesChat NamesOutput ReportsSpans TokenSpans output_of"
    ),
    # backends
    "tokenizers.backend": "BackendSpec FileKind GroupedText TrainProgress",
    # options
    "tokenizers.options": "Options LocalPath FilesPath TokenizerName CorpusName GroupName",
    # corpora
    "corpus.contract": "CorpusSpec Document Gold",
    "corpus.document_limit": "DOCUMENT_LIMIT too_long",
    # metrics
    "measuring.family": "MetricFamily",
    "measuring.counted": "Basis Counts TOKEN_PLACES counted declared",
    "measuring.metric": (
        "Metric Measured NotApplicable CorpusOutcome CorpusStates "
        "LossSummary Role Probe Answer Segmented TimedOutcome TimedText"
    ),
    "measuring.isolated_metric": "StepAnswers TrainedIn",
    "measuring.examples": "DocumentExample",
    "corpus.excerpts": "cut_excerpt MOST_EXCERPTS",
    "results.blocks": "LossCause LossExample PairComparison PairMatrix OwnTexts",
    "results.metric_curves": "CurvePoint",
    # building blocks of metrics
    "measuring.chat_templates": "CHAT_TEMPLATES ChatTemplate Message prompt_ids",
    "measuring.document_sample": "document_hashes first_by_hash hashes_of",
    "measuring.encoded_shard": "EncodedShard LoadedTokenizer DECODING ENCODING",
    "measuring.sums": "Sums SummedMetric PairedSums compared_sums merged",
    "measuring.align": "Hunk edits first_difference hunks",
    "measuring.round_trip": "MOST_ERRORS RoundTrip",
    "statistics.sample_units": "SampleUnits",
    "statistics.inequality": "gini_coefficient lorenz",
    "statistics.jackknife": (
        "Interval LEAST_UNITS holm interval jackknife leave_out spread student_t Spread too_few median_interval"
    ),
    "measuring.spans": "cuts find_spans shard_bytes sum_by_document tokens_within touches cut_patterns",
    "measuring.word_units": (
        "NOT_ALIGNED NO_GOLD AlignedWords LaidWords UnitSums WordOptions token_ends unknown_tokens words_of "
        "count_by_document"
    ),
    "measuring.token_counts": (
        "AnyCountTable CountTable TokenCounts add_counts add_tables join_tables renyi_entropy DEPENDS_ON_AMOUNT"
    ),
    "corpus.shards": "BUCKETS Shard",
    "corpus.words.find": "Spans",
    "corpus.words.gold": "GoldWords",
    "corpus.words.unicode_tables": "GRAPHEME_RULES",
    "corpus.words.units": "UNIT_NAMES",
    "corpus.languages": "slices",
    "corpus.programs": "programming_language",
    "tokenizers.curve": "Curve CutIds tokens_of_each",
    "tokenizers.merges": "MergeOrder merge_order ordinary_tokens",
    "tokenizers.inspect.tokens": "TokenKind list_tokens script_of",
    "tokenizers.inspect.usage": "Usage usage_classes",
    # reports
    "results.reporter": "ReporterSpec",
    "results.cells": "COLUMNS OWN_TEXTS WHOLE Cell Status group_name place_name trained_on",
    "results.model": "Results NamedRun",
    "report.report": "Report",
    "report.html_nodes": "HtmlNodes",
    "report.markdown_nodes": "section_markdown nodes_markdown",
    "report.cells": "DisplayCell legends IN_SAMPLE LEGENDS LOSSY MARKS MUCH_LOST Series in_sample_legend percent",
    "report.escaping": "latex_text markdown_text plain cut",
    "foundation.visible_text": "visible",
    "report.number_format": "byte_size",
    "report.pages": "html_environment",
    # functions compiled with numba where it is installed
    "foundation.jit": "compiled has_numba inlined worth_compiling",
    # many documents at a time
    "tokenizers.batch": (
        "check_encoded check_id check_ids check_span count_batch decode_batch encode_batch from_buffers from_lists "
        "offsets_of fresh_copies valid_unicode vocab_size_of"
    ),
    # files
    "foundation.files": "is_utf8 not_text read_file read_regular write_atomically",
    "foundation.parsing": "TextError decode_utf8 parse_json",
    # finished work that is kept for later runs
    "foundation.store": "open_store_if_usable Key Store digest_of",
    # errors and failures
    "foundation.errors": (
        "BackendError BackendUnavailable ContractError InputError Problem TokbenchError did_you_mean one_line "
        "ResultsError WorkersLost"
    ),
    "foundation.memory": "begin_memory_peak resident_memory",
    "foundation.failures": "Failure attempt doing tracebacks Heartbeat",
    "foundation.progress": "Progress silent RunProgress",
    "config.model": "Config Limits",
    "corpus.corpus": "Corpus fingerprint",
    "engine.segment": "SegmentTexts without_tokens",
    "measuring.job": "Job JobContext TokenizerJob Unread",
    "measuring.cell": "Values make_cell",
    "measuring.plan": "DESIGNED Plan PlannedTokenizer",
    "measuring.prepared": "PreparedTokenizer",
    "measuring.study": "AskedJobs Kept Outcome StudyContext StudyProblem StudySpec",
    "results.segmentation": "SHOWN_TEXTS Segmentation SegmentedText ShownTexts WorstDocument shown_texts",
    "results.study_blocks": "BlockType",
    "statistics.front": "pareto_front",
    "tokenizers.members": "missing_members",
    "engine.reports": "report_of",
    "report.section": "Chart SectionNotes SectionSpec",
    "report.tables": "CellTables level_with",
    "report.charts.heat": "heat_map LEVELS",
    "report.sections.overview": "main_columns",
    "report.charts.labels": "Box Label place",
    "report.charts.line_profile": "ProfileLine WIDE line_profile line_css line_key",
    "report.charts.scatter": "Scatter parity_chart scatter scatter_nodes",
    "report.charts.svg": "Axis COLOURS Drawing Tick",
    "report.document": (
        "Bullets Cards Chooser Column Details Figure Heading Inline ChartKey Line Link Listing MeasuredCell "
        "Multiples Name Node Pane Paragraph Raised Rich Row Section Strong Table TableCell Term TextCell "
        "Token TokenChooser Tokens captioned legend_lines measured_column names_line sentence_paragraphs"
    ),
    "report.sections.answer_subject": "names",
    "report.segmentation": "SegmentationView",
    "report.csv_text": "csv_text",
    "registry.parts": "BrokenPart parts_of",
    "config.validate": "Part Place validate",
    # executors: pools that do the jobs of a run elsewhere
    "measuring.executor": "ExecutorSpec",
    "engine.workers.one_thread": "ONE_THREAD",
    "engine.workers.pool": "Feeds WorkerDied WorkerPool text_batches",
    "engine.workers.processes": "ProcessPool",
    "engine.workers.worker": "Recipe WorkerContext end_with_parent",
    "engine.identity": "file_digest files_in installed_versions plain_name required_by source_of",
}
"""The public names by module."""

_HOMES: Final = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 - the names of _HOMES are strings


if not TYPE_CHECKING:  # so that type checkers find missing names

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
