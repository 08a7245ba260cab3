"""The measured sizes of ``results.json``."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import fmean
from typing import Final, Literal

FEWEST_TOKENS: Final = 50
"""With fewer training tokens for an id, the text is too small."""


@dataclass(frozen=True, kw_only=True)
class TrainedSize:
    """One training of the small transformer: a size of a line, a body, a seed, and an amount of text.

    Attributes:
        line, vocab_size, body, seed: the place; ``body`` is a name of :attr:`MeasuredSizes.bodies`.
        share: the share of the training text, 0 to 1.
        n_bytes: its UTF-8 bytes.
        bits_per_byte: of the scored documents.
        tokens, flops: tokens predicted in training, and its floating-point operations.
        learning_rate: the highest one, chosen on a tenth of the text.
        seconds: wall time.
    """

    line: str
    vocab_size: int
    body: str
    seed: int
    share: float
    n_bytes: int
    bits_per_byte: float
    tokens: int
    flops: int
    learning_rate: float
    seconds: float


@dataclass(frozen=True, kw_only=True)
class TriedRates:
    """The search for the learning rate of one size and body.

    Attributes:
        line, vocab_size, body: the place.
        bits_per_byte: by learning rate, rising, on a tenth of the training text.
    """

    line: str
    vocab_size: int
    body: str
    bits_per_byte: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class BestMeasuredSize:
    """The measured sizes of a line under one body, at equal bytes or at equal FLOPs of training.

    Attributes:
        line, body: the place.
        equal: ``bytes`` or ``FLOPs``, the same for all sizes.
        amount: UTF-8 bytes of training text, or FLOPs of training.
        flops: FLOPs of the training at the best size.
        sizes: the measured sizes.
        values: bits per byte at each size, the mean over seeds.
        low, high: their 95 % intervals, from documents and seeds.
        best: the size with the fewest bits per byte.
        best_low, best_high: its 95 % interval.
        level: the best size and its ties.
        edge: ``smallest`` or ``largest`` if the best one is the first or last measured size.
        no_interval: why the interval is missing.
        law: the size by the published law, approach ``loss``, for this body and these FLOPs.
        law_caution: why that is an extrapolation.
    """

    line: str
    body: str
    equal: Literal["bytes", "FLOPs"]
    amount: float
    flops: float
    sizes: list[int]
    values: list[float]
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    best: int
    best_low: int | None = None
    best_high: int | None = None
    level: list[int] = field(default_factory=list)
    edge: str = ""
    no_interval: str = ""
    law: int
    law_caution: str = ""


@dataclass(frozen=True, kw_only=True)
class SizeMove:
    """The change of the best size from one setting to another, in doublings.

    Attributes:
        line: the line.
        body, amount: of the first setting: the body, and bytes or FLOPs.
        to_body, to_amount: of the second one.
        equal: ``bytes`` or ``FLOPs``, the same for all sizes of a setting.
        doublings: of the size where bits per byte are lowest, by a parabola inside the measured sizes.
        low, high: the 95 % interval.
        verdict: ``grows``, ``shrinks``, ``undecided`` if 0 is in the interval, ``unknown`` without one. If both best
            sizes have the same :attr:`BestMeasuredSize.edge`, the direction is unknown.
        law: doublings by the published law.
    """

    line: str
    body: str
    amount: float
    to_body: str
    to_amount: float
    equal: Literal["bytes", "FLOPs"]
    doublings: float
    low: float | None = None
    high: float | None = None
    verdict: str = "unknown"
    law: float = 0.0

    @property
    def settings(self) -> tuple[tuple[str, float], tuple[str, float]]:
        """Body and amount of each setting."""
        return (self.body, self.amount), (self.to_body, self.to_amount)


@dataclass(frozen=True, kw_only=True)
class MeasuredSizes:
    """Bits per byte of a small transformer, trained at several vocabulary sizes.

    Attributes:
        corpus: the corpus that is scored.
        train: the corpus that trains, perhaps the same.
        training_documents, training_bytes: the size of the training text.
        scored_documents, scored_bytes: the size of the scored text.
        duplicates: near-duplicates left out.
        bodies: by name, the parameters without the vocabulary; the smallest first.
        widths: by name.
        trained: every training.
        tried: the searches for learning rates.
        best: by line, body and amount.
        moves: with more text or FLOPs, and with a larger body.
        failures: what could not be measured, in words.
    """

    corpus: str
    train: str
    training_documents: int
    training_bytes: int
    scored_documents: int
    scored_bytes: int
    duplicates: int
    bodies: dict[str, int] = field(default_factory=dict)
    widths: dict[str, int] = field(default_factory=dict)
    trained: list[TrainedSize] = field(default_factory=list)
    tried: list[TriedRates] = field(default_factory=list)
    best: list[BestMeasuredSize] = field(default_factory=list)
    moves: list[SizeMove] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def decisive(self) -> list[BestMeasuredSize]:
        """By line, with its largest body, after the most text."""
        by_line: dict[str, BestMeasuredSize] = {}
        for candidate in (candidate for candidate in self.best if candidate.equal == "bytes"):
            by_line[candidate.line] = max(
                by_line.get(candidate.line, candidate),
                candidate,
                key=lambda best: (self.bodies[best.body], best.amount),
            )
        return list(by_line.values())

    def refusal(self, best: BestMeasuredSize) -> str:
        """Return why no size is called best in a setting."""
        if best.edge:
            return (
                f"{best.best:,} has the fewest bits per byte and is the {best.edge} size that was tried, so that the "
                "best one may lie beyond"
            )
        tokens = self.tokens_for_an_id(best)
        if tokens is not None and tokens < FEWEST_TOKENS:
            return (
                f"{best.best:,} has the fewest bits per byte and only {tokens:.0f} training tokens for an id, and "
                f"below {FEWEST_TOKENS} more text moves the best size"
            )
        return ""

    def tokens_for_an_id(self, best: BestMeasuredSize) -> float | None:
        """Return the training tokens for an id at the best size, if known."""
        place = best.line, best.body, best.best
        rows = [row for row in self.trained if (row.line, row.body, row.vocab_size) == place]
        if not rows:
            return None
        amounts = {row: row.n_bytes if best.equal == "bytes" else row.flops for row in rows}
        nearest = min(amounts.values(), key=lambda amount: abs(amount - best.amount))
        share = next(row.share for row, amount in amounts.items() if amount == nearest)
        return fmean(row.tokens for row in rows if row.share == share) / best.best
