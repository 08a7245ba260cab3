"""Training as in :mod:`..fast.train`, with the same merges, compiled by numba.

**Text.** All chunks are in one array, ``flat``, with a gap before and after each. An id of ``w`` bytes keeps ``w``
slots: the first holds the id, the last ``TAIL - id`` (the only slot of a single byte holds the id).

**Heap.** The heap holds the pairs that occur at least ``threshold`` times. When it is empty, the threshold falls to
half of the highest count. Counts of old pairs never rise, so this misses no pair.

**Merging.** A merge writes the new id and counts its neighbours, looks each *different* neighbour up once, and writes
the positions of their new pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from tokbench.foundation.jit import compiled, inlined
from tokbench.foundation.progress import silent
from tokbench.tokenizers.backend import TrainProgress
from tokbench_plugins.bpe.compiled.count import Counts, grown
from tokbench_plugins.bpe.compiled.pairs import (
    ARENA,
    BLOCK,
    COUNT,
    END,
    GAP,
    HEAP,
    KEY,
    MADE,
    PAIRS,
    START,
    STATE,
    TAIL,
    THRESHOLD,
    Text,
    best_pair,
    drop_best,
    drop_stale,
    fill_table,
    find_pair,
    new_pair,
    pairs_of,
    push,
    weight_at,
)
from tokbench_plugins.bpe.literal import Tie
from tokbench_plugins.bpe.vocabulary import FIRST_MERGE, Pair

MOST_SLOTS: Final = 2**31 - 1
"""The bytes of different chunks, and one more for each."""
_REPORTS: Final = 200  # calls of ``progress``, about; between two of them nothing can be interrupted


_LEFT, _LEFT_AT, _RIGHT, _RIGHT_AT = range(4)  # the columns of ``neighbour_counts``
_TOGETHER: Final = 1024  # positions gone through twice while the processor's cache still has them
DONE, EXHAUSTED, ARENA_FULL, PAIRS_FULL, TABLE_FULL = range(5)  # what merge_up_to returns


@compiled
def lay_out(data: Any, offsets: Any, flat: Any, block_chunk: Any, later_chunk: Any) -> Any:
    """Spread the chunks of two bytes or more over ``flat``, and return the number of slots used."""
    flat[0], block_chunk[0], later_chunk[0] = GAP, 0, 0
    slot, laid = 1, 0
    for chunk in range(offsets.size - 1):
        if offsets[chunk + 1] - offsets[chunk] > 1:
            for i in range(offsets[chunk], offsets[chunk + 1] + 1):
                flat[slot] = data[i] if i < offsets[chunk + 1] else GAP
                if slot % BLOCK == 0:
                    block_chunk[slot // BLOCK] = laid
                later_chunk[slot] = laid - block_chunk[slot // BLOCK]
                slot += 1
            laid += 1
    return slot


@compiled
def index_pairs(text: Any) -> None:
    """Count the pairs of bytes and record their positions."""
    flat = text.flat
    rows, nexts = np.zeros(65536, np.int64), np.zeros(65536, np.int64)
    for position in range(1, flat.size - 1):
        if flat[position] >= 0 and flat[position + 1] >= 0:
            rows[flat[position] << 8 | flat[position + 1]] += 1
    for pair in range(65536):
        if rows[pair]:
            rows[pair] = new_pair(text, (pair >> 8) << 32 | (pair & 255), 0, rows[pair])
            nexts[pair] = text.pairs[rows[pair], START]
    for position in range(1, flat.size - 1):
        if flat[position] >= 0 and flat[position + 1] >= 0:
            pair = flat[position] << 8 | flat[position + 1]
            text.pairs[rows[pair], COUNT] += weight_at(text, position)
            text.arena[nexts[pair]] = position
            nexts[pair] += 1


@inlined
def _replace(text: Any, row: Any, start: Any, end: Any, kept: Any, made: Any) -> Any:
    flat, arena = text.flat, text.arena
    left, right = text.pairs[row, KEY] >> 32, text.pairs[row, KEY] & 0xFFFF_FFFF
    shift, width = text.widths[left], text.widths[made]
    for at in range(start, end):
        position = arena[at]
        # False if out of date, or if both halves are equal and the left one was just merged: 'aaa'.
        if flat[position] == left and flat[position + shift] == right:
            flat[position + shift] = GAP  # any slot inside an id: neither an id nor a tail is read there
            flat[position + width - 1] = TAIL - made
            flat[position] = made
            arena[kept] = position
            kept += 1
    return kept


class NeighbourCounts(NamedTuple):
    """Numbers of different neighbours."""

    lefts: Any

    rights: Any


@inlined
def _look_around(text: Any, start: Any, end: Any, made: Any, beside: Any, met: Any) -> Any:
    lefts, rights = met.lefts, met.rights
    flat, neighbour_counts, neighbours, arena = text.flat, text.neighbour_counts, text.neighbours, text.arena
    width = text.widths[made]
    for at in range(start, end):
        position = arena[at]
        weight = weight_at(text, position)
        before, after = flat[position - 1], flat[position + width]
        if before < GAP:
            before = TAIL - before
        if before == made:  # counted as the right neighbour of that one
            before = np.int32(GAP)
        arena[beside], arena[beside + 1] = before, after
        beside += 2
        if before != GAP:
            if neighbour_counts[before, _LEFT_AT] == 0:
                neighbours[0, lefts] = before
                lefts += 1
            neighbour_counts[before, _LEFT] += weight
            neighbour_counts[before, _LEFT_AT] += 1
        if after != GAP:
            if neighbour_counts[after, _RIGHT_AT] == 0:
                neighbours[1, rights] = after
                rights += 1
            neighbour_counts[after, _RIGHT] += weight
            neighbour_counts[after, _RIGHT_AT] += 1
    return NeighbourCounts(lefts, rights)


@compiled
def _update_pairs(text: Any, row: Any, made: Any, lefts: Any, rights: Any) -> None:
    """The columns ``_LEFT_AT`` and ``_RIGHT_AT`` then hold where the next position of the new pair is written."""
    pairs, neighbour_counts = text.pairs, text.neighbour_counts
    left, right = pairs[row, KEY] >> 32, pairs[row, KEY] & 0xFFFF_FFFF
    for i in range(lefts):
        before = np.int64(text.neighbours[0, i])
        pairs[find_pair(text, before << 32 | left), COUNT] -= neighbour_counts[before, _LEFT]
        new = new_pair(text, before << 32 | made, neighbour_counts[before, _LEFT], neighbour_counts[before, _LEFT_AT])
        neighbour_counts[before, _LEFT_AT] = pairs[new, START]
    for i in range(rights):
        after = np.int64(text.neighbours[1, i])
        lost = left if after == made else after
        pairs[find_pair(text, right << 32 | lost), COUNT] -= neighbour_counts[after, _RIGHT]
        new = new_pair(text, made << 32 | after, neighbour_counts[after, _RIGHT], neighbour_counts[after, _RIGHT_AT])
        neighbour_counts[after, _RIGHT_AT] = pairs[new, START]


@compiled
def _write_down(text: Any, start: Any, end: Any, beside: Any) -> None:
    arena, neighbour_counts = text.arena, text.neighbour_counts
    for at in range(start, end):
        before, after = arena[beside], arena[beside + 1]
        beside += 2
        if before != GAP:
            arena[neighbour_counts[before, _LEFT_AT]] = arena[at] - text.widths[before]
            neighbour_counts[before, _LEFT_AT] += 1
        if after != GAP:
            arena[neighbour_counts[after, _RIGHT_AT]] = arena[at]
            neighbour_counts[after, _RIGHT_AT] += 1


@compiled
def _merge_row(text: Any, row: Any, made: Any, smallest: Any) -> None:
    start, last = text.pairs[row, START], text.pairs[row, END]
    text.widths[made] = text.widths[text.pairs[row, KEY] >> 32] + text.widths[text.pairs[row, KEY] & 0xFFFF_FFFF]
    beside = text.state[ARENA] + 2 * (last - start)  # behind all new positions
    end = seen = start
    met = NeighbourCounts(0, 0)
    for block in range(start, last, _TOGETHER):
        end = _replace(text, row, block, min(block + _TOGETHER, last), end, made)
        # The last one waits: the id to its right may be replaced with the next block.
        ready = max(seen, end - 1)
        met = _look_around(text, seen, ready, made, beside + 2 * (seen - start), met)
        seen = ready
    lefts, rights = _look_around(text, seen, end, made, beside + 2 * (seen - start), met)
    fresh = text.state[PAIRS]
    _update_pairs(text, row, made, lefts, rights)
    _write_down(text, start, end, beside)
    for i in range(lefts):
        text.neighbour_counts[text.neighbours[0, i]] = 0
    for i in range(rights):
        text.neighbour_counts[text.neighbours[1, i]] = 0
    text.pairs[row, COUNT] = 0
    for new in range(fresh, text.state[PAIRS]):
        if text.pairs[new, COUNT] >= text.state[THRESHOLD]:
            push(text, new, smallest)


@compiled
def merge_up_to(text: Any, until: Any, smallest: Any) -> Any:
    """Merge until ``until`` ids are made, no pair is left, or an array may be too small."""
    while text.state[MADE] < until:
        row = best_pair(text, smallest)
        if row < 0:
            return EXHAUSTED
        most = 2 * (text.pairs[row, END] - text.pairs[row, START])
        if text.state[ARENA] + 2 * most > text.arena.size:
            return ARENA_FULL
        pairs = text.state[PAIRS] + min(most, 2 * text.state[MADE] + 2)
        if pairs > text.pairs.shape[0]:
            return PAIRS_FULL
        if 2 * pairs > text.table.size:
            return TABLE_FULL
        drop_best(text)
        made = text.state[MADE]
        text.merges[made] = text.pairs[row, KEY]
        _merge_row(text, row, made, smallest)
        text.state[MADE] = made + 1
    return DONE


def train_counts(counts: Counts, vocab_size: int, tie: Tie = "first", progress: TrainProgress = silent) -> list[Pair]:
    """Train on counted chunks.

    >>> train_counts(Counts.of({"aab": 2, "ab": 3}), 258)
    [(97, 98), (97, 256)]
    """
    text = _laid_out(counts, max(vocab_size, FIRST_MERGE))
    del counts  # frees the memory, if the caller has not kept them
    index_pairs(text)
    return merge_all(text, tie, progress).pairs


class MergedText(NamedTuple):
    """Merges in order of rank, and the text with all of them done."""

    pairs: list[Pair]

    text: Text


def merge_all(
    text: Text, tie: Tie, progress: TrainProgress, before_each: Callable[[Text], int] | None = None
) -> MergedText:
    """Merge until there are as many ids as there is room for, or no pair is left."""
    first, last = int(text.state[MADE]), text.merges.size
    stride = max(1, (last - first) // _REPORTS)
    progress(0, last - first)
    outcome = DONE
    while outcome != EXHAUSTED and text.state[MADE] < last:
        until = min(int(text.state[MADE]) + stride, last)
        if before_each is not None:
            until = before_each(text)
        while (outcome := merge_up_to(text, until, tie == "smallest")) >= ARENA_FULL:
            text = _with_more_room(text, outcome)
        progress(int(text.state[MADE]) - first, last - first)
    merges = text.merges[first : text.state[MADE]]
    progress(merges.size, merges.size)
    return MergedText(pairs_of(merges), text)


def _laid_out(counts: Counts, ids: int) -> Text:
    most = counts.data.size + counts.counts.size + 1
    if most > MOST_SLOTS:
        raise ValueError(f"{most:,} bytes of different chunks are more than the {MOST_SLOTS:,} that can be trained on")
    # The system gives memory only where something is written, so there is room to spare.
    flat, later_chunk = np.empty(most, np.int32), np.empty(most, np.uint8)
    block_chunk = np.empty(most // BLOCK + 1, np.int32)
    slots = lay_out(counts.data, counts.offsets, flat, block_chunk, later_chunk)
    rows = 1 << max(17, (slots // 4 - 1).bit_length())  # twice as many as there are pairs of bytes, at least
    state = np.zeros(STATE, np.int64)
    state[MADE] = FIRST_MERGE
    return Text(
        flat=flat[:slots],
        block_chunk=block_chunk,
        later_chunk=later_chunk[:slots],
        weights=counts.counts[np.diff(counts.offsets) > 1],
        widths=np.ones(ids, np.int32),
        pairs=np.empty((rows, 4), np.int64),
        table=np.full(1 << 18, -1, np.int32),
        arena=np.empty(3 * slots // 2 + 1, np.int32),
        heap=np.empty((rows, 3), np.int64),
        neighbour_counts=np.zeros((ids, 4), np.int64),
        neighbours=np.empty((2, ids), np.int32),
        merges=np.zeros(ids, np.int64),
        state=state,
    )


def _with_more_room(text: Text, lacking: int) -> Text:
    if lacking == ARENA_FULL:
        before = int(text.state[ARENA])
        drop_stale(text)
        left = int(text.state[ARENA])
        # If this gains little, the array must grow: otherwise this is repeated, at worst without end.
        return text if 4 * left <= 3 * before else text._replace(arena=grown(text.arena, left))
    taken = int(text.state[PAIRS])
    if lacking == TABLE_FULL:
        table = np.full(2 * text.table.size, -1, np.int32)
        fill_table(text.pairs, taken, table)
        return text._replace(table=table)
    heap = grown(text.heap, int(text.state[HEAP]))
    return text._replace(pairs=grown(text.pairs, taken), heap=heap)
