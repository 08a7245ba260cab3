"""The block ``vocabulary_size`` of ``results.json``: lines over sizes, the cost of each size, and a recommendation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from tokbench.plugin import BlockType
from tokbench.studies.vocabulary_size.measured_block import MeasuredSizes


@dataclass(frozen=True, kw_only=True)
class SizeLine:
    """One line over vocabulary sizes: a vocabulary cut to every size, or several trained ones.

    Attributes:
        line: its name.
        kind: ``curve`` (every size is known), ``ladder`` (some sizes) or ``point``.
        tokenizers: the tokenizers it consists of.
        trained: whether this run trained them.
        smallest, largest: its range of sizes.
        reason: why it cannot be cut; else empty.
        spaces, spaces_from: the longest run of spaces that is one token, and the smallest size with a token of two
            spaces, if there is any.
        spans: the share of tokens that span words, among the first half of the merges or of the ids.
    """

    line: str
    kind: Literal["curve", "ladder", "point"]
    tokenizers: list[str]
    trained: bool
    smallest: int
    largest: int
    reason: str = ""
    spaces: int = 0
    spaces_from: int | None = None
    spans: float = 0.0


@dataclass(frozen=True, kw_only=True)
class SizeRow:
    """One size of a line on one group.

    Attributes:
        line, corpus, group, vocab_size: the place.
        tokens: of the text.
        compression_ratio, ci_low, ci_high: bytes per token, with its 95 % interval.
        entropy: of the tokens, bits.
        used: the number of ids that occur.
        gain: bytes per token gained for 1,000 further tokens since the previous size.
        fertility, fertility_low, fertility_high: tokens per word; ``None`` where words have no common unit.
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
    """Every size of a line on one group; arrays are base64 of zlib.

    Attributes:
        line, corpus, group: the place.
        bytes, words: of the text; ``words`` is ``None`` where they have no common unit.
        unit: the definition of a word.
        base: the smallest size, without merges.
        units: the tokens at that size.
        saved: int64 little-endian, the tokens that each further merge saves.
        entropy: float64 little-endian, bits, at every size; empty unless the configuration asks for all points.
    """

    line: str
    corpus: str
    group: str
    bytes: int
    words: int | None
    unit: str
    base: int
    units: int
    saved: str
    entropy: str = ""


@dataclass(frozen=True, kw_only=True)
class SizeLoss:
    """The losses of a line on a corpus.

    Attributes:
        line, corpus: the place.
        lost: the largest share of characters lost; ``None`` if unknown.
    """

    line: str
    corpus: str
    lost: float | None


@dataclass(frozen=True, kw_only=True)
class SizeInSample:
    """The share of a corpus that a line was trained on.

    Attributes:
        line, corpus: the place.
        share: the share of the documents, 0 to 1.
    """

    line: str
    corpus: str
    share: float


@dataclass(frozen=True, kw_only=True)
class SizeCost:
    """The cost of one size of a line to the model, on a whole corpus.

    Attributes:
        line, corpus, group, vocab_size, compression_ratio: the place, and bytes per token there.
        parameters, share, memory_bytes: of embedding and output layer; ``share`` of the whole model.
        flops_per_byte: FLOPs of a forward pass for a byte of text.
        output_share: the output layer's share of them.
        cache_per_byte: bytes of the cache of keys and values for a byte of text.
        context_bytes: bytes of text that fit the context.
        logits_per_token: numbers of the output layer for a token.
        training_flops: FLOPs of the training, if its length is known.
        unseen, never, few, some, enough: ids by their expected count in the training text, likewise.
        bound: occurrences from which on an id counts as trained.
        training_tokens: tokens of the training text at this size.
    """

    line: str
    corpus: str
    group: str
    vocab_size: int
    compression_ratio: float
    parameters: float
    share: float
    memory_bytes: float
    flops_per_byte: float
    output_share: float
    cache_per_byte: float
    context_bytes: float
    logits_per_token: float
    training_flops: float | None = None
    unseen: int | None = None
    never: int | None = None
    few: int | None = None
    some: int | None = None
    enough: int | None = None
    bound: float | None = None
    training_tokens: float | None = None


