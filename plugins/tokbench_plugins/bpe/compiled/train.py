"""Training as in :mod:`..fast.train`, idea by idea, but compiled by numba (see ``train_kernels``): the same merges."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin import TrainProgress, silent
from tokbench_plugins.bpe.compiled import train_kernels as kernels
from tokbench_plugins.bpe.compiled.count import Counts
from tokbench_plugins.bpe.compiled.train_kernels import ARENA, HEAP, MADE, PAIRS, STATE, Text
from tokbench_plugins.bpe.literal import Tie
from tokbench_plugins.bpe.vocabulary import FIRST_MERGE, Pair

_MOST_SLOTS: Final = 2**31 - 1
_REPORTS: Final = 200  # calls of ``progress``, about; between two of them nothing can be interrupted


def train_counts(counts: Counts, vocab_size: int, tie: Tie = "first", progress: TrainProgress = silent) -> list[Pair]:
    """Train on chunks that are already counted.

    Args:
        counts: the chunks in the order in which they first occur.
        vocab_size: number of ids to reach, the 256 bytes included.
        tie: which of several most frequent pairs; see :func:`..literal.most_frequent`.
        progress: called with (merges done, merges in all).

    Returns:
        At most ``vocab_size - 256`` merges in order of rank.

    Raises:
        ValueError: the different chunks have two gigabytes or more.

    >>> train_counts(Counts.of({"aab": 2, "ab": 3}), 258)
    [(97, 98), (97, 256)]
    """
    total = max(0, vocab_size - FIRST_MERGE)
    stride = max(1, total // _REPORTS)
    progress(0, total)
    text = _laid_out(counts, FIRST_MERGE + total)
    del counts  # frees the memory, if the caller has not kept them
    kernels.index_pairs(text)
    outcome = kernels.DONE
    while outcome != kernels.EXHAUSTED and text.state[MADE] < vocab_size:
        until = min(int(text.state[MADE]) + stride, vocab_size)
        while (outcome := kernels.merge_up_to(text, until, tie == "smallest")) >= kernels.ARENA_FULL:
            text = _with_more_room(text, outcome)
        progress(int(text.state[MADE]) - FIRST_MERGE, total)
    merges = text.merges[FIRST_MERGE : text.state[MADE]]
    progress(merges.size, merges.size)
    return list(zip((merges >> 32).tolist(), (merges & 0xFFFF_FFFF).tolist(), strict=True))


def _laid_out(counts: Counts, ids: int) -> Text:
    """Return the arrays, with no pairs in them yet."""
    most = counts.data.size + counts.counts.size + 1
    if most > _MOST_SLOTS:
        raise ValueError(f"{most:,} bytes of different chunks are more than the {_MOST_SLOTS:,} that can be trained on")
    # There are few different weights; two bytes say which of them it is.
    weights, weight_of = np.unique(counts.counts, return_inverse=True)
    weight_of = weight_of.astype(np.uint16 if weights.size <= 1 << 16 else np.uint32)
    # The system gives memory only where something is written, so there is room to spare.
    flat, weighs = np.empty(most, np.int32), np.empty(most, weight_of.dtype)
    slots = kernels.lay_out(counts.data, counts.offsets, weight_of, flat, weighs)
    rows = max(1 << 17, _power_of_two(slots // 4))  # twice as many as there are pairs of bytes, at least
    state = np.zeros(STATE, np.int64)
    state[MADE] = FIRST_MERGE
    return Text(
        flat=flat[:slots],
        weighs=weighs[:slots],
        weights=weights,
        widths=np.ones(ids, np.int32),
        pairs=np.empty((rows, 4), np.int64),
        table=np.full(1 << 18, -1, np.int32),
        arena=np.empty(2 * slots, np.int32),
        heap=np.empty((rows, 3), np.int64),
        around=np.zeros((ids, 4), np.int64),
        met=np.empty((2, ids), np.int32),
        merges=np.zeros(ids, np.int64),
        state=state,
    )


def _power_of_two(least: int) -> int:
    """Return the smallest power of two that is at least ``least``.

    >>> _power_of_two(5), _power_of_two(8)
    (8, 8)
    """
    return 1 << max(0, least - 1).bit_length()


def _with_more_room(text: Text, lacking: int) -> Text:
    """Return the text with more room for positions, for pairs, or to find pairs."""
    if lacking == kernels.ARENA_FULL:
        before = int(text.state[ARENA])
        kernels.drop_stale(text)
        left = int(text.state[ARENA])
        # If this gains little, the array must grow: otherwise this is repeated, at worst without end.
        return text if 2 * left <= before else text._replace(arena=_grown(text.arena, left))
    taken = int(text.state[PAIRS])
    if lacking == kernels.TABLE_FULL:
        table = np.full(2 * text.table.size, -1, np.int32)
        kernels.fill_table(text.pairs, taken, table)
        return text._replace(table=table)
    heap = _grown(text.heap, int(text.state[HEAP]))
    return text._replace(pairs=_grown(text.pairs, taken), heap=heap)


def _grown(array: NDArray[Any], used: int) -> NDArray[Any]:
    """Copy the used part of an array into one of twice the size; the rest takes no memory yet."""
    grown = np.empty((2 * array.shape[0], *array.shape[1:]), array.dtype)
    grown[:used] = array[:used]
    return grown
