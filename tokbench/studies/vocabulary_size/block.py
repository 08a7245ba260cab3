"""The block ``vocabulary_size`` of ``results.json``: lines over sizes, what each size costs, and which to take."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from tokbench.plugin import BlockType
from tokbench.studies.vocabulary_size.measured_block import MeasuredSizes


@dataclass(frozen=True, kw_only=True)
class SizeLine:
    """One line over vocabulary sizes: a vocabulary cut to every size, or several that were trained.

    Attributes:
        line: its name.
        kind: ``curve`` (every size is known), ``ladder`` (some sizes) or ``point``.
        tokenizers: the tokenizers it consists of.
        trained: whether they were trained in this run.
        smallest, largest: its range of sizes.
        reason: why it cannot be cut; empty if it can.
        spaces, spaces_from: the longest run of spaces that is one token, and the size from which on there is a
            token of two spaces; ``None`` if there is none.
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
        tokens: the tokens of the text.
        compression_ratio, ci_low, ci_high: bytes per token, with its 95 % interval.
        entropy: of the tokens, bits.
        used: the number of ids that occur.
        gain: bytes per token gained for 1,000 further tokens since the size before; ``None`` for the first.
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
        base: the smallest size, at which no merge is done.
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
        lost: the largest share of characters lost; ``None`` if that could not be measured.
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
        logits_per_token: numbers that the output layer gives for a token.
        training_flops: FLOPs of the training; ``None`` if the model does not say how long it is trained.
        unseen, never, few, some, enough: ids by how often the training text will hold them; ``None`` likewise.
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
        compression_ratio: bytes per token of text that is mixed of the corpora by their weights.
        by_corpus: bytes per token of each corpus.
        worst_corpus, worst_group, worst_ratio: the group that is compressed least, and its bytes per token.
        flops_per_byte, share: FLOPs of a forward pass for a byte of text, and the share of embedding and output layer
            in the model; ``None`` without a model.
        unseen: ids that no corpus with a weight holds.
        too_rare: the share of ids that training is expected to hold fewer than 100 times; ``None`` if the text is too
            small to show it, or it is not known how long the model is trained.
        more, more_low, more_high: tokens beyond those of the size taken, as a share of them, with the paired 95 %
            interval; ``None`` where there is none.
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
    """The size to which one way of choosing points.

    Attributes:
        basis: ``compression alone``, ``cost alone``, ``law``, ``compression and cost``, or ``measured``, which is by
            bits per byte of small transformers.
        line: the line; empty for the law, which knows none.
        smallest, largest: the sizes between which it points; they are equal unless it gives several. Of ``measured``
            they are the ends of the 95 % interval, or the best size if there is no interval.
        best: the best size, of ``measured``; ``None`` for other bases.
        body, amount: the transformer, and the UTF-8 bytes that it has learned from, of ``measured``; empty and ``None``
            for other bases.
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
    """A size outside of a range, beside the end of the range."""

    vocab_size: int
    """The size."""
    tokens: float
    """Its tokens of a text beyond those at the end of the range, as a share of them."""
    cost: float
    """Its FLOPs of a byte of text beyond those at the end of the range, as a share of them."""
    times: float | None = None
    """The mean number of times that training meets an id between the end of the range and this size, if known."""


@dataclass(frozen=True, kw_only=True)
class SizeRange:
    """The sizes of a line at which a byte of text costs nearly least, over all corpora together."""

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
    """``True`` if the range begins with the smallest size of the line, so that smaller ones are not known."""
    open_above: bool = False
    """``True`` if the range ends with the largest size of the line, so that larger ones are not known."""
    capped: bool = False
    """``True`` if the range ends with a size of which larger ones have too many rare ids."""
    by_corpus: dict[str, float] = field(default_factory=dict)
    """By corpus, the least cost there beyond that of the best line, as a share of it."""
    refused: str = ""
    """The reason why the line is shown and not recommended; empty if it may be."""
    below: SizeBeside | None = None
    """A size of the line that is smaller than the range."""
    above: SizeBeside | None = None
    """A size of the line that is larger than the range."""
    training_bytes: float | None = None
    """The text that the line was trained on in this run; ``None`` if it was trained elsewhere."""
    enough_bytes: float | None = None
    """The text that would decide the size, about; ``None`` if the training text is enough, or it is not known."""
    sizes: list[int] = field(default_factory=list)
    """Some sizes of the line, for charts."""
    costs: list[float] = field(default_factory=list)
    """FLOPs of a byte of text at each of them."""


@dataclass(frozen=True, kw_only=True)
class SizeRecommendation:
    """The sizes to take, over all corpora together.

    Attributes:
        weights: the share of each corpus in the text; they add up to 1.
        weighted: ``True`` if the configuration gives the weights; otherwise all corpora count alike.
        choices: the candidates: sizes of lines that lose no text and were measured on every corpus with a weight.
        front: ``(line, size)`` of the candidates that no other beats in cost, compression and worst group.
        take: ``(line, size)`` of one size to take; ``None`` without a model or without a candidate.
        ranges: by line, the sizes that cost nearly least, the cheapest line first; that of the line in ``take`` is the
            answer. Empty without a model.
        bases: the sizes to which each way of choosing points.
        allowed_rare: the largest share of ids too rare with which a candidate is taken; ``None`` if it is not known.
        left_out: by line that is not a candidate, the reason.
        missing: the corpora on which nothing could be measured.
        trained_on: ``True`` if every candidate was trained on some of the text.
        no_interval: the reason why ``more`` has no interval; empty if it has one.
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
        """The range of the line that is taken; ``None`` if no size is."""
        return next((sizes for sizes in self.ranges if self.take and sizes.line == self.take[0]), None)


@dataclass(frozen=True, kw_only=True)
class ScalingOptimum:
    """The optimal size by one approach of the published law.

    Attributes:
        approach: ``isoflops``, ``derivative`` or ``loss``.
        vocab_size: the size.
        caution: why this is an extrapolation; empty inside the range that was fitted.
        budget: training FLOPs it is given for; ``None`` for a compute-optimal training.
    """

    approach: str
    vocab_size: int
    caution: str = ""
    budget: float | None = None


@dataclass(frozen=True, kw_only=True)
class ScalingLaw:
    """The sizes that the published law calls optimal.

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
    """All that a run found out about vocabulary sizes.

    Attributes:
        sizes: the sizes that the configuration asks for.
        points: ``sizes``, or ``all`` for every size there is.
        lines: the lines over sizes.
        rows: the numbers of each size of a line on one group.
        curves: every size of a line on one group.
        losses: what lines lose of a corpus; a line that loses nothing is not there.
        in_sample: the shares of corpora that lines were trained on; a line that saw nothing is not there.
        costs: what each size costs the model; empty without a model.
        failures: what could not be measured, in words.
        model: the model as the configuration gives it, and ``parameters_without_vocabulary``; ``None`` without one.
        recommendation: the size to take over all corpora together; ``None`` without a corpus that counts.
        law: the sizes that the published law calls optimal; ``None`` without a model.
        measured: bits per byte of a small transformer at several sizes; ``None`` if none was asked for.
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
"""The block of the study."""