@dataclass(frozen=True, kw_only=True)
class SizeChoice:
    """One size of a line, over all corpora together.

    Attributes:
        line, vocab_size: the candidate.
        compression_ratio: bytes per token of text mixed of the corpora by their weights.
        by_corpus: bytes per token of each corpus.
        worst_corpus, worst_group, worst_ratio: the worst-compressed group, and its bytes per token.
        flops_per_byte, share: FLOPs of a forward pass for a byte of text, and the share of embedding and output layer
            in the model; ``None`` without a model.
        unseen: ids that occur in no corpus with a weight.
        too_rare: the share of ids expected fewer than 100 times in training; ``None`` if the text is too small to
            show it, or the length of the training is unknown.
        more, more_low, more_high: tokens beyond the recommended size's, as a share of them, with the paired 95 %
            interval.
    """

    line: str
    vocab_size: int
    compression_ratio: float
    by_corpus: dict[str, float] = field(default_factory=dict)
    worst_corpus: str = ""
    worst_group: str = ""
    worst_ratio: float | None = None
    flops_per_byte: float | None = None
    share: float | None = None
    unseen: int = 0
    too_rare: float | None = None
    more: float | None = None
    more_low: float | None = None
    more_high: float | None = None


@dataclass(frozen=True, kw_only=True)
class SizeBasis:
    """The size that one way of choosing recommends.

    Attributes:
        basis: ``compression alone``, ``cost alone``, ``law``, ``compression and cost``, or ``measured``, which is by
            bits per byte of small transformers.
        line: the line; empty for the law.
        smallest, largest: the range of sizes, or twice the same; for ``measured`` the 95 % interval, or the best size
            without one.
        best: the best size, only for ``measured``.
        body, amount: the transformer and its UTF-8 bytes of training text, only for ``measured``.
    """

    basis: str
    line: str
    smallest: int
    largest: int
    best: int | None = None
    body: str = ""
    amount: float | None = None


@dataclass(frozen=True, kw_only=True)
class SizeBeside:
    """A size outside of a range, compared with the nearer end of the range."""

    vocab_size: int
    """The size."""
    tokens: float
    """Its tokens of a text beyond the end's, as a share of them."""
    cost: float
    """Its FLOPs of a byte of text beyond the end's, as a share of them."""
    times: float | None = None
    """The mean occurrences in training of the ids between the end of the range and this size, if known."""


@dataclass(frozen=True, kw_only=True)
class SizeRange:
    """The sizes of a line with nearly the least cost of a byte of text, over all corpora together."""

    line: str
    """The line."""
    smallest: int
    """The smallest size that costs at most 2 % more FLOPs per byte than the best."""
    largest: int
    """The largest such size."""
    best: int
    """The size that costs least."""
    flops_per_byte: float
    """The FLOPs of a byte of text at that size."""
    open_below: bool = False
    """The range begins with the smallest size of the line."""
    open_above: bool = False
    """The range ends with the largest size of the line."""
    capped: bool = False
    """The range ends because larger sizes have too many rare ids."""
    by_corpus: dict[str, float] = field(default_factory=dict)
    """By corpus, the least cost there beyond the best line's, as a share of it."""
    refused: str = ""
    """Why the line is shown and not recommended; else empty."""
    below: SizeBeside | None = None
    """A size of the line that is smaller than the range."""
    above: SizeBeside | None = None
    """A size of the line that is larger than the range."""
    training_bytes: float | None = None
    """The line's training text in this run, in bytes."""
    enough_bytes: float | None = None
    """The bytes of text that would decide the size, about; ``None`` if the text is enough, or unknown."""
    sizes: list[int] = field(default_factory=list)
    """Some sizes of the line, for charts."""
    costs: list[float] = field(default_factory=list)
    """FLOPs of a byte of text at each of them."""


