"""The block ``vocabulary_size`` of ``results.json``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from tokbench.results.study_blocks import BlockType


@dataclass(frozen=True, kw_only=True)
class SizeLine:
    """One line over vocabulary sizes: a vocabulary cut to every size, or several trained ones.

    Attributes:
        line: its name.
        kind: ``curve`` (every size is known), ``ladder`` (some sizes) or ``point``.
        tokenizers: its tokenizers.
        smallest, largest: its range of sizes.
        reason: why it cannot be cut.
    """

    line: str
    kind: Literal["curve", "ladder", "point"]
    tokenizers: list[str]
    smallest: int
    largest: int
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class SizeRow:
    """One size of a line on one group.

    Attributes:
        line, corpus, group, vocab_size: the place.
        tokens: of the text.
        compression_ratio, ci_low, ci_high: bytes per token, with its 95 % interval.
        entropy: of the tokens, bits.
        used: the number of ids that occur.
        gain: bytes per token gained per 1,000 tokens since the previous size.
        fertility, fertility_low, fertility_high: tokens per word, if words have a common unit.
        unit: the definition of a word.
    """

    line: str
    corpus: str
    group: str
    vocab_size: int
    tokens: int
    compression_ratio: float
    ci_low: float | None
    ci_high: float | None
    entropy: float
    used: int
    gain: float | None = None
    fertility: float | None = None
    fertility_low: float | None = None
    fertility_high: float | None = None
    unit: str = ""


@dataclass(frozen=True, kw_only=True)
class PackedCurve:
    """Every size of a line on one group.

    Attributes:
        line, corpus, group: the place.
        bytes: of the text.
        base: the smallest size, without merges.
        units: the tokens at that size.
        saved: the tokens that each further merge saves: int64 little-endian, base64 of zlib.
    """

    line: str
    corpus: str
    group: str
    bytes: int
    base: int
    units: int
    saved: str


@dataclass(frozen=True, kw_only=True)
class SizeLoss:
    """The losses of a line on a corpus.

    Attributes:
        line, corpus: the place.
        lost: the largest share of characters lost, if known.
    """

    line: str
    corpus: str
    lost: float | None


@dataclass(frozen=True, kw_only=True)
class SizeChoice:
    """One size of a line, over all corpora together.

    Attributes:
        line, vocab_size: the candidate.
        compression_ratio: bytes per token of the weighted mix of corpora.
        worst_corpus, worst_group, worst_ratio: the worst-compressed group, and its bytes per token.
        flops_per_byte, share: FLOPs of a forward pass for a byte of text, and the share of embedding and output layer;
            ``None`` without a model.
        too_rare: the share of ids expected fewer than 100 times in training, if known.
        more, more_low, more_high: tokens beyond the recommended size's, as a share of them, with the paired 95 %
            interval.
    """

    line: str
    vocab_size: int
    compression_ratio: float
    worst_corpus: str = ""
    worst_group: str = ""
    worst_ratio: float | None = None
    flops_per_byte: float | None = None
    share: float | None = None
    too_rare: float | None = None
    more: float | None = None
    more_low: float | None = None
    more_high: float | None = None


@dataclass(frozen=True, kw_only=True)
class SizeRange:
    """The sizes of a line with nearly the least cost of a byte of text, over all corpora."""

    line: str
    """The line."""
    smallest: int
    """The smallest size that costs at most 2 % more than the best."""
    largest: int
    """The largest such size."""
    best: int
    """The cheapest size."""
    flops_per_byte: float
    """At the cheapest size."""
    open_below: bool = False
    """It begins with the smallest size of the line."""
    open_above: bool = False
    """It ends with the largest size of the line."""
    capped: bool = False
    """Larger sizes have too many rare ids."""
    by_corpus: dict[str, float] = field(default_factory=dict)
    """By corpus, the least cost beyond the best line's, as a share of it."""
    refused: str = ""
    """Why the line is not recommended."""
    training_bytes: float | None = None
    """Training text of the line in this run."""
    sizes: list[int] = field(default_factory=list)
    """For charts."""
    costs: list[float] = field(default_factory=list)
    """FLOPs of a byte of text at each."""


@dataclass(frozen=True, kw_only=True)
class SizeRecommendation:
    """The recommended sizes, over all corpora together.

    Attributes:
        weights: the share of each corpus in the text; they add up to 1.
        weighted: whether the weights are configured, not equal by default.
        choices: the candidates: sizes of lossless lines on every corpus with a weight.
        take: ``(line, size)`` of the recommendation; ``None`` without a model or candidate.
        ranges: by line, the sizes with nearly the least cost, the cheapest line first.
        allowed_rare: the largest share of too rare ids of a recommendation, if known.
        left_out: by line that is not a candidate, the reason.
        missing: the corpora without numbers.
        trained_on: whether every candidate was trained on some of the text.
        no_interval: why ``more`` has no interval.
    """

    weights: dict[str, float]
    weighted: bool = False
    choices: list[SizeChoice] = field(default_factory=list)
    take: tuple[str, int] | None = None
    ranges: list[SizeRange] = field(default_factory=list)
    allowed_rare: float | None = None
    left_out: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    trained_on: bool = False
    no_interval: str = ""

    @property
    def range(self) -> SizeRange | None:
        """Of the recommended line."""
        return next((sizes for sizes in self.ranges if self.take and sizes.line == self.take[0]), None)


@dataclass(frozen=True, kw_only=True)
class VocabularySizes:
    """The results of a run on vocabulary sizes.

    Attributes:
        sizes: of the configuration.
        lines: the lines over sizes.
        rows: one for each size, line and group.
        curves: every size of a line on one group.
        losses: by lossy line and corpus.
        model: its options.
        recommendation: over all corpora together.
    """

    sizes: list[int] = field(default_factory=list)
    lines: list[SizeLine] = field(default_factory=list)
    rows: list[SizeRow] = field(default_factory=list)
    curves: list[PackedCurve] = field(default_factory=list)
    losses: list[SizeLoss] = field(default_factory=list)
    model: dict[str, Any] | None = None
    recommendation: SizeRecommendation | None = None


VOCABULARY_SIZES: BlockType[VocabularySizes] = BlockType(study="vocabulary_size", kind=VocabularySizes, version=3)
