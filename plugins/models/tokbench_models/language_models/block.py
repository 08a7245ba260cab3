"""The bits per byte of ``results.json``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tokbench.plugin.metrics import BlockType

Verdict = Literal["better", "level", "depends", "unknown"]


@dataclass(frozen=True, kw_only=True)
class BitsComparison:
    """Two tokenizers under the same models, on the same documents.

    Attributes:
        tokenizer, other: the two; the first is better if the verdict is ``better``.
        differences: by metric, bits per byte of the first less the other's.
        errors: by metric, the standard error of the difference, from documents and training text.
        verdict: ``better`` if the first needs fewer bits under every model that decides, by at least the least
            difference and by more than two standard errors; ``level`` if they tie under all of these; ``depends``
            if the models disagree; ``unknown`` if there are too few documents.
    """

    tokenizer: str
    other: str
    differences: list[float]
    errors: list[float | None]
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class TrainedAmount:
    """The models of one tokenizer after some of the training text, means over seeds.

    Attributes:
        n_bytes: UTF-8 bytes of the text so far.
        flops: floating-point operations of training one model.
        bits_per_byte: of the scored documents.
        error: its standard error, from documents and seeds.
    """

    n_bytes: int
    flops: int
    bits_per_byte: float
    error: float | None


@dataclass(frozen=True, kw_only=True)
class ModelTraining:
    """The training of the models of one tokenizer.

    Attributes:
        parameters: of one model, with embeddings.
        window: tokens of a window.
        learning_rate: the highest one.
        rates: bits per byte by learning rate of the search, on a tenth of the text.
        seconds: wall time of all seeds, without the search.
        memory: estimated bytes of a training.
        amounts: the models after some and after all of the text.
        seeds: bits per byte of each seed, after all of the text.
    """

    parameters: int
    window: int
    learning_rate: float
    rates: dict[str, float]
    seconds: float
    memory: int
    amounts: list[TrainedAmount]
    seeds: list[float]


@dataclass(frozen=True, kw_only=True)
class TrainedIds:
    """How much training text the ids of one tokenizer have."""

    ids: int
    """Ids that the tokenizer can emit, without special, unknown and empty ones."""
    training_tokens: int
    """Tokens of the training text."""
    tokens_per_id: float
    """``training_tokens`` for each of ``ids``."""
    never_trained: float
    """The share of scored tokens whose id does not occur in the training text."""
    training_bytes_per_token: float
    """Of the training text, UTF-8."""
    scored_bytes_per_token: float
    """Of the scored documents, UTF-8."""


@dataclass(frozen=True, kw_only=True)
class BitsPerByte:
    """The bits per byte of one corpus.

    Attributes:
        corpus: the corpus that is scored.
        train: the corpus that trains.
        family: the metric family.
        metrics: metric ids, simplest model first.
        models: by metric, the model, such as ``order 3``.
        deciding: the metrics whose models must agree on a verdict.
        least: the smallest difference that counts, in bits per byte.
        training_documents, training_bytes: the size of the training text, UTF-8.
        training_duplicates: near-duplicates left out.
        scored_documents, scored_bytes, scored_duplicates: the same of the scored documents.
        blocks: by tokenizer, its training text in words; tokenizers of one block may be compared.
        comparisons: every comparable pair of tokenizers.
        trainings: by tokenizer; empty for n-grams.
        trained_ids: by tokenizer; empty in older results.
    """

    corpus: str
    train: str
    family: str
    metrics: list[str]
    models: list[str]
    deciding: list[str]
    least: float
    training_documents: int = 0
    training_bytes: int = 0
    training_duplicates: int = 0
    scored_documents: int = 0
    scored_bytes: int = 0
    scored_duplicates: int = 0
    blocks: dict[str, str] = field(default_factory=dict)
    comparisons: list[BitsComparison] = field(default_factory=list)
    trainings: dict[str, ModelTraining] = field(default_factory=dict)
    trained_ids: dict[str, TrainedIds] = field(default_factory=dict)


BITS_PER_BYTE: BlockType[list[BitsPerByte]] = BlockType(study="language_models", kind=list[BitsPerByte])
