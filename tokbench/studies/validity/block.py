"""The study of validity in ``results.json``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tokbench.plugin import BlockType
from tokbench.studies.language_models.block import TrainedIds

HypothesisVerdict = Literal["held", "not held", "undecided"]


@dataclass(frozen=True, kw_only=True)
class RankCorrelation:
    """The rank correlation of one metric with one model's bits per byte, over the tokenizers of a class.

    It is positive if tokenizers that are better by the metric need fewer bits, or, without a better direction, if
    larger numbers go with more bits.

    Attributes:
        rho: Spearman's.
        ci_low, ci_high: 95 % interval for other documents, training text and tokenizers.
        fixed_low, fixed_high: 95 % interval for other documents and training text.
        tau: Kendall's tau-b.
        reason: why rho is missing.
    """

    metric: str
    model: str
    tokenizers: int
    rho: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    fixed_low: float | None = None
    fixed_high: float | None = None
    tau: float | None = None
    tau_low: float | None = None
    tau_high: float | None = None
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class RankDifference:
    """Spearman's rho of one metric less another's over the same tokenizers, with its 95 % interval."""

    metric: str
    other: str
    model: str
    difference: float
    ci_low: float
    ci_high: float


@dataclass(frozen=True, kw_only=True)
class ValidityClass:
    """Comparable tokenizers."""

    name: str
    tokenizers: list[str]
    """With bits per byte, without ``left_out``."""
    correlations: list[RankCorrelation] = field(default_factory=list)
    differences: list[RankDifference] = field(default_factory=list)
    """Every pair of metrics in the hypotheses, with every deciding model."""
    reason: str = ""
    left_out: list[str] = field(default_factory=list)
    """Tokenizers whose ids have too few training tokens."""


@dataclass(frozen=True, kw_only=True)
class HypothesisOutcome:
    """A hypothesis of the configuration about one model, and its outcome.

    Attributes:
        other: the metric whose correlation should be smaller, if the claim has one.
        claim: in words, such as ``> 0.5``.
        value: Spearman's rho, or the difference of two, with its 95 % interval.
        p: two-sided, of the value against the bound of the claim.
        p_holm: the same after Holm's correction over the hypotheses on this corpus.
        verdict: ``undecided`` if ``p_holm`` is above 0.05, else ``held`` or ``not held``.
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
    """A score of a tokenizer, measured elsewhere, with its 95 % interval."""

    score: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class ExternalScores:
    """Scores of one model by tokenizer, from a table of the configuration."""

    file: str
    model: str
    source: str
    better: Literal["higher", "lower"]
    scores: dict[str, ExternalScore]


@dataclass(frozen=True, kw_only=True)
class Validity:
    """The study of validity on one corpus, for one family of models or scores."""

    corpus: str
    family: str
    """The family of metrics that trains models; ``scores`` for a table."""
    models: list[str]
    """The metrics of bits per byte, simplest model first, or the model of the scores."""
    deciding: list[str]
    """The models that must agree on a verdict."""
    metrics: list[str]
    """The metrics that predict."""
    draws: int
    trained: bool
    """Whether training text or seeds are drawn, too."""
    classes: list[ValidityClass] = field(default_factory=list)
    hypotheses: list[HypothesisOutcome] = field(default_factory=list)
    least_tokens_per_id: float | None = None
    """The fewest training tokens an id of a tokenizer that counts."""
    trained_ids: dict[str, TrainedIds] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    """The tokenizers below ``least_tokens_per_id``."""
    scores: ExternalScores | None = None
    """The target in place of bits per byte."""


VALIDITY: BlockType[list[Validity]] = BlockType(study="validity", kind=list[Validity])
