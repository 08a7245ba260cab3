"""What every format is read into and written from."""

from __future__ import annotations

from dataclasses import dataclass

from tokbench_plugins.bpe.fast.encode import merge_ids
from tokbench_plugins.bpe.special import NO_SPECIAL, SpecialTokens
from tokbench_plugins.bpe.vocabulary import Vocabulary

__all__ = ["Parts", "not_merged"]


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


def not_merged(vocabulary: Vocabulary) -> frozenset[int]:
    """Ids that the merges do not give to a chunk of exactly their bytes.

    >>> tokens = [bytes([byte]) for byte in range(256)] + [b"ab", b"abc", b"xyz"]
    >>> not_merged(Vocabulary(tuple(tokens), tuple(range(256)), ((97, 98, 256), (256, 99, 257))))
    frozenset({258})
    """
    rank_of = {(left, right): rank for rank, (left, right, _) in enumerate(vocabulary.merges)}
    made = [made for _, _, made in vocabulary.merges]
    single = vocabulary.byte_ids
    return frozenset(
        token_id
        for token_id, token in enumerate(vocabulary.tokens)
        if token and merge_ids([single[byte] for byte in token], rank_of, made) != [token_id]
    )
