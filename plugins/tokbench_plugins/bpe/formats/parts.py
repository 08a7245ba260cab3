"""The parts of a byte-level BPE, which every format reads and writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tokbench_plugins.bpe.special import NO_SPECIAL, SpecialTokens
from tokbench_plugins.bpe.vocabulary import Vocabulary


@dataclass(frozen=True)
class Parts:
    """A byte-level BPE in its parts."""

    vocabulary: Vocabulary

    pattern: str | None = None
    """A split's name or regular expression; ``None`` for naive BPE."""

    special: SpecialTokens = NO_SPECIAL
    """None of them is in ``vocabulary``."""

    notes: tuple[str, ...] = ()
    """What the file says besides, which changes no id of ordinary text."""

    roles: Mapping[str, str] = field(default_factory=dict)
    """Special tokens by what they are for: ``eos``, ``bos``, ``pad`` or ``unk``."""
