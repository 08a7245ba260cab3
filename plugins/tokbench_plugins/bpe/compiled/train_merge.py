"""Merging, compiled: the text, the counts and the positions of all pairs are kept up to date.

A merge goes through its pair's positions twice: to write the new id and add up its neighbours, and to
write down where their new pairs are. In between, each *different* neighbour is looked up once, however
often it occurs.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tokbench_plugins.bpe.compiled.jit import compiled, inlined
from tokbench_plugins.bpe.compiled.train_heap import best_pair, drop_best, push
from tokbench_plugins.bpe.compiled.train_text import (
    ARENA,
    COUNT,
    END,
    GAP,
    KEY,
    MADE,
    PAIRS,
    START,
    TAIL,
    THRESHOLD,
    find_pair,
    new_pair,
)

__all__ = ["ARENA_FULL", "DONE", "EXHAUSTED", "PAIRS_FULL", "TABLE_FULL", "index_pairs", "lay_out", "merge_up_to"]

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
        # Not so if out of date, or if the pair is of twins and its left half was just taken: 'aaa'.
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
        if before == made:  # it is that one's right neighbour
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
def _reckon(text: Any, row: Any, made: Any, lefts: Any, rights: Any) -> None:
    """For each neighbour: the pair it formed before loses, and the pair it forms now is new.

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
def _merge(text: Any, row: Any, made: Any, smallest: Any) -> None:
    """Merge a pair everywhere, from left to right, and bring all counts and positions up to date."""
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
    _reckon(text, row, made, lefts, rights)
    _write_down(text, start, end, beside)
    for i in range(lefts):
        text.around[text.met[0, i]] = 0
    for i in range(rights):
        text.around[text.met[1, i]] = 0
    text.pairs[row, COUNT] = 0
    for new in range(fresh, text.state[PAIRS]):
        if text.pairs[new, COUNT] >= text.state[THRESHOLD]:
            push(text, new, smallest)


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
        _merge(text, row, made, smallest)
        text.state[MADE] = made + 1
    return DONE
