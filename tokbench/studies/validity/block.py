"""The study of validity in ``results.json``: how well metrics rank tokenizers as bits per byte do, and hypotheses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tokbench.plugin import BlockType
from tokbench.studies.language_models.block import TrainedIds

HypothesisVerdict = Literal["held", "not held", "undecided"]
"""Defined at :class:`HypothesisOutcome`."""


@dataclass(frozen=True, kw_only=True)
class RankCorrelation:
    """The rank correlation of one metric with one model's bits per byte, over the tokenizers of a class.

    It is positive if tokenizers that are better by the metric need fewer bits. If the metric has no better direction,
    it is positive if larger numbers go with more bits.

    Attributes:
        metric: the metric that predicts.
        model: the metric of bits per byte.
        tokenizers: the number of tokenizers that have both.
        rho: Spearman's rho; ``None`` without a correlation.
        ci_low, ci_high: its 95 % interval for other documents, training text and tokenizers.
        fixed_low, fixed_high: its 95 % interval for other documents and training text, with these tokenizers.
        tau, tau_low, tau_high: Kendall's tau-b, and its 95 % interval for the same as ``ci_low`` and ``ci_high``.
        reason: why there is no correlation; else empty.
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
    """The difference of two rank correlations over the same tokenizers.

    Attributes:
        metric, other: the two metrics.
        model: the metric of bits per byte.
        difference: Spearman's rho of the first less that of the other.
        ci_low, ci_high: its 95 % interval, for other documents, training text and tokenizers.
    """

    metric: str
    other: str
    model: str
    difference: float
    ci_low: float
    ci_high: float


@dataclass(frozen=True, kw_only=True)
class ValidityClass:
    """A set of tokenizers that may be compared with one another."""

    name: str
    """Its name."""
    tokenizers: list[str]
    """Its tokenizers that have bits per byte, without ``left_out``."""
    correlations: list[RankCorrelation] = field(default_factory=list)
    """Every metric with every model; empty if there are too few tokenizers."""
    differences: list[RankDifference] = field(default_factory=list)
    """Every pair of metrics in the hypotheses, with every model that decides."""
    reason: str = ""
    """Why there is no correlation; else empty."""
    left_out: list[str] = field(default_factory=list)
    """Its tokenizers without correlations, because their ids have too few training tokens."""


@dataclass(frozen=True, kw_only=True)
class HypothesisOutcome:
    """A hypothesis of the configuration about one model, and its outcome.

    Attributes:
        metric: the metric that predicts.
        model: the metric of bits per byte.
        tokenizer_class: the class of tokenizers.
        other: the metric whose correlation should be smaller; empty if the claim is about one metric.
        claim: the claim in words, such as ``rho > 0.5``.
        source: its origin, such as a paper, if the configuration names it.
        value: Spearman's rho, or the difference of two; ``None`` without one.
        ci_low, ci_high: its 95 % interval.
        p: the two-sided p-value of the value against the bound of the claim.
        p_holm: the same after Holm's correction over all hypotheses of the study on this corpus.
        verdict: ``undecided`` if the corrected p-value is above 0.05, else ``held`` if the value is on the side of the
            claim, ``not held`` if it is on the other side.
        reason: why there is no value; else empty.
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
    """The lower end of its 95 % interval."""
    high: float | None = None
    """The upper end."""


@dataclass(frozen=True, kw_only=True)
class ExternalScores:
    """Scores of one model, from a table of the configuration."""

    file: str
    """The name of the table."""
    model: str
    """The model, as the table names it."""
    source: str
    """Their origin, if the table names it."""
    better: Literal["higher", "lower"]
    """The better direction."""
    scores: dict[str, ExternalScore]
    """By tokenizer."""


@dataclass(frozen=True, kw_only=True)
class Validity:
    """The study of validity on one corpus, for the models of one family or for scores from elsewhere."""

    corpus: str
    """The corpus."""
    family: str
    """The family of metrics that trains models; ``scores`` for a table."""
    models: list[str]
    """The metrics of bits per byte, simplest model first; for scores the model of the table."""
    deciding: list[str]
    """The models that must agree on a verdict."""
    metrics: list[str]
    """The metrics that predict."""
    draws: int
    """Draws of documents, training text and tokenizers."""
    trained: bool
    """Training text or seeds are drawn, too, not documents alone."""
    classes: list[ValidityClass] = field(default_factory=list)
    """The classes of tokenizers."""
    hypotheses: list[HypothesisOutcome] = field(default_factory=list)
    """One entry for each hypothesis and model."""
    least_tokens_per_id: float | None = None
    """The fewest training tokens an id of a tokenizer that counts; ``None`` in older results, where all count."""
    trained_ids: dict[str, TrainedIds] = field(default_factory=dict)
    """By tokenizer, how well the models' training text covers its ids; empty in older results."""
    left_out: list[str] = field(default_factory=list)
    """The tokenizers with fewer training tokens an id than ``least_tokens_per_id``, which do not count."""
    scores: ExternalScores | None = None
    """The scores that are the target, in place of bits per byte."""


VALIDITY: BlockType[list[Validity]] = BlockType(study="validity", kind=list[Validity])
