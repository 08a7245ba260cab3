"""Training as in :mod:`..fast.train`, idea by idea, but compiled by numba: the same merges.

**Text.** All chunks lie in one array, ``flat``, with a gap before and after each. An id that stands for ``w`` bytes
keeps ``w`` slots: the first holds the id, the last ``TAIL - id`` (the only slot of a single byte holds the id), and
those between mean nothing. So the next id begins ``w`` slots further on, and the slot before an id tells which id
ends there. No links are needed, and smaller positions are always earlier in the text.

**Heap.** The heap holds the pairs that occur at least ``threshold`` times. When it is empty, the threshold falls to
half of the highest count, and every pair that reaches it enters. Counts of old pairs never rise, so no pair is
missed, and the many rare pairs never enter the heap.

**Merging.** A merge goes through the positions of its pair twice: first it writes the new id and adds up its
neighbours, then it writes down the positions of their new pairs. In between, each *different* neighbour is looked
up once, however often it occurs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin import TrainProgress, compiled, inlined, silent
from tokbench_plugins.bpe.compiled.count import Counts, grown
from tokbench_plugins.bpe.literal import Tie
from tokbench_plugins.bpe.vocabulary import FIRST_MERGE, Pair

GAP: Final = -1
TAIL: Final = -2
KEY, COUNT, START, END = range(4)  # the columns of ``pairs``
MADE, PAIRS, ARENA, HEAP, THRESHOLD, STATE = range(6)  # the entries of ``state``, and their number
_FACTOR: Final = np.uint64(0x9E37_79B9_7F4A_7C15)
_MOST_SLOTS: Final = 2**31 - 1
_REPORTS: Final = 200  # calls of ``progress``, about; between two of them nothing can be interrupted


class Text(NamedTuple):
    """Everything the kernels know; n slots, v ids at most.

    Attributes:
        flat: int32[n], the ids.
        weighs: uint16[n] or uint32[n], which of ``weights`` the slot's chunk has.
        weights: int64[w], the different numbers of times that chunks occur.
        widths: int32[v], the number of bytes of each id.
        pairs: int64[p, 4]: (left << 32 | right, count, start and end in ``arena``).
        table: int32[t], a hash table with open addressing: rows of ``pairs``, or -1; t is a power of two.
        arena: int32[a], positions.
        heap: int64[p, 3]: (count, rank, row of ``pairs``), the highest count and then the lowest rank first.
        around: int64[v, 4], zeros between two merges: for each id that stands left of the pair to be
            merged how often in all and at how many positions; the same to the right.
        met: int32[2, v], the ids that stand left and right of it.
        merges: int64[v], the merged pairs as numbers.
        state: int64[5]: ids made, rows of ``pairs`` taken, of ``arena``, of ``heap``, the threshold.
    """

    flat: Any
    weighs: Any
    weights: Any
    widths: Any
    pairs: Any
    table: Any
    arena: Any
    heap: Any
    around: Any
    met: Any
    merges: Any
    state: Any


@inlined
def _slot(table: Any, key: Any) -> Any:
    mixed = np.uint64(key) * _FACTOR
    mixed = (mixed ^ mixed >> np.uint64(32)) * _FACTOR
    return np.int64((mixed >> np.uint64(20)) & np.uint64(table.size - 1))


@compiled
def fill_table(pairs: Any, taken: Any, table: Any) -> None:
    """Enter the first rows of ``pairs`` into an empty table."""
    for row in range(taken):
        slot = _slot(table, pairs[row, KEY])
        while table[slot] >= 0:
            slot = (slot + 1) & (table.size - 1)
        table[slot] = row


@compiled
def drop_stale(text: Any) -> None:
    """Move the positions that still hold together, in place: later rows have theirs further on in ``arena``."""
    flat, pairs, arena = text.flat, text.pairs, text.arena
    kept = 0
    for row in range(text.state[PAIRS]):
        left, right = pairs[row, KEY] >> 32, pairs[row, KEY] & 0xFFFF_FFFF
        start, end = pairs[row, START], pairs[row, END]
        pairs[row, START] = kept
        if pairs[row, COUNT]:
            width = text.widths[left]
            for at in range(start, end):
                position = arena[at]
                arena[kept] = position
                kept += flat[position] == left and flat[position + width] == right
        pairs[row, END] = kept
    text.state[ARENA] = kept


@inlined
def row_of(pairs: Any, table: Any, key: Any) -> Any:
    """Return the row of a pair, or -1 if it has none."""
    slot = _slot(table, key)
    while table[slot] >= 0 and pairs[table[slot], KEY] != key:
        slot = (slot + 1) & (table.size - 1)
    return table[slot]


@inlined
def find_pair(text: Any, key: Any) -> Any:
    """Return the row of a pair that has one."""
    slot = _slot(text.table, key)
    while text.pairs[text.table[slot], KEY] != key:
        slot = (slot + 1) & (text.table.size - 1)
    return text.table[slot]


@inlined
def new_pair(text: Any, key: Any, count: Any, positions: Any) -> Any:
    """Give a pair a row, with room for its positions, which are written later."""
    row = text.state[PAIRS]
    start = text.state[ARENA]
    text.pairs[row, KEY], text.pairs[row, COUNT] = key, count
    text.pairs[row, START], text.pairs[row, END] = start, start + positions
    slot = _slot(text.table, key)
    while text.table[slot] >= 0:
        slot = (slot + 1) & (text.table.size - 1)
    text.table[slot] = row
    text.state[PAIRS] = row + 1
    text.state[ARENA] = start + positions
    return row


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
    """Return the row of the pair to merge, which stays on top of the heap; -1 if no pair is left."""
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


_LEFT, _LEFT_AT, _RIGHT, _RIGHT_AT = range(4)  # the columns of ``around``
_BLOCK: Final = 1024  # positions gone through twice while the processor's cache still has them
DONE, EXHAUSTED, ARENA_FULL, PAIRS_FULL, TABLE_FULL = range(5)  # what merge_up_to returns


@compiled
def lay_out(data: Any, offsets: Any, weight_of: Any, flat: Any, weighs: Any) -> Any:
    """Spread the chunks that have any pair over ``flat``, and return the number of slots taken."""
    flat[0] = GAP
    slot = 1
    for chunk in range(weight_of.size):
        if offsets[chunk + 1] - offsets[chunk] > 1:
            for i in range(offsets[chunk], offsets[chunk + 1]):
                flat[slot] = data[i]
                weighs[slot] = weight_of[chunk]
                slot += 1
            flat[slot] = GAP
            slot += 1
    return slot


@compiled
def index_pairs(text: Any) -> None:
    """Count the pairs of bytes and write down where they are."""
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
            text.pairs[rows[pair], COUNT] += text.weights[text.weighs[position]]
            text.arena[nexts[pair]] = position
            nexts[pair] += 1


@inlined
def _replace(text: Any, row: Any, start: Any, end: Any, kept: Any, made: Any) -> Any:
    """Write ``made`` over a pair where it occurs, and return where the positions of that, from ``kept`` on, end."""
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


@inlined
def _look_around(text: Any, start: Any, end: Any, made: Any, beside: Any, lefts: Any, rights: Any) -> tuple[Any, Any]:
    """Add up which ids stand before and after ``made``, and keep the two of each position."""
    flat, around, met, arena = text.flat, text.around, text.met, text.arena
    width = text.widths[made]
    for at in range(start, end):
        position = arena[at]
        weight = text.weights[text.weighs[position]]
        before, after = flat[position - 1], flat[position + width]
        if before < GAP:
            before = TAIL - before
        if before == made:  # counted as the right neighbour of that one
            before = np.int32(GAP)
        arena[beside], arena[beside + 1] = before, after
        beside += 2
        if before != GAP:
            if around[before, _LEFT_AT] == 0:
                met[0, lefts] = before
                lefts += 1
            around[before, _LEFT] += weight
            around[before, _LEFT_AT] += 1
        if after != GAP:
            if around[after, _RIGHT_AT] == 0:
                met[1, rights] = after
                rights += 1
            around[after, _RIGHT] += weight
            around[after, _RIGHT_AT] += 1
    return lefts, rights


@compiled
def _update_pairs(text: Any, row: Any, made: Any, lefts: Any, rights: Any) -> None:
    """Lower the count of the pair that each neighbour formed before, and make the pair that it forms now.

    From here on the columns ``_LEFT_AT`` and ``_RIGHT_AT`` hold where the next position of that is written.
    """
    pairs, around = text.pairs, text.around
    left, right = pairs[row, KEY] >> 32, pairs[row, KEY] & 0xFFFF_FFFF
    for i in range(lefts):
        before = np.int64(text.met[0, i])
        pairs[find_pair(text, before << 32 | left), COUNT] -= around[before, _LEFT]
        new = new_pair(text, before << 32 | made, around[before, _LEFT], around[before, _LEFT_AT])
        around[before, _LEFT_AT] = pairs[new, START]
    for i in range(rights):
        after = np.int64(text.met[1, i])
        lost = left if after == made else after
        pairs[find_pair(text, right << 32 | lost), COUNT] -= around[after, _RIGHT]
        new = new_pair(text, made << 32 | after, around[after, _RIGHT], around[after, _RIGHT_AT])
        around[after, _RIGHT_AT] = pairs[new, START]


@compiled
def _write_down(text: Any, start: Any, end: Any, beside: Any) -> None:
    """Write down the positions of the new pairs."""
    arena, around = text.arena, text.around
    for at in range(start, end):
        before, after = arena[beside], arena[beside + 1]
        beside += 2
        if before != GAP:
            arena[around[before, _LEFT_AT]] = arena[at] - text.widths[before]
            around[before, _LEFT_AT] += 1
        if after != GAP:
            arena[around[after, _RIGHT_AT]] = arena[at]
            around[after, _RIGHT_AT] += 1


@compiled
def merge_row(text: Any, row: Any, made: Any, smallest: Any) -> Any:
    """Merge a pair everywhere, from left to right, and bring all counts and positions up to date.

    Returns:
        The end of the positions of ``made`` in ``arena``, which begin where those of the pair began.
    """
    start, last = text.pairs[row, START], text.pairs[row, END]
    text.widths[made] = text.widths[text.pairs[row, KEY] >> 32] + text.widths[text.pairs[row, KEY] & 0xFFFF_FFFF]
    beside = text.state[ARENA] + 2 * (last - start)  # behind all new positions
    end = seen = start
    lefts = rights = 0
    for block in range(start, last, _BLOCK):
        end = _replace(text, row, block, min(block + _BLOCK, last), end, made)
        # The last one waits: the id to its right may be replaced with the next block.
        ready = max(seen, end - 1)
        lefts, rights = _look_around(text, seen, ready, made, beside + 2 * (seen - start), lefts, rights)
        seen = ready
    lefts, rights = _look_around(text, seen, end, made, beside + 2 * (seen - start), lefts, rights)
    fresh = text.state[PAIRS]
    _update_pairs(text, row, made, lefts, rights)
    _write_down(text, start, end, beside)
    for i in range(lefts):
        text.around[text.met[0, i]] = 0
    for i in range(rights):
        text.around[text.met[1, i]] = 0
    text.pairs[row, COUNT] = 0
    for new in range(fresh, text.state[PAIRS]):
        if text.pairs[new, COUNT] >= text.state[THRESHOLD]:
            push(text, new, smallest)
    return end


@compiled
def merge_up_to(text: Any, until: Any, smallest: Any) -> Any:
    """Merge until ``until`` ids are made, no pair is left, or an array may be too small for the next merge."""
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
        merge_row(text, row, made, smallest)
        text.state[MADE] = made + 1
    return DONE


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
    text = _laid_out(counts, max(vocab_size, FIRST_MERGE))
    del counts  # frees the memory, if the caller has not kept them
    index_pairs(text)
    return merge_all(text, tie, progress)[0]


def merge_all(
    text: Text, tie: Tie, progress: TrainProgress, before_each: Callable[[Text], int] | None = None
) -> tuple[list[Pair], Text]:
    """Merge until there are as many ids as there is room for, or no pair is left; return the merges and the text."""
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
    return pairs_of(merges), text


def pairs_of(keys: NDArray[np.int64]) -> list[Pair]:
    """Return the pairs that are written as numbers."""
    return list(zip((keys >> 32).tolist(), (keys & 0xFFFF_FFFF).tolist(), strict=True))


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
    slots = lay_out(counts.data, counts.offsets, weight_of, flat, weighs)
    rows = 1 << max(17, (slots // 4 - 1).bit_length())  # twice as many as there are pairs of bytes, at least
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


def _with_more_room(text: Text, lacking: int) -> Text:
    """Return the text with more room for positions, for pairs, or to find pairs."""
    if lacking == ARENA_FULL:
        before = int(text.state[ARENA])
        drop_stale(text)
        left = int(text.state[ARENA])
        # If this gains little, the array must grow: otherwise this is repeated, at worst without end.
        return text if 2 * left <= before else text._replace(arena=grown(text.arena, left))
    taken = int(text.state[PAIRS])
    if lacking == TABLE_FULL:
        table = np.full(2 * text.table.size, -1, np.int32)
        fill_table(text.pairs, taken, table)
        return text._replace(table=table)
    heap = grown(text.heap, int(text.state[HEAP]))
    return text._replace(pairs=grown(text.pairs, taken), heap=heap)
