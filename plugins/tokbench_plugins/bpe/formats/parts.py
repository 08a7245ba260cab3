"""The parts of a byte-level BPE: every format is read into them and written from them."""

from __future__ import annotations

from dataclasses import dataclass

from tokbench_plugins.bpe.special import NO_SPECIAL, SpecialTokens
from tokbench_plugins.bpe.vocabulary import Vocabulary


@dataclass(frozen=True)
class Parts:
    """A byte-level BPE in its parts."""

    vocabulary: Vocabulary
    """The tokens and merges."""

    pattern: str | None = None
    """The pre-tokenization split, a name or a regular expression; ``None`` for naive BPE."""

    special: SpecialTokens = NO_SPECIAL
    """The special tokens; none of them is in ``vocabulary``."""

    notes: tuple[str, ...] = ()
    """The rest of the file, which changes no id of ordinary text and is left out."""
