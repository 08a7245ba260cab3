"""Finds the tokens that their bytes are not encoded as."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tokbench_plugins.bpe.fast.encode import merge_ids
from tokbench_plugins.bpe.vocabulary import Merge, Vocabulary


def not_merged(vocabulary: Vocabulary) -> frozenset[int]:
    """Return the ids that the merges do not make of exactly their bytes.

    >>> tokens = [bytes([byte]) for byte in range(256)] + [b"ab", b"abc", b"xyz"]
    >>> not_merged(Vocabulary(tuple(tokens), tuple(range(256)), ((97, 98, 256), (256, 99, 257))))
    frozenset({258})
    """
    single = vocabulary.byte_ids
    units = {i: [single[byte] for byte in token] for i, token in enumerate(vocabulary.tokens) if token}
    return not_built(units, vocabulary.merges)


def not_built(units: Mapping[int, Sequence[int]], merges: Sequence[Merge]) -> frozenset[int]:
    """Return the ids that merges do not make of exactly their units."""
    rank_of = {(left, right): rank for rank, (left, right, _) in enumerate(merges)}
    made = [made for _, _, made in merges]
    return frozenset(i for i, some in units.items() if merge_ids(list(some), rank_of, made) != [i])
