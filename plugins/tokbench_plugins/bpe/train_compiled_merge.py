"""Merging, compiled: the text, the counts and the positions of all pairs are kept up to date.

A merge goes through its pair's positions three times: to write the new id, to add up its neighbours, and to
write down where their new pairs are. In between, each *different* neighbour is looked up once, however
often it occurs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench_plugins.bpe.jit import compiled
from tokbench_plugins.bpe.train_compiled_heap import best_pair, drop_best, push
from tokbench_plugins.bpe.train_compiled_text import (
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
    rows = np.zeros(65536, np.int64)
    for position in range(1, flat.size - 1):
        if flat[position] >= 0 and flat[position + 1] >= 0:
            rows[flat[position] << 8 | flat[position + 1]] += 1
    for pair in range(65536):
        if rows[pair]:
            rows[pair] = new_pair(text, (pair >> 8) << 32 | (pair & 255), 0, rows[pair])
    for position in range(1, flat.size - 1):
        if flat[position] >= 0 and flat[position + 1] >= 0:
            row = rows[flat[position] << 8 | flat[position + 1]]
            text.pairs[row, COUNT] += text.weights[text.weighs[position]]
            text.arena[text.pairs[row, END]] = position
            text.pairs[row, END] += 1


@compiled
def _replace(text: Any, row: Any, made: Any) -> Any:
    """Write ``made`` over every occurrence of a pair; their positions stay at the start of its own."""
    flat, arena = text.flat, text.arena
    left, right = text.pairs[row, KEY] >> 32, text.pairs[row, KEY] & 0xFFFF_FFFF
    shift = text.widths[left]
    width = shift + text.widths[right]
    text.widths[made] = width
    kept = text.pairs[row, START]
    for at in range(kept, text.pairs[row, END]):
        position = arena[at]
        # Not so if out of date, or if the pair is of twins and its left half was just taken: 'aaa'.
        if flat[position] == left and flat[position + shift] == right:
            flat[position + shift] = GAP  # any slot inside an id: neither an id nor a tail is read there
            flat[position + width - 1] = TAIL - made
            flat[position] = made
            arena[kept] = position
            kept += 1
    return kept


@compiled
def _look_around(text: Any, start: Any, end: Any, made: Any) -> tuple[Any, Any]:
    """Add up, for the places where ``made`` now stands, which ids stand before and after it."""
    flat, around, met = text.flat, text.around, text.met
    width = text.widths[made]
    lefts = rights = 0
    for at in range(start, end):
        position = text.arena[at]
        weight = text.weights[text.weighs[position]]
        before = flat[position - 1]
        if before != GAP:
            if before < 0:
                before = TAIL - before
            if before != made:  # else it is that one's right neighbour, below
                if around[before, _LEFT_AT] == 0:
                    met[0, lefts] = before
                    lefts += 1
                around[before, _LEFT] += weight
                around[before, _LEFT_AT] += 1
        after = flat[position + width]
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

    From here on the columns ``_LEFT_AT`` and ``_RIGHT_AT`` hold the row of the new pair.
    """
    pairs, around = text.pairs, text.around
    left, right = pairs[row, KEY] >> 32, pairs[row, KEY] & 0xFFFF_FFFF
    for i in range(lefts):
        before = np.int64(text.met[0, i])
        pairs[find_pair(text, before << 32 | left), COUNT] -= around[before, _LEFT]
        new = new_pair(text, before << 32 | made, around[before, _LEFT], around[before, _LEFT_AT])
        around[before, _LEFT_AT] = new
    for i in range(rights):
        after = np.int64(text.met[1, i])
        lost = left if after == made else after
        pairs[find_pair(text, right << 32 | lost), COUNT] -= around[after, _RIGHT]
        new = new_pair(text, made << 32 | after, around[after, _RIGHT], around[after, _RIGHT_AT])
        around[after, _RIGHT_AT] = new


@compiled
def _write_down(text: Any, start: Any, end: Any, made: Any) -> None:
    """Write down the positions of the new pairs."""
    flat, pairs, arena, around = text.flat, text.pairs, text.arena, text.around
    width = text.widths[made]
    for at in range(start, end):
        position = arena[at]
        before = flat[position - 1]
        if before != GAP:
            if before < 0:
                before = TAIL - before
            if before != made:
                new = around[before, _LEFT_AT]
                arena[pairs[new, END]] = position - text.widths[before]
                pairs[new, END] += 1
        after = flat[position + width]
        if after != GAP:
            new = around[after, _RIGHT_AT]
            arena[pairs[new, END]] = position
            pairs[new, END] += 1


@compiled
def _merge(text: Any, row: Any, made: Any, smallest: Any) -> None:
    """Merge a pair everywhere, from left to right, and bring all counts and positions up to date."""
    start, end = text.pairs[row, START], _replace(text, row, made)
    lefts, rights = _look_around(text, start, end, made)
    fresh = text.state[PAIRS]
    _reckon(text, row, made, lefts, rights)
    _write_down(text, start, end, made)
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
        if text.state[ARENA] + most > text.arena.size:
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
