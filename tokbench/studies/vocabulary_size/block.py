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
        compression_ratio, ci_low, ci_high: bytes per token, with its 95% interval.
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
class SizeCost:
    """One size of a vocabulary.

    Attributes:
        vocab_size: the size.
        tokens_per_byte, cost: tokens and FLOPs of a byte of text, the weighted geometric mean over all texts.
    """

    vocab_size: int
    tokens_per_byte: float
    cost: float


@dataclass(frozen=True, kw_only=True)
class SizePick(SizeCost):
    """The size to train, of some sizes.

    Attributes:
        low, high: the smallest and the largest of them that cost at most 2% more than the best.
    """

    low: int
    high: int


@dataclass(frozen=True, kw_only=True)
class SizeAdvice:
    """The size of a line for a model, over all texts together.

    Attributes:
        model, line: their names.
        pick: of all sizes.
        inside: of those that the training text supports, if it supports any.
        best: the size of least cost, which ``pick`` rounds.
        largest: the largest size that is known.
        sizes, costs: FLOPs of a byte of text at some sizes, for a chart.
    """

    model: str
    line: str
    pick: SizePick
    inside: SizePick | None
    best: int
    largest: int
    sizes: list[int] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class VocabularySizes:
    """The results of a run on vocabulary sizes.

    Attributes:
        sizes: of the configuration.
        lines: the lines over sizes.
        rows: one for each size, line and group.
        curves: every size of a line on one group.
        losses: by lossy line and corpus.
        models: by name, the shape of the models for which sizes are advised.
        weights: by corpus, its share in the text; they add up to 1.
        advice: by model and line that this run trained, the cheapest line of a model first.
        whole: by model and published tokenizer that loses nothing and is no baseline, its cost at its own size.
        ends: by line that this run trained, why it has no larger size.
        training: by line that this run trained and by corpus, bytes of training text.
        left_out: by line that is not advised, the reason.
    """

    sizes: list[int] = field(default_factory=list)
    lines: list[SizeLine] = field(default_factory=list)
    rows: list[SizeRow] = field(default_factory=list)
    curves: list[PackedCurve] = field(default_factory=list)
    losses: list[SizeLoss] = field(default_factory=list)
    models: dict[str, dict[str, Any]] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)
    advice: list[SizeAdvice] = field(default_factory=list)
    whole: dict[str, dict[str, SizeCost]] = field(default_factory=dict)
    ends: dict[str, Literal["text", "file", "cap"]] = field(default_factory=dict)
    training: dict[str, dict[str, float]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def best(self) -> SizeAdvice | None:
        """The advice for the model in the middle, the one that charts mark."""
        first = {advice.model: advice for advice in reversed(self.advice)}
        models = [name for name in self.models if name in first]
        return first[models[len(models) // 2]] if models else None


VOCABULARY_SIZES: BlockType[VocabularySizes] = BlockType(study="vocabulary_size", kind=VocabularySizes, version=6)
