"""The parts of a byte-level BPE: every format is read into them and written from them."""

from __future__ import annotations

from dataclasses import dataclass

from tokbench_plugins.bpe.special import NO_SPECIAL, SpecialTokens
from tokbench_plugins.bpe.vocabulary import Vocabulary


@dataclass(frozen=True)
class Parts:
    """A byte-level BPE in its parts.

    Attributes:
        vocabulary: the tokens and merges.
        pattern: the pre-tokenization split, a name or a regular expression; ``None`` for naive BPE.
        special: the special tokens; none of them is in ``vocabulary``.
        notes: what a file says besides, which changes no id of ordinary text, and which is left out.
    """

    vocabulary: Vocabulary
    pattern: str | None = None
    special: SpecialTokens = NO_SPECIAL
    notes: tuple[str, ...] = ()