@dataclass(frozen=True, kw_only=True)
class SizeRecommendation:
    """The recommended sizes, over all corpora together.

    Attributes:
        weights: the share of each corpus in the text; they add up to 1.
        weighted: whether the configuration has the weights; otherwise all corpora count alike.
        choices: the candidates: sizes of lossless lines that were measured on every corpus with a weight.
        front: ``(line, size)`` of the candidates that no other beats in cost, compression and worst group.
        take: ``(line, size)`` of the recommendation; ``None`` without a model or without a candidate.
        ranges: by line, the sizes with nearly the least cost, the cheapest line first; the answer is the range of the
            line in ``take``. Empty without a model.
        bases: the size by each way of choosing.
        allowed_rare: the largest share of too rare ids of a recommendation, if known.
        left_out: by line that is not a candidate, the reason.
        missing: the corpora without numbers.
        trained_on: whether every candidate was trained on some of the text.
        no_interval: why ``more`` has no interval; else empty.
    """

    weights: dict[str, float]
    weighted: bool = False
    choices: list[SizeChoice] = field(default_factory=list)
    front: list[tuple[str, int]] = field(default_factory=list)
    take: tuple[str, int] | None = None
    ranges: list[SizeRange] = field(default_factory=list)
    bases: list[SizeBasis] = field(default_factory=list)
    allowed_rare: float | None = None
    left_out: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    trained_on: bool = False
    no_interval: str = ""

    @property
    def range(self) -> SizeRange | None:
        """The range of the recommended line; ``None`` without one."""
        return next((sizes for sizes in self.ranges if self.take and sizes.line == self.take[0]), None)


@dataclass(frozen=True, kw_only=True)
class ScalingOptimum:
    """The optimal size by one approach of the published law.

    Attributes:
        approach: ``isoflops``, ``derivative`` or ``loss``.
        vocab_size: the size.
        caution: why this is an extrapolation; else empty.
        budget: its training FLOPs; ``None`` for a compute-optimal training.
    """

    approach: str
    vocab_size: int
    caution: str = ""
    budget: float | None = None


@dataclass(frozen=True, kw_only=True)
class ScalingLaw:
    """The optimal sizes by the published law.

    Attributes:
        source: the publication.
        validity: the range in which the law was measured.
        optima: the optimal size by each approach.
    """

    source: str
    validity: str
    optima: list[ScalingOptimum] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class VocabularySizes:
    """The results of a run on vocabulary sizes.

    Attributes:
        sizes: the sizes of the configuration.
        points: ``sizes``, or ``all`` for every size.
        lines: the lines over sizes.
        rows: the numbers of each size of a line on one group.
        curves: every size of a line on one group.
        losses: by lossy line and corpus.
        in_sample: the shares of corpora that lines were trained on, if any.
        costs: of each size to the model; empty without a model.
        failures: what could not be measured, in words.
        model: the model of the configuration, and ``parameters_without_vocabulary``.
        recommendation: the recommended size over all corpora together; ``None`` without a corpus that counts.
        law: the optimal sizes by the published law; ``None`` without a model.
        measured: bits per byte of a small transformer at several sizes, if the configuration asks for them.
    """

    sizes: list[int] = field(default_factory=list)
    points: str = "sizes"
    lines: list[SizeLine] = field(default_factory=list)
    rows: list[SizeRow] = field(default_factory=list)
    curves: list[PackedCurve] = field(default_factory=list)
    losses: list[SizeLoss] = field(default_factory=list)
    in_sample: list[SizeInSample] = field(default_factory=list)
    costs: list[SizeCost] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    model: dict[str, Any] | None = None
    recommendation: SizeRecommendation | None = None
    law: ScalingLaw | None = None
    measured: MeasuredSizes | None = None


VOCABULARY_SIZES: BlockType[VocabularySizes] = BlockType(study="vocabulary_size", kind=VocabularySizes, version=2)
