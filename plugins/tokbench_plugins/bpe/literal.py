"""BPE to the letter: the loops of the literature, and the oracle of the tests.

The slow way, on purpose: training counts every pair anew for every merge, encoding searches the whole
sequence anew for every merge. Nothing here is used by a backend; :mod:`tokbench_plugins.bpe.fast.train` and
:mod:`tokbench_plugins.bpe.fast.encode` must give the same merges and the same ids, faster.

A *chunk* is a piece of text that no merge crosses: a whole document for naive BPE, a match of the
pre-tokenization split otherwise. Where the chunks come from is not this file's business.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Literal

from tokbench_plugins.bpe.vocabulary import FIRST_MERGE, Pair

__all__ = ["Tie", "count_pairs", "encode_literally", "merge_pair", "most_frequent", "train_literally"]

Tie = Literal["first", "smallest"]
"""Which of several most frequent pairs is merged; see :func:`most_frequent`."""


def count_pairs(sequences: Iterable[Sequence[int]]) -> dict[Pair, int]:
    """How often each pair of neighbours occurs, in the order in which the pairs first occur.

    Pairs that overlap are all counted: three equal ids in a row are two pairs, though only one of
    them can be merged.

    >>> count_pairs([[97, 97, 97, 98], [97, 98]])
    {(97, 97): 2, (97, 98): 2}
    """
    counts: dict[Pair, int] = {}
    for ids in sequences:
        for pair in pairwise(ids):
            counts[pair] = counts.get(pair, 0) + 1
    return counts


def merge_pair(ids: Sequence[int], pair: Pair, made: int) -> list[int]:
    """The sequence with every occurrence of ``pair`` replaced by ``made``, from left to right.

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
    """The pair to merge.

    Args:
        counts: as :func:`count_pairs` gives them; not empty.
        tie: who wins among the most frequent: the pair that occurs ``first`` in the current sequence, or
            the ``smallest`` one, by its left id and then its right one.

    >>> counts = count_pairs([[98, 97, 99, 98, 97, 99]])
    >>> most_frequent(counts), most_frequent(counts, "smallest")
    ((98, 97), (97, 99))
    """
    if tie == "smallest":
        return min(counts, key=lambda pair: (-counts[pair], pair))
    return max(counts, key=counts.__getitem__)  # of equals, the first one in the dict


def train_literally(chunks: Iterable[bytes], vocab_size: int, tie: Tie = "first") -> list[Pair]:
    """Merge the most frequent pair until the vocabulary is full or no pair is left.

    A pair that occurs once is merged like any other.

    Args:
        chunks: the training text, as UTF-8.
        vocab_size: number of ids to reach, the 256 bytes included.
        tie: which of several most frequent pairs; see :func:`most_frequent`.

    Returns:
        At most ``vocab_size - 256`` merges in order of rank.

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
        sequences = [merge_pair(ids, best, made) for ids in sequences]
        merges.append(best)
    return merges


def encode_literally(chunk: bytes, merges: Sequence[Pair]) -> list[int]:
    """Merge the pair of lowest rank until none of the pairs present is a merge.

    Args:
        chunk: one chunk of text, as UTF-8.
        merges: the merges in order of rank.

    Returns:
        The ids of the chunk.

    >>> encode_literally(b"aaabdaaabac", [(97, 97), (256, 97), (257, 98)])
    [258, 100, 258, 97, 99]
    """
    made_by = {pair: FIRST_MERGE + rank for rank, pair in enumerate(merges)}
    ids = list(chunk)
    while present := [pair for pair in pairwise(ids) if pair in made_by]:
        lowest = min(present, key=made_by.__getitem__)
        ids = merge_pair(ids, lowest, made_by[lowest])
    return ids
