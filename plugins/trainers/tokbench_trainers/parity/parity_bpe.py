"""The backend ``parity_bpe``: the language that needs the most tokens chooses each merge."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Final

from pydantic import Field

from tokbench import plugin
from tokbench_plugins.bpe import FIRST_MERGE, BPETokenizer
from tokbench_plugins.bpe.artefact import CorpusDigest, TrainingRecord
from tokbench_plugins.bpe.backend import BPELoadOptions, load_saved, saved_files
from tokbench_plugins.regex_bpe import RegexBPETrainOptions
from tokbench_trainers.parity.rule import ParityRule
from tokbench_trainers.parity.training import ParityTraining, Unit, train_with_parity, with_languages
from tokbench_trainers.ruled import special_behind

_ENDING: Final = ".txt"


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
        description="a folder with a text in each language, such as en.txt, a document a line, on which parity is "
        "measured; the training text by default",
    )

    @property
    def parity(self) -> ParityTraining:
        rule = ParityRule(self.global_merges, self.window, self.alpha)
        return ParityTraining(self.unit, rule, None if self.dev is None else _read_texts(self.dev))


def _read_texts(folder: Path) -> dict[str, list[str]]:
    paths = sorted(folder.glob(f"*{_ENDING}")) if folder.is_dir() else []
    if not paths:
        raise plugin.BackendError(
            f"{folder}: no folder with files such as en{_ENDING}; give one with a text in each language"
        )
    lines = {path.stem: plugin.read_file(path, text=True).decode().splitlines() for path in paths}
    return {language: [line for line in documents if line.strip()] for language, documents in lines.items()}


def _train(
    documents: Iterable[str], vocab_size: int, options: ParityTrainOptions, progress: plugin.TrainProgress
) -> BPETokenizer:
    parity, digest = options.parity, CorpusDigest()
    text = list(with_languages(documents, digest))
    merges = train_with_parity(text, vocab_size, options.pattern, parity, progress, **options.settings)
    special = special_behind(FIRST_MERGE + len(merges), options.special_tokens)
    record = TrainingRecord(vocab_size, options.tie, digest.corpus, "parity_bpe", parity.record)
    return BPETokenizer(merges, options.pattern, special, engine=options.engine, training=record)


SPEC = plugin.BackendSpec(
    name="parity_bpe",
    summary="parity-aware BPE: languages need equally many tokens for the same text, trained here",
    load=partial(load_saved, kind="parity_bpe"),
    load_options=BPELoadOptions,
    train=_train,
    train_options=ParityTrainOptions,
    min_vocab_size=FIRST_MERGE,
    nested=True,
    main="path",
    train_main="pattern",
    files=saved_files("parity_bpe"),
)
