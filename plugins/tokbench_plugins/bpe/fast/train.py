"""Training in near-linear time, with merges identical to :func:`..literal.train_literally`.

Everything is counted once and then kept up to date. Five ideas, each exact:

1. **Count chunks, not text.** Equal chunks are merged equally: each is kept once, with its count as *weight*. They keep
   the order of first occurrence, so ties break as in the full text.
2. **Link the ids.** All chunks are in one flat list, an empty slot between two. A merge writes the new id into the left
   slot and empties the right one; links lead over empty slots. So a smaller position is always earlier in the text.
3. **Remember where pairs are.** A merge visits only its own positions and corrects the counts of the neighbours.
4. **Old pairs never gain.** The count of a pair without the new id can only fall, its first position only move right.
5. **So the heap may be lazy.** If the best entry is out of date, it goes back with its current key; if it is up to
   date, no other can beat it.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from tokbench.foundation.progress import silent
from tokbench.tokenizers.backend import TrainProgress
from tokbench_plugins.bpe.literal import Tie
from tokbench_plugins.bpe.patterns import Splitter
from tokbench_plugins.bpe.vocabulary import FIRST_MERGE, Pair

EMPTY = -1
_REPORTS = 200  # calls of ``progress``, about


def count_chunks(documents: Iterable[str], pattern: str | None) -> dict[str, int]:
    """Count the chunks, in order of first occurrence."""
    split = Splitter(pattern)
    counts: defaultdict[str, int] = defaultdict(int)
    for document in documents:
        for chunk in split(document):
            counts[chunk] += 1
    return dict(counts)


def train_merges(
    chunks: Mapping[str, int], vocab_size: int, progress: TrainProgress = silent, tie: Tie = "first"
) -> list[Pair]:
    """Train on counted chunks; :func:`..engines.train` counts and trains.

    >>> train_merges({"aab": 2, "ab": 3}, 258)
    [(97, 98), (97, 256)]
    """
    total = vocab_size - FIRST_MERGE
    stride = max(1, total // _REPORTS)
    progress(0, total)
    text = LinkedText(((chunk.encode(), count) for chunk, count in chunks.items()), tie)
    merges: list[Pair] = []
    while len(merges) < total and (best := text.pop_best()) is not None:
        text.merge(best, FIRST_MERGE + len(merges))
        merges.append(best)
        if len(merges) % stride == 0:
            progress(len(merges), total)
    progress(len(merges), len(merges))
    return merges


class LinkedText:
    """All chunks, merged so far, and the state of their pairs.

    Attributes (position = index into the first four; one slot per byte, one before and after each chunk):
        ids: the id at each position, or ``EMPTY``.
        before, after: the nearest positions that were not emptied by a merge.
        weights: how often the position's chunk occurs.
        counts: for each pair, the sum of the weights of its positions.
        positions: for each pair, where it starts or once started, *last first*.
        heap: one entry (-count, rank, pair) for each pair, current or out of date. The rank is the first
            position, or 0 if the smallest pair wins a tie.
    """

    def __init__(self, sequences: Iterable[tuple[Sequence[int], int]], tie: Tie) -> None:
        self.first_wins = tie == "first"
        self.ids = [EMPTY]
        self.weights = [0]
        for sequence, weight in sequences:
            self.ids += (*sequence, EMPTY)
            self.weights += [weight] * (len(sequence) + 1)
        self.before = list(range(-1, len(self.ids) - 1))
        self.after = list(range(1, len(self.ids) + 1))
        self.counts: defaultdict[Pair, int] = defaultdict(int)
        self.positions: defaultdict[Pair, list[int]] = defaultdict(list)
        for position, pair in enumerate(pairwise(self.ids)):
            if EMPTY not in pair:
                self.counts[pair] += self.weights[position]
                self.positions[pair].append(position)
        self.heap: list[tuple[int, int, Pair]] = []
        for pair in self.positions:
            self.enter(pair)

    def enter(self, pair: Pair) -> None:
        positions = self.positions[pair]
        positions.reverse()
        heapq.heappush(self.heap, self.entry(pair))

    def entry(self, pair: Pair) -> tuple[int, int, Pair]:
        return -self.counts[pair], self.positions[pair][-1] if self.first_wins else 0, pair

    def pop_best(self) -> Pair | None:
        """Take out the most frequent pair, ties broken by the rule; ``None`` if none is left."""
        ids, after = self.ids, self.after
        while self.heap:
            entry = self.heap[0]
            pair = left, right = entry[2]
            if self.counts[pair] == 0:
                heapq.heappop(self.heap)
                del self.counts[pair]
                self.positions.pop(pair, None)  # there are none of a pair that was merged
                continue
            positions = self.positions[pair]
            while ids[positions[-1]] != left or ids[after[positions[-1]]] != right:
                positions.pop()
            if (current := self.entry(pair)) == entry:
                heapq.heappop(self.heap)
                return pair
            heapq.heapreplace(self.heap, current)
        return None

    def merge(self, pair: Pair, made: int) -> int:
        """Replace a pair, and return how often it was there."""
        ids, before, after, weights = self.ids, self.before, self.after, self.weights
        counts, positions = self.counts, self.positions
        left, right = pair
        created: set[Pair] = set()
        times = 0
        for start in reversed(positions.pop(pair, [])):
            end = after[start]
            # Stale, or both halves are equal and the left one has just been merged: 'aaa'.
            if ids[start] != left or ids[end] != right:
                continue
            weight = weights[start]
            times += weight
            previous, following = before[start], after[end]
            if (neighbour := ids[previous]) != EMPTY:
                counts[neighbour, left] -= weight
                fresh = (neighbour, made)
                counts[fresh] += weight
                positions[fresh].append(previous)
                created.add(fresh)
            if (neighbour := ids[following]) != EMPTY:
                counts[right, neighbour] -= weight
                fresh = (made, neighbour)
                counts[fresh] += weight
                positions[fresh].append(start)
                created.add(fresh)
            ids[start], ids[end] = made, EMPTY
            after[start], before[following] = following, start
        counts.pop(pair, None)
        for fresh in created:
            self.enter(fresh)
        return times
