"""The textbook loops of BPE, short and slow: the engine ``literal``, and the oracle of the tests.

A *chunk* is a piece of text that no merge crosses: a whole document in naive BPE, a match of the pre-tokenization split
otherwise. The functions here take chunks and do not split.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Literal

from tokbench.foundation.progress import silent
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


def count_merges(sequences: Iterable[Sequence[int]]) -> dict[Pair, int]:
    """Count how often each pair would be merged, in order of first occurrence.

    Only runs of one id differ from :func:`count_pairs`: three equal ids in a row are one merge.

    >>> count_merges([[97, 97, 97, 98], [97, 97, 97, 97]])
    {(97, 97): 3, (97, 98): 1}
    """
    counts: dict[Pair, int] = {}
    for ids in sequences:
        before: Pair | None = None
        for pair in pairwise(ids):
            if pair == before:  # merging that one takes the left half of this one
                before = None
            else:
                counts[pair] = counts.get(pair, 0) + 1
                before = pair
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


def train_literally(
    chunks: Iterable[bytes], vocab_size: int, tie: Tie = "first", on_merge: Callable[[Pair, int], None] = silent
) -> list[Pair]:
    """Merge the most frequent pair until the vocabulary is full or no pair is left.

    >>> train_literally([b"aaabdaaabac"], 259)
    [(97, 97), (256, 97), (257, 98)]
    """
    return continue_literally([list(chunk) for chunk in chunks], range(FIRST_MERGE, vocab_size), tie, on_merge)


def continue_literally(
    sequences: Sequence[Sequence[int]],
    ids: Iterable[int],
    tie: Tie = "first",
    on_merge: Callable[[Pair, int], None] = silent,
    allowed: Callable[[Pair], bool] = lambda _: True,
) -> list[Pair]:
    """Merge the most frequent pair again and again, from any ids on; fewer than ``ids`` if no pair is left.

    Encode with the merge of ``ab``, and learn one more:

    >>> encoded = [encode_literally(chunk, [(97, 98)]) for chunk in (b"ab abc", b"abc")]
    >>> continue_literally(encoded, [300])
    [(256, 99)]
    """
    merges: list[Pair] = []
    for made in ids:
        counts = {pair: count for pair, count in count_pairs(sequences).items() if allowed(pair)}
        if not counts:
            break
        best = most_frequent(counts, tie)
        sequences = [merge_pair(sequence, best, made) for sequence in sequences]
        merges.append(best)
        on_merge(best, counts[best])
    return merges


def encode_literally(chunk: bytes, merges: Sequence[Pair]) -> list[int]:
    """Encode one chunk with trained merges, in order of rank.

    >>> encode_literally(b"aaabdaaabac", [(97, 97), (256, 97), (257, 98)])
    [258, 100, 258, 97, 99]
    """
    rank_of = {pair: rank for rank, pair in enumerate(merges)}
    return merge_literally(list(chunk), rank_of, range(FIRST_MERGE, FIRST_MERGE + len(merges)))


def merge_literally(ids: list[int], rank_of: Mapping[Pair, int], made: Sequence[int]) -> list[int]:
    """Merge the pair of lowest rank until no pair of neighbours is a merge.

    >>> merge_literally([97, 97, 98], {(97, 97): 0, (256, 98): 1}, [256, 257])
    [257]
    """
    while present := [pair for pair in pairwise(ids) if pair in rank_of]:
        lowest = min(present, key=rank_of.__getitem__)
        ids = merge_pair(ids, lowest, made[rank_of[lowest]])
    return ids


def drop_literally(
    ids: list[int], rank_of: Mapping[Pair, int], made: Sequence[int], dropout: float, draw: Callable[[], float]
) -> list[int]:
    """Merge as BPE dropout does (Provilkov et al. 2020): before every merge each possible one may be dropped.

    The possible merges are visited by rank, equal ranks from left to right. A draw below ``dropout`` drops a merge. The
    first that is not dropped is done, and then all are possible again. Encoding ends when all were dropped.

    >>> draws = iter([0.05, 0.5])
    >>> drop_literally([97, 98, 97, 98], {(97, 98): 0}, [256], 0.1, lambda: next(draws, 0.0))
    [97, 98, 256]
    """
    while True:
        possible = [(rank_of[pair], start) for start, pair in enumerate(pairwise(ids)) if pair in rank_of]
        kept = next((merge for merge in sorted(possible) if draw() >= dropout), None)
        if kept is None:
            return ids
        rank, start = kept
        ids = [*ids[:start], made[rank], *ids[start + 2 :]]
