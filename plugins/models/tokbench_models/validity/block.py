"""The study of validity in ``results.json``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tokbench.plugin.metrics import BlockType
from tokbench_models.language_models.block import TrainedIds

HypothesisVerdict = Literal["held", "not held", "undecided"]


@dataclass(frozen=True, kw_only=True)
class RankCorrelation:
    """The rank correlation of one metric with one model's bits per byte, over the tokenizers of a class.

    It is positive if tokenizers that are better by the metric need fewer bits, or, without a better direction, if
    larger numbers go with more bits.

    Attributes:
        metric: the metric that predicts.
        model: the metric of bits per byte.
        tokenizers: how many have both.
        rho: Spearman's rho.
        ci_low, ci_high: its 95% interval for other documents, training text and tokenizers.
        reason: why rho is missing.
    """

    metric: str
    model: str
    tokenizers: int
    rho: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class ValidityClass:
    """Comparable tokenizers."""

    name: str
    """Its name."""
    tokenizers: list[str]
    """With bits per byte, without ``left_out``."""
    correlations: list[RankCorrelation] = field(default_factory=list)
    """Every metric with every model."""
    reason: str = ""
    """Why correlations are missing."""
    left_out: list[str] = field(default_factory=list)
    """Tokenizers whose ids have too few training tokens."""


@dataclass(frozen=True, kw_only=True)
class HypothesisOutcome:
    """A hypothesis of the configuration about one model, and its outcome.

    Attributes:
        metric: the metric that predicts.
        model: the metric of bits per byte.
        tokenizer_class: the class of tokenizers.
        other: the metric whose correlation should be smaller, if the claim has one.
        claim: in words, such as ``rho > 0.5``.
        source: its origin, such as a paper.
        value: Spearman's rho, or the difference of two.
        ci_low, ci_high: its 95% interval.
        p: the two-sided p-value of the value against the bound of the claim.
        p_holm: the same after Holm's correction over the hypotheses on this corpus.
        verdict: ``undecided`` if ``p_holm`` is above 0.05, else ``held`` if the value is on the side of the claim, or
            ``not held``.
        reason: why the value is missing.
    """

    metric: str
    model: str
    tokenizer_class: str
    claim: str
    other: str = ""
    source: str = ""
    value: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    p: float | None = None
    p_holm: float | None = None
    verdict: HypothesisVerdict = "undecided"
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class ExternalScore:
    """A score of a tokenizer, measured elsewhere."""

    score: float
    """The score."""
    low: float | None = None
    """The lower end of its 95% interval."""
    high: float | None = None
    """The upper end."""


@dataclass(frozen=True, kw_only=True)
class ExternalScores:
    """Scores of one model, from a table of the configuration."""

    file: str
    """The name of the table."""
    model: str
    """As the table names it."""
    source: str
    """Their origin, by the table."""
    better: Literal["higher", "lower"]
    """The better direction."""
    scores: dict[str, ExternalScore]
    """By tokenizer."""


@dataclass(frozen=True, kw_only=True)
class Validity:
    """The study of validity on one corpus, for one family of models or scores."""

    corpus: str
    """The corpus."""
    family: str
    """The family of metrics that trains models; ``scores`` for a table."""
    models: list[str]
    """The metrics of bits per byte, simplest model first, or the model of the scores."""
    deciding: list[str]
    """The models that must agree on a verdict."""
    metrics: list[str]
    """The metrics that predict."""
    draws: int
    """Of documents, training text and tokenizers."""
    trained: bool
    """Whether training text or seeds are drawn, too."""
    classes: list[ValidityClass] = field(default_factory=list)
    """The classes of tokenizers."""
    hypotheses: list[HypothesisOutcome] = field(default_factory=list)
    """By hypothesis and model."""
    least_tokens_per_id: float | None = None
    """The fewest training tokens an id of a tokenizer that counts; ``None`` in older results."""
    trained_ids: dict[str, TrainedIds] = field(default_factory=dict)
    """By tokenizer; empty in older results."""
    left_out: list[str] = field(default_factory=list)
    """The tokenizers below ``least_tokens_per_id``."""
    scores: ExternalScores | None = None
    """The target in place of bits per byte."""


VALIDITY: BlockType[list[Validity]] = BlockType(study="validity", kind=list[Validity])
