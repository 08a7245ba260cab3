"""The kernels of parity-aware training; :mod:`..parity.compiled_parity` lays out their arrays.

The arrays of :class:`.pairs.Text` of all languages follow each other, because numba takes no list of them. Texts that
are only measured come last and never enter a heap.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from tokbench.plugin import compiled, inlined
from tokbench_plugins.bpe.compiled.pairs import COUNT, END, KEY, PAIRS, START, Text, best_pair, drop_best, row_of
from tokbench_plugins.bpe.compiled.train import DONE, EXHAUSTED, TABLE_FULL, merge_row
from tokbench_plugins.bpe.vocabulary import FIRST_MERGE

_NO_PAIR: Final = -1
_NOBODY: Final = -1

FLAT_ENDS, PAIRS_ENDS, TABLE_ENDS, ARENA_ENDS = range(4)
"""The rows of ``Stack.ends``."""

MADE, CHOSEN, LACKING = range(3)
"""The entries of ``Turns.done``."""


class Stack(NamedTuple):
    """The arrays of :class:`.pairs.Text` of t texts, the training texts of n languages first.

    ``weights``, ``widths``, ``neighbour_counts``, ``neighbours`` and ``merges`` are shared by all texts.
    """

    flat: Any
    weight_index: Any
    pairs: Any
    table: Any
    arena: Any
    heap: Any
    ends: Any
    """int64[4, t + 1], the start of each text, and the end of the last, in: ``flat`` and ``weight_index``; ``pairs``
    and ``heap``; ``table``; ``arena``."""

    state: Any
    """int64[t, 6]."""

    weights: Any
    widths: Any
    neighbour_counts: Any
    neighbours: Any
    merges: Any


class Turns(NamedTuple):
    """The languages and their choices."""

    tokens: Any
    """int64[n], the tokens of the measured text of each language."""

    units: Any
    """int64[n], the units of that text."""

    closed: Any

    recent: Any
    """int64[window], the last choices, in a ring; -1 for none yet."""

    choices: Any
    """int64[n], how often each language is in ``recent``."""

    done: Any
    """int64[3]: ids made, choices made, and the text that lacks room."""

    most: Any
    """float64[1], how often a language may be in ``recent`` and choose."""


class Choice(NamedTuple):
    """The next merge."""

    language: Any
    """The language that chose it; -1 for a prescribed merge."""

    key: Any
    """The pair as a number; -1 if no language has one."""


@inlined
def _view(stack: Any, text: Any) -> Any:
    ends = stack.ends
    flat = slice(ends[FLAT_ENDS, text], ends[FLAT_ENDS, text + 1])
    pairs = slice(ends[PAIRS_ENDS, text], ends[PAIRS_ENDS, text + 1])
    return Text(
        stack.flat[flat],
        stack.weight_index[flat],
        stack.weights,
        stack.widths,
        stack.pairs[pairs],
        stack.table[ends[TABLE_ENDS, text] : ends[TABLE_ENDS, text + 1]],
        stack.arena[ends[ARENA_ENDS, text] : ends[ARENA_ENDS, text + 1]],
        stack.heap[pairs],
        stack.neighbour_counts,
        stack.neighbours,
        stack.merges,
        stack.state[text],
    )


@compiled
def _worst_off(turns: Any) -> Any:
    chooser, in_turn, highest = _NOBODY, False, 0.0
    for language in range(turns.tokens.size):
        if turns.closed[language]:
            continue
        may = turns.choices[language] <= turns.most[0]
        worth = turns.tokens[language] / turns.units[language]
        if chooser < 0 or (may and not in_turn) or (may == in_turn and worth > highest):
            chooser, in_turn, highest = language, may, worth
    return chooser


@compiled
def _choose(stack: Any, turns: Any, smallest: Any) -> Any:
    while True:
        language = _worst_off(turns)
        if language < 0:
            return Choice(_NOBODY, _NO_PAIR)
        view = _view(stack, language)
        row = best_pair(view, smallest)
        if row >= 0:
            return Choice(language, view.pairs[row, KEY])
        turns.closed[language] = True


@compiled
def _lacks_room(stack: Any, rows: Any, key: Any, made: Any) -> Any:
    """Find the rows of a pair; return a text whose table is too small, or -1."""
    for text in range(rows.size):
        view = _view(stack, text)
        row = row_of(view.pairs, view.table, key)
        if row >= 0 and view.pairs[row, COUNT] == 0:
            row = -1
        rows[text] = row
        if row >= 0:
            most = 2 * (view.pairs[row, END] - view.pairs[row, START])
            if 2 * (view.state[PAIRS] + min(most, 2 * made + 2)) > view.table.size:
                return text
    return -1


@compiled
def _note_choice(turns: Any, language: Any) -> None:
    window = turns.recent.size
    if window:
        place = turns.done[CHOSEN] % window
        if turns.recent[place] >= 0:
            turns.choices[turns.recent[place]] -= 1
        turns.recent[place] = language
        turns.choices[language] += 1
    turns.done[CHOSEN] += 1


@compiled
def merge_in_turns(stack: Any, turns: Any, given: Any, until: Any, smallest: Any) -> Any:
    """Merge until ``until`` ids are made, no pair is left, or a table may be too small for the next merge.

    ``given`` is int64[g], the first merges, as numbers; ``smallest`` is the rule for ties.
    """
    languages = turns.tokens.size
    rows = np.empty(stack.state.shape[0], np.int64)
    while turns.done[MADE] < until:
        made = turns.done[MADE]
        if made - FIRST_MERGE < given.size:
            choice = Choice(_NOBODY, given[made - FIRST_MERGE])
        else:
            choice = _choose(stack, turns, smallest)
        key = choice.key
        if key < 0:
            return EXHAUSTED
        lacking = _lacks_room(stack, rows, key, made)
        if lacking >= 0:
            turns.done[LACKING] = lacking
            return TABLE_FULL
        if choice.language >= 0:
            drop_best(_view(stack, choice.language))
            _note_choice(turns, choice.language)
        for text in range(rows.size):
            if rows[text] >= 0:
                view = _view(stack, text)
                start = view.pairs[rows[text], START]
                end = merge_row(view, rows[text], made, smallest)
                if text >= languages or stack.state.shape[0] == languages:
                    times = 0
                    for at in range(start, end):
                        times += view.weights[view.weight_index[view.arena[at]]]
                    turns.tokens[text % languages] -= times
        stack.merges[made] = key
        stack.widths[made] = stack.widths[key >> 32] + stack.widths[key & 0xFFFF_FFFF]
        turns.done[MADE] = made + 1
    return DONE
