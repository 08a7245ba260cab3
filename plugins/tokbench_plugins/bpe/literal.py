"""The textbook loops of BPE, short and slow: the oracle of the tests.

A *chunk* is a piece of text that no merge crosses: a whole document in naive BPE, a match of the pre-tokenization split
otherwise. The functions here take chunks and do not split.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Literal

from tokbench_plugins.bpe.vocabulary import FIRST_MERGE, Pair

Tie = Literal["first", "smallest"]
"""How ties between most frequent pairs are broken; see :func:`most_frequent`."""


def count_pairs(sequences: Iterable[Sequence[int]]) -> dict[Pair, int]:
    """Count the pairs of neighbours, in order of first occurrence.

    Pairs that overlap are all counted: three equal ids in a row are two pairs, but one merge.

    >>> count_pairs([[97, 97, 97, 98], [97, 98]])
    {(97, 97): 2, (97, 98): 2}
    """
    counts: dict[Pair, int] = {}
    for ids in sequences:
        for pair in pairwise(ids):
            counts[pair] = counts.get(pair, 0) + 1
    return counts


def merge_pair(ids: Sequence[int], pair: Pair, made: int) -> list[int]:
    """Replace every occurrence of ``pair`` by ``made``, from left to right.

    >>> merge_pair([97, 97, 97, 98, 97, 97], (97, 97), 256)
    [256, 97, 98, 256]
    """
    merged: list[int] = []
    i = 0
    while i < len(ids):
        if tuple(ids[i : i + 2]) == pair:
            merged.append(made)
            i += 2
        else:
            merged.append(ids[i])
            i += 1
    return merged


def most_frequent(counts: Mapping[Pair, int], tie: Tie = "first") -> Pair:
    """Return the pair to merge.

    A tie goes to the ``first`` in the current sequence, or to the ``smallest``, by its left id and then its right one.

    >>> counts = count_pairs([[98, 97, 99, 98, 97, 99]])
    >>> most_frequent(counts), most_frequent(counts, "smallest")
    ((98, 97), (97, 99))
    """
    if tie == "smallest":
        return min(counts, key=lambda pair: (-counts[pair], pair))
    return max(counts, key=counts.__getitem__)  # of equals, the first one in the dict


def train_literally(chunks: Iterable[bytes], vocab_size: int, tie: Tie = "first") -> list[Pair]:
    """Merge the most frequent pair until the vocabulary is full or no pair is left.

    >>> train_literally([b"aaabdaaabac"], 259)
    [(97, 97), (256, 97), (257, 98)]
    """
    sequences = [list(chunk) for chunk in chunks]
    merges: list[Pair] = []
    for made in range(FIRST_MERGE, vocab_size):
        counts = count_pairs(sequences)
        if not counts:
            break
        best = most_frequent(counts, tie)
        sequences = [merge_pair(sequence, best, made) for sequence in sequences]
        merges.append(best)
    return merges


def encode_literally(chunk: bytes, merges: Sequence[Pair]) -> list[int]:
    """Encode one chunk with trained merges, in order of rank.

    >>> encode_literally(b"aaabdaaabac", [(97, 97), (256, 97), (257, 98)])
    [258, 100, 258, 97, 99]
    """
    ids = list(chunk)
    rank_of = {pair: rank for rank, pair in enumerate(merges)}
    while present := [pair for pair in pairwise(ids) if pair in rank_of]:
        lowest = min(present, key=rank_of.__getitem__)
        ids = merge_pair(ids, lowest, FIRST_MERGE + rank_of[lowest])
    return ids
