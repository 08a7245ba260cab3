"""The backend ``superbpe``: ordinary BPE up to some number of ids, and then without a split at spaces.

The result is a list of merges and the second split, so any engine for byte-level BPE encodes with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Unpack

from pydantic import Field

from tokbench import plugin
from tokbench_plugins.bpe import (
    FIRST_MERGE,
    BPELoadOptions,
    BPETokenizer,
    CorpusDigest,
    Pair,
    TrainingRecord,
    Vocabulary,
    count_in_processes,
    load_saved,
    resolve_pattern,
    saved_files,
    train,
)
from tokbench_plugins.bpe.engines import TrainSettings, check_engine
from tokbench_plugins.bpe.patterns import STAGE_TWO
from tokbench_plugins.regex_bpe import RegexBPETrainOptions
from tokbench_trainers.extend import MergeRule, extend
from tokbench_trainers.ruled import special_behind
from tokbench_trainers.superwords.rules import MOST_WORDS, may_cross
from tokbench_trainers.superwords.wanted import SuperwordTraining, check_table

if TYPE_CHECKING:
    from tokbench_plugins.bpe.artefact import TrainingText


class SuperBPETrainOptions(RegexBPETrainOptions):
    """Options of training; ``pattern`` is the split of stage one."""

    stage_one: Annotated[float, Field(gt=0, lt=1)] | Annotated[int, Field(ge=FIRST_MERGE)] = Field(
        default=0.8, description="where stage two begins, as a share of vocab_size or as a number of tokens"
    )
    most_words: int = Field(default=MOST_WORDS, ge=1, description="words in a token of stage two")

    def rule(self, vocab_size: int) -> SuperBPERule:
        """Return the two stages."""
        return SuperBPERule(self.pattern, size_of_stage_one(self.stage_one, vocab_size), self.most_words)


def size_of_stage_one(stage_one: float, vocab_size: int) -> int:
    """Return where stage one ends; ``stage_one`` is a number of ids or, below 1, a share.

    >>> size_of_stage_one(0.8, 10_000), size_of_stage_one(9000, 10_000), size_of_stage_one(0.1, 300)
    (8000, 9000, 256)
    """
    ids = round(stage_one * vocab_size) if stage_one < 1 else int(stage_one)
    return min(max(ids, FIRST_MERGE), vocab_size)


class SuperBPERule(NamedTuple):
    """The two stages of training."""

    pattern: str | None
    """The split of stage one, a name or a regular expression."""

    stage_one: int
    """The number of ids with which stage one ends."""

    most_words: int = MOST_WORDS
    """Words per token of stage two."""

    @property
    def record(self) -> dict[str, Any]:
        pattern = None if self.pattern is None else resolve_pattern(self.pattern)
        return {**self._asdict(), "pattern": pattern}


def train_superbpe(
    documents: Iterable[str],
    vocab_size: int,
    rule: SuperBPERule,
    progress: plugin.TrainProgress = plugin.silent,
    **settings: Unpack[TrainSettings],
) -> list[Pair]:
    """Train both stages; fewer merges if no pair is left.

    >>> merges = train_superbpe(["in the end, in the end"], 261, SuperBPERule("gpt4", 260))
    >>> Vocabulary.trained(merges).tokens[256:]
    (b'in', b' t', b' th', b' the', b'in the')
    """
    texts = list(documents)
    tie, may_make = settings.get("tie", "first"), partial(may_cross, most_words=rule.most_words)
    total = vocab_size - FIRST_MERGE

    def of_stage_one(done: int, _: int) -> None:
        progress(done, total)

    merges = train(texts, rule.stage_one, rule.pattern, of_stage_one, **settings)
    chunks = count_in_processes(texts, STAGE_TWO, settings.get("processes", 1))
    more = vocab_size - FIRST_MERGE - len(merges)

    def of_stage_two(done: int, _: int) -> None:
        progress(len(merges) + done, total)

    base = Vocabulary.trained(merges)
    extended = extend(base, chunks, more, FIRST_MERGE + len(merges), MergeRule(tie, may_make), of_stage_two)
    return [(left, right) for left, right, _ in extended.vocabulary.merges]


def _train(
    documents: Iterable[str], vocab_size: int, options: SuperBPETrainOptions, progress: plugin.TrainProgress
) -> BPETokenizer:
    digest = CorpusDigest(documents)
    merges = train_superbpe(digest, vocab_size, options.rule(vocab_size), progress, **options.settings)
    return _made(merges, vocab_size, options, digest.corpus)


def _train_counts(
    tables: Mapping[str, plugin.CountsFile],
    vocab_size: int,
    options: SuperBPETrainOptions,
    progress: plugin.TrainProgress,
) -> BPETokenizer:
    check_engine("numba")
    from tokbench_plugins.counts.read import rows_of_tables, text_of_tables
    from tokbench_trainers.superwords.tables import superbpe_of_table

    rows, facts = rows_of_tables(tables, options.tie)
    merges = superbpe_of_table(rows, facts, training_of(options, vocab_size), progress)
    return _made(merges, vocab_size, options, text_of_tables(tables))


def _made(merges: Sequence[Pair], vocab_size: int, options: SuperBPETrainOptions, text: TrainingText) -> BPETokenizer:
    special = special_behind(FIRST_MERGE + len(merges), options.special_tokens)
    record = TrainingRecord(vocab_size, options.tie, text, "superbpe", options.rule(vocab_size).record)
    return BPETokenizer(merges, STAGE_TWO, special, engine=options.engine, training=record)


def training_of(options: SuperBPETrainOptions, vocab_size: int) -> SuperwordTraining:
    """Return what a table of counts is for."""
    rule = options.rule(vocab_size)
    return SuperwordTraining("superbpe", resolve_pattern(options.pattern), vocab_size, options.tie, *rule[1:])


def _check_counts(options: SuperBPETrainOptions, tables: Mapping[str, plugin.CountsFile]) -> str:
    return check_table(training_of(options, FIRST_MERGE), tables)


SPEC = plugin.BackendSpec(
    name="superbpe",
    summary="SuperBPE: byte-level BPE whose last merges cross spaces, trained here",
    load=partial(load_saved, kind="superbpe"),
    load_options=BPELoadOptions,
    train=_train,
    train_counts=_train_counts,
    check_counts=_check_counts,
    train_options=SuperBPETrainOptions,
    min_vocab_size=FIRST_MERGE,
    nested=lambda options: options.stage_one >= 1,
    main="path",
    train_main="pattern",
    files=saved_files("superbpe"),
)
