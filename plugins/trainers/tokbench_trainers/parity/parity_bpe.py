"""The backend ``parity_bpe``: the language that needs the most tokens chooses each merge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from pydantic import Field

from tokbench import plugin
from tokbench.text.cuts import reading
from tokbench.text.find import file_names, find_files
from tokbench_plugins.bpe import (
    FIRST_MERGE,
    BPELoadOptions,
    BPETokenizer,
    CorpusDigest,
    Pair,
    TrainingRecord,
    load_saved,
    saved_files,
)
from tokbench_plugins.bpe.backend import check_split
from tokbench_plugins.bpe.engines import check_engine
from tokbench_plugins.regex_bpe import RegexBPETrainOptions
from tokbench_trainers.parity.rule import ParityRule
from tokbench_trainers.parity.train_parity import train_parity
from tokbench_trainers.parity.training import ParityTraining, Unit, train_with_parity, with_languages, with_units
from tokbench_trainers.ruled import special_behind

_ENDING: Final = "txt"


class ParityTrainOptions(RegexBPETrainOptions):
    """Options of training; a language is a group of the training text.

    >>> ParityTrainOptions(unit="bytes", window=100).parity
    ParityTraining(unit='bytes', rule=ParityRule(global_merges=0, window=100, alpha=2.0), dev=None)
    """

    unit: Unit = Field(
        description="the language with the most tokens for its bytes, or for its documents if these are translations, "
        "chooses each merge"
    )
    global_merges: int = Field(
        default=0, ge=0, description="number of first merges made by plain BPE (hybrid parity-aware BPE)"
    )
    window: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        description="number of last choices in which no language may choose too often; 0: no limit (the paper has 100)",
    )
    alpha: float = Field(
        default=2.0,
        ge=1.0,
        description=(
            "maximum choices of a language in the window, as a multiple of its equal share; with global merges, the "
            "paper's program counts one language more"
        ),
    )
    dev: plugin.LocalPath | None = Field(
        default=None,
        description="a folder with a text in each language, such as en.txt, packed or not, a document a line, on which "
        "parity is measured; the training text by default",
    )

    @property
    def parity(self) -> ParityTraining:
        rule = ParityRule(self.global_merges, self.window, self.alpha)
        return ParityTraining(self.unit, rule, None if self.dev is None else _read_texts(self.dev))


def _read_texts(folder: Path) -> dict[str, list[str]]:
    paths = find_files(folder / "*") if folder.is_dir() and any(folder.iterdir()) else []
    texts: dict[str, list[str]] = {}
    for path in paths:
        names = file_names(path)
        if names["suffix"] == _ENDING:
            with reading(path, "text") as reader:
                documents = texts.setdefault(str(names["stem"]), [])
                documents += [line.text for line in reader.documents("line") if line.text.strip()]
    if not texts:
        raise plugin.BackendError(
            f"{folder}: no folder with files such as en.{_ENDING}; give one with a text in each language"
        )
    return texts


def _train(
    documents: Iterable[str], vocab_size: int, options: ParityTrainOptions, progress: plugin.TrainProgress
) -> BPETokenizer:
    parity, digest = options.parity, CorpusDigest()
    text = list(with_languages(documents, digest))
    merges = train_with_parity(text, vocab_size, options.pattern, parity, progress, **options.settings)
    return _made(merges, options, TrainingRecord(vocab_size, options.tie, digest.corpus, "parity_bpe", parity.record))


def _train_counts(
    tables: Mapping[str, plugin.CountsFile],
    vocab_size: int,
    options: ParityTrainOptions,
    progress: plugin.TrainProgress,
) -> BPETokenizer:
    check_engine("numba")
    from tokbench_plugins.bpe.compiled.train import train_counts
    from tokbench_plugins.counts.read import counts_of_groups, counts_of_tables, text_of_tables

    parity, tie = options.parity, options.tie
    training = {language: list(counts.chunks()) for language, counts in counts_of_groups(tables, tie).items()}
    languages = with_units(training, options.pattern, parity)
    plain = min(FIRST_MERGE + parity.rule.global_merges, vocab_size)
    given = train_counts(counts_of_tables(tables, tie), plain, tie) if plain > FIRST_MERGE else ()
    merges = train_parity(languages, vocab_size, parity.rule, given, tie, progress)
    return _made(merges, options, TrainingRecord(vocab_size, tie, text_of_tables(tables), "parity_bpe", parity.record))


def _made(merges: Sequence[Pair], options: ParityTrainOptions, record: TrainingRecord) -> BPETokenizer:
    special = special_behind(FIRST_MERGE + len(merges), options.special_tokens)
    return BPETokenizer(merges, options.pattern, special, engine=options.engine, training=record)


def _check_counts(options: ParityTrainOptions, tables: Mapping[str, plugin.CountsFile]) -> str:
    if problem := check_split(options, tables):
        return problem
    from tokbench_plugins.counts.facts import read_facts

    groups = [set(read_facts(table.path).groups) - {""} for table in tables.values()]
    if any(groups) and not all(groups):
        return "some of these tables have groups and some have none: count all with --group"
    if len(set[str]().union(*groups) or tables) < 2:  # noqa: PLR2004 - parity is between two
        return "parity is between languages: give a table of each, or count with --group"
    translated = len({table.documents for table in tables.values()}) == 1
    if options.unit == "documents" and options.dev is None and not any(groups) and not translated:
        return "unit: documents needs translations, but the tables have unequal numbers of documents; write unit: bytes"
    return ""


SPEC = plugin.BackendSpec(
    name="parity_bpe",
    summary="parity-aware BPE: languages need equally many tokens for the same text, trained here",
    load=partial(load_saved, kind="parity_bpe"),
    load_options=BPELoadOptions,
    train=_train,
    train_counts=_train_counts,
    check_counts=_check_counts,
    train_options=ParityTrainOptions,
    min_vocab_size=FIRST_MERGE,
    nested=True,
    main="path",
    train_main="pattern",
    files=saved_files("parity_bpe"),
)
