"""The study of validity of ``results.json``: how well metrics rank tokenizers as bits per byte do, and hypotheses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tokbench.plugin import BlockType
from tokbench.studies.language_models.block import TrainedIds

HypothesisVerdict = Literal["held", "not held", "undecided"]
"""The outcome of a hypothesis; :class:`HypothesisOutcome` describes it."""


@dataclass(frozen=True, kw_only=True)
class RankCorrelation:
    """The rank correlation of one metric with one model's bits per byte, over the tokenizers of a class.

    It is positive if tokenizers that are better by the metric need fewer bits. Some metrics have no better direction:
    for these it is positive if larger numbers go with more bits.

    Attributes:
        metric: the metric that predicts.
        model: the metric of bits per byte.
        tokenizers: the number of tokenizers that have both.
        rho: Spearman's rho; ``None`` without a correlation.
        ci_low, ci_high: its 95 % interval for other documents, training text and tokenizers.
        fixed_low, fixed_high: its 95 % interval for other documents and training text, with these tokenizers.
        tau, tau_low, tau_high: Kendall's tau-b, and its 95 % interval as that of ``ci_low`` and ``ci_high``.
        reason: the reason why there is no correlation; empty if there is one.
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
    """The name of the class."""
    tokenizers: list[str]
    """Its tokenizers that have bits per byte, without those of ``left_out``."""
    correlations: list[RankCorrelation] = field(default_factory=list)
    """Every metric with every model; empty if the tokenizers are too few."""
    differences: list[RankDifference] = field(default_factory=list)
    """Every two metrics of the hypotheses, with every model that decides."""
    reason: str = ""
    """The reason why there is no correlation; empty if there are some."""
    left_out: list[str] = field(default_factory=list)
    """Its tokenizers that the correlations leave out, because their ids have too few training tokens."""


@dataclass(frozen=True, kw_only=True)
class HypothesisOutcome:
    """A hypothesis of the configuration about one model, and its outcome.

    Attributes:
        metric: the metric that predicts.
        model: the metric of bits per byte.
        tokenizer_class: the class of tokenizers.
        other: the metric whose correlation should be smaller; empty if the claim is about one metric.
        claim: the claim in words, such as ``rho > 0.5``.
        source: the origin of the claim, such as a paper; empty if the configuration does not name it.
        value: Spearman's rho, or the difference of two; ``None`` without one.
        ci_low, ci_high: the 95 % interval of the value.
        p: the two-sided p-value of the value against the bound of the claim; ``None`` without a value.
        p_holm: the same after Holm's correction over all hypotheses of the study on this corpus.
        verdict: ``held`` if the corrected p-value is at most 0.05 and the value is on the side of the claim, ``not
            held`` if it is on the other side, else ``undecided``.
        reason: the reason why there is no value; empty if there is one.
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
    """A score of a tokenizer that was measured elsewhere."""

    score: float
    """The score."""
    low: float | None = None
    """The lower end of its 95 % interval; ``None`` if it has none."""
    high: float | None = None
    """The upper end."""


@dataclass(frozen=True, kw_only=True)
class ExternalScores:
    """Scores of one model, from a table that the configuration names."""

    file: str
    """The name of the table."""
    model: str
    """The model, as the table names it."""
    source: str
    """The origin of the scores, as the table names it; empty if it does not."""
    better: Literal["higher", "lower"]
    """The better direction."""
    scores: dict[str, ExternalScore]
    """By tokenizer, the score."""


@dataclass(frozen=True, kw_only=True)
class Validity:
    """The study of validity on one corpus, for the models of one family or for scores from elsewhere."""

    corpus: str
    """The corpus."""
    family: str
    """The family of metrics that trains models; ``scores`` for those of a table."""
    models: list[str]
    """The metrics of bits per byte, simplest model first; for scores the model of the table."""
    deciding: list[str]
    """Those of ``models`` that must agree on a verdict."""
    metrics: list[str]
    """The metrics that predict."""
    draws: int
    """The number of draws of documents, training text and tokenizers."""
    trained: bool
    """``True`` if training text or seeds are drawn, too; ``False`` if documents alone are drawn."""
    classes: list[ValidityClass] = field(default_factory=list)
    """The classes of tokenizers."""
    hypotheses: list[HypothesisOutcome] = field(default_factory=list)
    """The hypotheses of the configuration, one entry for each model."""
    least_tokens_per_id: float | None = None
    """The fewest training tokens an id of a tokenizer that counts; ``None`` in older results, where all count."""
    trained_ids: dict[str, TrainedIds] = field(default_factory=dict)
    """By tokenizer, how well the training text of the models feeds its ids; empty in older results."""
    left_out: list[str] = field(default_factory=list)
    """The tokenizers that have fewer training tokens an id than ``least_tokens_per_id``, and do not count."""
    scores: ExternalScores | None = None
    """The scores that are the target; ``None`` if bits per byte are."""


VALIDITY: BlockType[list[Validity]] = BlockType(study="validity", kind=list[Validity])
"""The block of the study."""
