"""The backend ``adapted_bpe``: a published byte-level BPE, adapted to the training text. Its tokens keep their ids."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from tokbench import plugin
from tokbench_plugins.bpe import (
    BULK_ENGINE,
    SPECIAL_OPTION,
    BPETokenizer,
    BulkEngine,
    CorpusDigest,
    Tie,
    TrainingRecord,
)
from tokbench_plugins.tokbench_bpe.vocabulary import FileOptions, load_vocabulary
from tokbench_trainers.adaptation.adapt import AdaptationPlan, adapt

_FORMAT: Final = "huggingface"


class AdaptedBPELoadOptions(plugin.Options):
    """Options of a saved adapted vocabulary."""

    path: plugin.LocalPath = Field(description="a tokenizer.json with byte-level BPE, as this backend saves it")
    special_tokens: tuple[str, ...] = SPECIAL_OPTION
    engine: BulkEngine = BULK_ENGINE


class AdaptedBPETrainOptions(FileOptions):
    """Options of adapting; ``vocab_size`` counts all ids, special tokens and new ones included."""

    remove: Annotated[int, Field(ge=0)] | Literal["unused"] = Field(
        default=0,
        description=(
            "tokens to remove before any is added, least used first: a number, or unused for all that the text does "
            "not need; their ids stay free"
        ),
    )
    tie: Tie = Field(
        default="first",
        description="tie-breaking of equally frequent pairs: the first in the text, or the smallest ids",
    )
    processes: int = Field(
        default=1, ge=1, le=64, description="processes that split and count; the merges are the same"
    )
    engine: BulkEngine = BULK_ENGINE


class AdaptedBPE(BPETokenizer):
    """An adapted published vocabulary, saved as ``tokenizer.json``, which keeps all ids."""

    file_suffix = ".tokenizer.json"

    @property
    def notes(self) -> tuple[str, ...]:
        tokens, special = self.vocabulary.tokens, self.special_tokens.names
        free = sum(not token for token_id, token in enumerate(tokens) if token_id not in special)
        return (*super().notes, *([f"{free:,} of its ids are free: their tokens were removed"] if free else []))

    def save(self, path: Path, /) -> None:
        self.export(_FORMAT, path)


def _train(
    documents: Iterable[str], vocab_size: int, options: AdaptedBPETrainOptions, progress: plugin.TrainProgress
) -> AdaptedBPE:
    given = load_vocabulary(options)
    first = len(given.tokens)
    if vocab_size < first:
        raise plugin.BackendError(
            f"vocab_size is {vocab_size}, but the vocabulary has {first:,} tokens; give {first} or more"
        )
    digest = CorpusDigest(documents)
    remove = None if options.remove == "unused" else options.remove
    plan = AdaptationPlan(first, vocab_size - first, remove, options.tie)
    adapted = adapt(given.vocabulary, given.pattern, digest, plan, progress, options.processes)
    record = TrainingRecord(vocab_size, options.tie, digest.corpus)
    tokenizer = AdaptedBPE(adapted.vocabulary, given.pattern, given.special, engine=options.engine, training=record)
    tokenizer.file_notes = given.notes
    return tokenizer


def _load(options: Any) -> AdaptedBPE:
    given = load_vocabulary(FileOptions(path=options.path, special_tokens=options.special_tokens))
    return AdaptedBPE(given.vocabulary, given.pattern, given.special, engine=options.engine)


SPEC = plugin.BackendSpec(
    name="adapted_bpe",
    summary="a published byte-level BPE, extended by merges learned here, ids kept",
    load=_load,
    load_options=AdaptedBPELoadOptions,
    train=_train,
    train_options=AdaptedBPETrainOptions,
    min_vocab_size=257,
    nested=True,
    main="path",
    train_main="encoding",
)
