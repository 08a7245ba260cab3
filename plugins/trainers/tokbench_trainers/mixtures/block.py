"""The block ``mixtures`` of ``results.json``."""

from __future__ import annotations

from dataclasses import dataclass

from tokbench.plugin.metrics import BlockType


@dataclass(frozen=True, kw_only=True)
class MixtureRow:
    """A vocabulary that was trained on a mixture.

    Attributes:
        mixture, pattern, vocab_size: the mixture, the split, and the size that was asked for.
        ids: the size that the text gave; less where no pair was left.
        tokens: by language.
    """

    mixture: str
    pattern: str
    vocab_size: int
    ids: int
    tokens: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class Mixtures:
    """The results of the study.

    Attributes:
        shares: by mixture and language, its share of the bytes of training; they add up to 1.
        text: by language, its share of the text on which all are compared; they add up to 1.
        bytes: by split and language, the bytes that were counted.
        rows: one for each mixture, split and size.
    """

    shares: dict[str, dict[str, float]]
    text: dict[str, float]
    bytes: dict[str, dict[str, int]]
    rows: list[MixtureRow]


MIXTURES: BlockType[Mixtures] = BlockType(study="mixtures", kind=Mixtures, version=1)
