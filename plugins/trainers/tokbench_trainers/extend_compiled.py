"""Training from encoded text, compiled: the merges of :func:`.continued.continue_merges`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tokbench import plugin
from tokbench_plugins.bpe import Pair, Tie
from tokbench_plugins.bpe.compiled.count import Counts
from tokbench_plugins.bpe.compiled.pairs import (
    ARENA,
    BLOCK,
    COUNT,
    DISJOINT,
    END,
    GAP,
    KEY,
    MADE,
    PAIRS,
    START,
    STATE,
    Text,
    best_pair,
    fill_table,
    forbid_best,
)
from tokbench_plugins.bpe.compiled.train import MOST_SLOTS, merge_all
from tokbench_trainers.continued import Learned


def continue_counts(
    chunks: Counts,
    made: range,
    progress: plugin.TrainProgress = plugin.silent,
    tie: Tie = "first",
    allowed: Callable[[Pair], bool] = lambda _: True,
    *,
    overlapping: bool = True,
) -> list[Learned]:
    """Learn merges as :func:`.continued.continue_merges`; the data of ``chunks`` are ids.

    >>> ids, offsets = np.array([256, 32, 256, 99, 256, 99], dtype=np.uint32), np.array([0, 4, 6])
    >>> continue_counts(Counts(ids, offsets, np.array([1, 1])), range(300, 301))
    [Learned(pair=(256, 99), times=2)]
    """
    if len(chunks.data) + len(chunks.counts) >= MOST_SLOTS:
        raise ValueError(
            f"{len(chunks.data):,} ids of different chunks are more than the {MOST_SLOTS:,} that can be trained on"
        )
    text = _laid_out(chunks, made)
    text.state[DISJOINT] = not overlapping
    pairs, text = merge_all(text, tie, progress, partial(_next, tie=tie, allowed=allowed))
    heads = text.flat >= 0  # a slot inside an id is a gap or a tail, which are negative
    weights = chunks.counts[_chunk_of_slot(chunks)[heads]]
    used = np.bincount(text.flat[heads], weights=weights, minlength=made.stop).astype(np.int64)
    # An id is in the text, or was merged into an id that was made later.
    for (left, right), token_id in zip(reversed(pairs), reversed(made[: len(pairs)]), strict=True):
        used[left] += used[token_id]
        used[right] += used[token_id]
    return [Learned(pair, int(used[token_id])) for pair, token_id in zip(pairs, made, strict=False)]


def _next(text: Text, *, tie: Tie, allowed: Callable[[Pair], bool]) -> int:
    """Drop pairs from the top of the heap until one may be merged; return the number of ids then."""
    while (row := best_pair(text, tie == "smallest")) >= 0:
        key = int(text.pairs[row, KEY])
        if allowed((key >> 32, key & 0xFFFF_FFFF)):
            break
        forbid_best(text, row)
    return int(text.state[MADE]) + 1


def _chunk_of_slot(chunks: Counts) -> NDArray[np.int64]:
    """Return the chunk of each slot: a gap before each chunk, and one behind the last."""
    chunk_of = np.repeat(np.arange(len(chunks.counts)), np.diff(chunks.offsets) + 1)
    return np.append(chunk_of, chunk_of[-1:] if len(chunk_of) else 0)


def _laid_out(chunks: Counts, made: range) -> Text:
    """Return the text with all its pairs; each id takes one slot, whatever its bytes are."""
    ids, offsets, counts = chunks
    chunk_of = _chunk_of_slot(chunks)
    flat = np.full(len(chunk_of), GAP, dtype=np.int32)
    flat[np.arange(len(ids)) + np.repeat(np.arange(len(counts)), np.diff(offsets)) + 1] = ids
    block_chunk = chunk_of[::BLOCK]
    positions = np.flatnonzero((flat[:-1] >= 0) & (flat[1:] >= 0))
    keys = flat[positions].astype(np.int64) << 32 | flat[positions + 1]
    order = np.argsort(keys, kind="stable")
    distinct, first, number = np.unique(keys[order], return_index=True, return_inverse=True)
    taken = len(distinct)
    rows = 1 << max(17, (max(2 * taken, flat.size // 4) - 1).bit_length())
    pairs = np.empty((rows, 4), np.int64)
    pairs[:taken, KEY] = distinct
    pairs[:taken, COUNT] = np.bincount(number, weights=counts[chunk_of[positions[order]]], minlength=taken)
    pairs[:taken, START] = first
    pairs[:taken, END] = np.append(first[1:], len(positions))
    arena = np.empty(max(2 * flat.size, 4 * len(positions)), np.int32)
    arena[: len(positions)] = positions[order]
    table = np.full(1 << max(18, (4 * taken).bit_length()), -1, np.int32)
    fill_table(pairs, taken, table)
    state = np.zeros(STATE, np.int64)
    state[MADE], state[PAIRS], state[ARENA] = made.start, taken, len(positions)
    return Text(
        flat=flat,
        block_chunk=block_chunk.astype(np.int32),
        later_chunk=(chunk_of - np.repeat(block_chunk, BLOCK)[: len(chunk_of)]).astype(np.uint8),
        weights=counts,
        widths=np.ones(made.stop, np.int32),
        pairs=pairs,
        table=table,
        arena=arena,
        heap=np.empty((rows, 3), np.int64),
        neighbour_counts=np.zeros((made.stop, 4), np.int64),
        neighbours=np.empty((2, made.stop), np.int32),
        merges=np.zeros(made.stop, np.int64),
        state=state,
    )
