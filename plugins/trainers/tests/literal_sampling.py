"""The textbook loop of BPE dropout, short and slow: the oracle of the tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from tokbench_plugins.bpe import Pair


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
