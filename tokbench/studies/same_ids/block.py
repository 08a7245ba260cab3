"""What ``results.json`` keeps of tokenizers with other ids than their reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tokbench.results.study_blocks import BlockType


@dataclass(frozen=True, kw_only=True)
class IdDifference:
    """The first place where two tokenizers that should have the same ids differ."""

    position: int
    """The place, in characters."""
    text: str
    """The text from a little before the place on."""
    expected: list[tuple[int, str]]
    """``(id, text)`` of the reference's tokens there."""
    got: list[tuple[int, str]]
    """The same of the tokenizer."""


@dataclass(frozen=True, kw_only=True)
class TokenizerDifference:
    """A tokenizer with other ids than its reference, in one group."""

    tokenizer: str
    same_as: str
    """The tokenizer whose ids it should have."""
    corpus: str
    group: str
    compared: int
    """The number of documents that were compared."""
    documents: int
    """The number of those that differ."""
    origin: str
    """The first document that differs."""
    first: IdDifference | None = None
    """The difference of its ids, if it could be shown."""
    reason: str = ""
    """Why it could not be shown; empty if it is."""


DIFFERENCES: Final[BlockType[list[TokenizerDifference]]] = BlockType(study="same_ids", kind=list[TokenizerDifference])
