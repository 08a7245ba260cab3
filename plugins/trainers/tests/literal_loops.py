"""Textbook loops that several trainers share: the oracles of the tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tokbench_plugins.bpe.literal import Tie, count_pairs, merge_pair, most_frequent
from tokbench_plugins.bpe.vocabulary import Pair


def continue_literally(
    sequences: Sequence[Sequence[int]],
    ids: Iterable[int],
    tie: Tie = "first",
    on_merge: Callable[[Pair], None] = lambda _: None,
    allowed: Callable[[Pair], bool] = lambda _: True,
) -> list[Pair]:
    """Merge the most frequent pair again and again, from any ids on; fewer than ``ids`` if no pair is left.

    Encode with the merge of ``ab``, and learn one more:

    >>> from tokbench_plugins.bpe.literal import encode_literally
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
        on_merge(best)
    return merges
