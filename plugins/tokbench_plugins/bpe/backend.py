"""The options, training and loading that ``naive_bpe`` and ``regex_bpe`` share."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from tokbench import plugin
from tokbench_plugins.bpe.artefact import CorpusDigest, TrainingRecord, read_artefact
from tokbench_plugins.bpe.engines import BULK_ENGINE, BulkEngine, TrainSettings, check_engine, train
from tokbench_plugins.bpe.literal import Tie
from tokbench_plugins.bpe.patterns import pattern_name, resolve_pattern
from tokbench_plugins.bpe.special import SPECIAL_OPTION, SpecialTokens
from tokbench_plugins.bpe.tokenizer import BPETokenizer


def _can_split(pattern: str) -> str:
    resolve_pattern(pattern)
    return pattern


SplitPattern = Annotated[str, AfterValidator(_can_split)]
"""A named split, or a regular expression that can split."""


class BPELoadOptions(plugin.Options):
    """Options of a saved byte-level BPE; its pattern is in the file."""

    path: plugin.LocalPath = Field(description="a file saved by this backend (.bpe.json)")
    engine: BulkEngine = BULK_ENGINE
    special_tokens: tuple[str, ...] = SPECIAL_OPTION


class BPETrainOptions(plugin.Options):
    """Options of training byte-level BPE."""

    tie: Tie = Field(
        default="first",
        description="tie-breaking of equally frequent pairs: the first in the text, or the smallest ids",
    )
    processes: int = Field(
        default=1, ge=1, le=64, description="processes that split and count; the merges are the same"
    )
    engine: BulkEngine = BULK_ENGINE
    special_tokens: tuple[str, ...] = SPECIAL_OPTION

    @property
    def settings(self) -> TrainSettings:
        return TrainSettings(tie=self.tie, engine=self.engine, processes=self.processes)


def saved_files(kind: str) -> tuple[plugin.FileKind, ...]:
    """Return the files that a backend of this kind of artefact reads."""
    return (plugin.FileKind(".json", marks=rf'(?=.*"tokbench-).*"kind"\s*:\s*"{kind}"'),)


def load_saved(options: BPELoadOptions, kind: str) -> BPETokenizer:
    """Return the tokenizer of a file, with the requested special tokens added."""
    artefact = read_artefact(options.path, kind)
    special = artefact.special.with_more(options.special_tokens, 256 + len(artefact.merges))
    merges, pattern = artefact.merges, artefact.pattern
    loaded = BPETokenizer(merges, pattern, special, engine=options.engine, training=artefact.training)
    loaded.file_notes = artefact.notes
    return loaded


def check_split(options: Any, tables: Mapping[str, plugin.CountsFile]) -> str:
    """Return why tables cannot be trained on with these options: they were counted with another split."""
    return split_problem(resolve_pattern(options.pattern), tables)


def split_problem(pattern: str, tables: Mapping[str, plugin.CountsFile]) -> str:
    """Name the first table that was counted with another split."""
    for table in tables.values():
        if table.pattern != pattern:
            counted, wanted = pattern_name(table.pattern), pattern_name(pattern)
            remedy = f"count again: tokbench count --pattern {shlex.quote(wanted)}"
            return f"{table.path.name} was counted with the split {counted}, and not {wanted}; {remedy}"
    return ""


def train_from_counts(
    tables: Mapping[str, plugin.CountsFile], vocab_size: int, options: Any, progress: plugin.TrainProgress
) -> BPETokenizer:
    """Train on tables of counts, which give the merges of the text."""
    from tokbench_plugins.counts.read import counts_of_tables, text_of_tables

    check_engine("numba")
    from tokbench_plugins.bpe.compiled.train import train_counts

    merges = train_counts(counts_of_tables(tables, options.tie), vocab_size, options.tie, progress)
    special = SpecialTokens({}).with_more(options.special_tokens, 256 + len(merges))
    training = TrainingRecord(vocab_size, options.tie, text_of_tables(tables))
    pattern = resolve_pattern(options.pattern)
    return BPETokenizer(merges, pattern, special, engine=options.engine, training=training)


def train_tokenizer(
    documents: Iterable[str],
    vocab_size: int,
    options: BPETrainOptions,
    progress: plugin.TrainProgress,
    pattern: str | None = None,
) -> BPETokenizer:
    """Train, and record what the artefact needs; special tokens come on top of ``vocab_size``."""
    digest = CorpusDigest(documents)
    merges = train(digest, vocab_size, pattern, progress, **options.settings)
    special = SpecialTokens({}).with_more(options.special_tokens, 256 + len(merges))
    training = TrainingRecord(vocab_size, options.tie, digest.corpus)
    return BPETokenizer(merges, pattern, special, engine=options.engine, training=training)
