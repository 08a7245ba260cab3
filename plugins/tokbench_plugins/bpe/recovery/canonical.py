"""Finds the tokens that their bytes are not encoded as."""

from __future__ import annotations

from tokbench_plugins.bpe.fast.encode import merge_ids
from tokbench_plugins.bpe.vocabulary import Vocabulary


def not_merged(vocabulary: Vocabulary) -> frozenset[int]:
    """Return the ids that the merges do not make of exactly their bytes.

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
