"""Checks which tokens their bytes are encoded as, and whether bare ranks describe a vocabulary."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from tokbench.plugin import has_numba
from tokbench_plugins.bpe.fast.encode import merge_ids
from tokbench_plugins.bpe.vocabulary import Vocabulary

_WORTH_COMPILED: Final = 1 << 18  # bytes of all tokens; below, numba takes longer to get ready
_HIGHEST_COMPILED: Final = (1 << 21) - 1  # ids; the tables of compiled encoding hold no more


def not_merged(vocabulary: Vocabulary) -> frozenset[int]:
    """Return the ids that the merges do not make of exactly their bytes.

    >>> tokens = [bytes([byte]) for byte in range(256)] + [b"ab", b"abc", b"xyz"]
    >>> not_merged(Vocabulary(tuple(tokens), tuple(range(256)), ((97, 98, 256), (256, 99, 257))))
    frozenset({258})
    """
    used = [token_id for token_id, token in enumerate(vocabulary.tokens) if token]
    return frozenset(
        token_id for token_id, given in zip(used, _encoded_alone(vocabulary, used), strict=True) if given != token_id
    )


def _encoded_alone(vocabulary: Vocabulary, token_ids: list[int]) -> Iterable[int]:
    tokens = vocabulary.tokens
    size = sum(len(tokens[token_id]) for token_id in token_ids)
    if size >= _WORTH_COMPILED and len(tokens) <= _HIGHEST_COMPILED and has_numba():
        from tokbench_plugins.bpe.compiled.encode import encoded_alone

        return encoded_alone(vocabulary, token_ids)
    rank_of = {(left, right): rank for rank, (left, right, _) in enumerate(vocabulary.merges)}
    made = [made for _, _, made in vocabulary.merges]
    single = vocabulary.byte_ids
    merged = (merge_ids([single[byte] for byte in tokens[token_id]], rank_of, made) for token_id in token_ids)
    return (ids[0] if len(ids) == 1 else -1 for ids in merged)


def is_canonical(vocabulary: Vocabulary) -> bool:
    """Return True if bare ranks describe a vocabulary wholly; tiktoken takes only these.

    Each token of several bytes is then made by one merge, in the order of the ids, and encoded as itself.

    >>> is_canonical(Vocabulary.trained([(97, 97), (256, 97), (257, 98)]))
    True
    >>> is_canonical(Vocabulary.trained([(97, 98), (98, 99), (97, 257)]))  # 'abc' becomes 'ab', 'c'
    False
    """
    made = [made for _, _, made in vocabulary.merges]
    if any(first >= second for first, second in pairwise(made)):
        return False
    if len(made) + len(vocabulary.byte_ids) + len(vocabulary.whole_chunks) != len(vocabulary.ranks):
        return False
    return not_merged(vocabulary).isdisjoint(made)
