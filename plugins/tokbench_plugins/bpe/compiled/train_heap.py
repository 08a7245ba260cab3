"""Which pair comes next: the heap of the compiled trainer.

The heap holds the pairs that occur at least ``threshold`` times. When it is empty, the threshold falls to
half of the highest count, and all pairs are gone through for those that reach it. Counts of old pairs
never rise, so none is missed; and the great many rare pairs never enter the heap.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench_plugins.bpe.compiled.jit import compiled, inlined
from tokbench_plugins.bpe.compiled.train_text import COUNT, HEAP, KEY, PAIRS, START, THRESHOLD

__all__ = ["best_pair", "drop_best", "push"]

_RANK, _PAIR = 1, 2  # the columns of ``heap`` behind the count


@inlined
def _comes_first(count: Any, rank: Any, other_count: Any, other_rank: Any) -> Any:
    return count > other_count or (count == other_count and rank < other_rank)


@inlined
def _sink(heap: Any, size: Any, at: Any, count: Any, rank: Any, pair: Any) -> None:
    """Put an entry where ``at`` is free, or further down."""
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and _comes_first(heap[child + 1, 0], heap[child + 1, 1], heap[child, 0], heap[child, 1]):
            child += 1
        if not _comes_first(heap[child, 0], heap[child, _RANK], count, rank):
            break
        heap[at] = heap[child]
        at = child
    heap[at, 0], heap[at, _RANK], heap[at, _PAIR] = count, rank, pair


@inlined
def push(text: Any, row: Any, smallest: Any) -> None:
    """Enter a pair whose count has reached the threshold."""
    heap, pairs = text.heap, text.pairs
    count = pairs[row, COUNT]
    rank = pairs[row, KEY] if smallest else text.arena[pairs[row, START]]
    at = text.state[HEAP]
    text.state[HEAP] += 1
    while at > 0:
        parent = (at - 1) >> 1
        if not _comes_first(count, rank, heap[parent, 0], heap[parent, _RANK]):
            break
        heap[at] = heap[parent]
        at = parent
    heap[at, 0], heap[at, _RANK], heap[at, _PAIR] = count, rank, row


@inlined
def drop_best(text: Any) -> None:
    """Take the first entry out of the heap."""
    size = text.state[HEAP] - 1
    text.state[HEAP] = size
    if size:
        _sink(text.heap, size, 0, text.heap[size, 0], text.heap[size, _RANK], text.heap[size, _PAIR])


@compiled
def _refill(text: Any, smallest: Any) -> Any:
    """Lower the threshold and fill the empty heap; False if no pair is left."""
    highest = 0
    for row in range(text.state[PAIRS]):
        highest = max(highest, text.pairs[row, COUNT])
    text.state[THRESHOLD] = max(1, highest // 2)
    if highest:
        for row in range(text.state[PAIRS]):
            if text.pairs[row, COUNT] >= text.state[THRESHOLD]:
                push(text, row, smallest)
    return highest > 0


@compiled
def best_pair(text: Any, smallest: Any) -> Any:
    """The row of the pair to merge, which stays on top of the heap; -1 if no pair is left."""
    flat, pairs, heap, arena = text.flat, text.pairs, text.heap, text.arena
    while True:
        if text.state[HEAP] == 0 and not _refill(text, smallest):
            return -1
        row = heap[0, _PAIR]
        count = pairs[row, COUNT]
        if count < text.state[THRESHOLD]:
            drop_best(text)
            continue
        rank = pairs[row, KEY]
        if not smallest:
            left, right = rank >> 32, rank & 0xFFFF_FFFF
            width = text.widths[left]
            at = pairs[row, START]
            while flat[arena[at]] != left or flat[arena[at] + width] != right:
                at += 1
            pairs[row, START] = at
            rank = np.int64(arena[at])
        if heap[0, 0] == count and heap[0, _RANK] == rank:
            return row
        _sink(heap, text.state[HEAP], 0, count, rank, row)
