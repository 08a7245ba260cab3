"""Parity-aware training with the merges of :mod:`.train_parity`, compiled by numba.

The kernels are in :mod:`..compiled.parity`; here the texts are laid out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin import TrainProgress, silent
from tokbench_plugins.bpe.compiled.count import Counts
from tokbench_plugins.bpe.compiled.extend import laid_out
from tokbench_plugins.bpe.compiled.pairs import ARENA, PAIRS, THRESHOLD, Text, fill_table, pairs_of
from tokbench_plugins.bpe.compiled.parity import (
    ARENA_ENDS,
    LACKING,
    MADE,
    PAIRS_ENDS,
    TABLE_ENDS,
    Stack,
    Turns,
    merge_in_turns,
)
from tokbench_plugins.bpe.compiled.train import DONE, EXHAUSTED, TABLE_FULL
from tokbench_plugins.bpe.literal import Tie
from tokbench_plugins.bpe.parity.literal_parity import ParityRule
from tokbench_plugins.bpe.parity.train_parity import LanguageText
from tokbench_plugins.bpe.vocabulary import FIRST_MERGE, Pair

_NEVER: Final = 1 << 62  # a threshold that no count reaches
_REPORTS: Final = 200  # calls of ``progress``, about


def train_parity_counts(
    languages: Sequence[LanguageText[Counts]],
    vocab_size: int,
    rule: ParityRule,
    given: Sequence[Pair] = (),
    tie: Tie = "first",
    progress: TrainProgress = silent,
) -> list[Pair]:
    """Train as :func:`.train_parity.train_parity`; all languages have a ``measured`` text, or none has.

    >>> en, xx = Counts.of({"low": 2}), Counts.of({"zzz": 1})
    >>> train_parity_counts([LanguageText(en, 6), LanguageText(xx, 1)], 257, ParityRule())
    [(122, 122)]
    """
    chunks = [text.chunks for text in languages]
    apart = [text.measured for text in languages if text.measured is not None]
    stack = _stacked([*chunks, *apart], vocab_size)
    turns = Turns(
        tokens=np.array([int((np.diff(counts.offsets) * counts.counts).sum()) for counts in apart or chunks], np.int64),
        units=np.array([text.units for text in languages], np.int64),
        closed=np.zeros(len(languages), np.bool_),
        recent=np.full(rule.window, -1, np.int64),
        choices=np.zeros(len(languages), np.int64),
        done=np.array([FIRST_MERGE, 0, 0], np.int64),
        most=np.array([rule.most_choices(len(languages))]),
    )
    first = np.array([left << 32 | right for left, right in given], np.int64)
    stride = max(1, (vocab_size - FIRST_MERGE) // _REPORTS)
    progress(0, vocab_size - FIRST_MERGE)
    outcome = DONE
    while outcome != EXHAUSTED and turns.done[MADE] < vocab_size:
        until = min(int(turns.done[MADE]) + stride, vocab_size)
        while (outcome := merge_in_turns(stack, turns, first, until, tie == "smallest")) == TABLE_FULL:
            stack = _with_larger_table(stack, int(turns.done[LACKING]))
        progress(int(turns.done[MADE]) - FIRST_MERGE, vocab_size - FIRST_MERGE)
    merges = stack.merges[FIRST_MERGE : turns.done[MADE]]
    progress(merges.size, merges.size)
    return pairs_of(merges)


def _stacked(chunks: Sequence[Counts], ids: int) -> Stack:
    """A merge removes one id and makes at most two pairs: so a slot has at most three pairs and positions."""
    texts = [laid_out(counts, range(FIRST_MERGE, FIRST_MERGE)) for counts in chunks]
    slots = np.array([text.flat.size for text in texts])
    sizes = np.array([slots, 3 * slots, [text.table.size for text in texts], 7 * slots])
    ends = np.zeros((len(sizes), len(texts) + 1), np.int64)
    np.cumsum(sizes, axis=1, out=ends[:, 1:])
    weights = np.unique(np.concatenate([text.weights for text in texts]))
    pairs = np.empty((ends[PAIRS_ENDS, -1], 4), np.int64)
    arena = np.empty(ends[ARENA_ENDS, -1], np.int32)
    state = np.array([text.state for text in texts])
    state[:, THRESHOLD] = _NEVER  # until a heap is filled for the first time
    for number, text in enumerate(texts):
        pairs_start, arena_start = ends[PAIRS_ENDS, number], ends[ARENA_ENDS, number]
        taken, positions = text.state[PAIRS], text.state[ARENA]
        pairs[pairs_start : pairs_start + taken] = text.pairs[:taken]
        arena[arena_start : arena_start + positions] = text.arena[:positions]
    return Stack(
        flat=np.concatenate([text.flat for text in texts]),
        weight_index=np.concatenate([_renumbered(text, weights) for text in texts]),
        pairs=pairs,
        table=np.concatenate([text.table for text in texts]),
        arena=arena,
        heap=np.empty((len(pairs), 3), np.int64),
        ends=ends,
        state=state,
        weights=weights,
        widths=np.ones(ids, np.int32),
        neighbour_counts=np.zeros((ids, 4), np.int64),
        neighbours=np.empty((2, ids), np.int32),
        merges=np.zeros(ids, np.int64),
    )


def _renumbered(text: Text, weights: NDArray[np.int64]) -> NDArray[np.uint32]:
    renumbered: NDArray[np.uint32] = np.searchsorted(weights, text.weights).astype(np.uint32)[text.weight_index]
    return renumbered


def _with_larger_table(stack: Stack, lacking: int) -> Stack:
    old, ends = stack.ends, stack.ends.copy()
    ends[TABLE_ENDS, lacking + 1 :] += old[TABLE_ENDS, lacking + 1] - old[TABLE_ENDS, lacking]
    table = np.full(ends[TABLE_ENDS, -1], -1, np.int32)
    for text in range(len(stack.state)):
        start, end = ends[TABLE_ENDS, text : text + 2]
        if text == lacking:
            pairs = stack.pairs[old[PAIRS_ENDS, text] : old[PAIRS_ENDS, text + 1]]
            fill_table(pairs, int(stack.state[text, PAIRS]), table[start:end])
        else:
            table[start:end] = stack.table[old[TABLE_ENDS, text] : old[TABLE_ENDS, text + 1]]
    return stack._replace(table=table, ends=ends)
