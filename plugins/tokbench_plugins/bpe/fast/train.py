"""Training in near-linear time, with merges identical to :func:`..literal.train_literally`.

The literal loop looks at the whole text for every merge; a merge changes little of it. So everything
is counted once and then kept up to date. Five ideas, each exact:

1. **Count chunks, not text.** Equal chunks are merged equally: each is kept once, with the number of
   times it occurs as its *weight*. Kept in order of first occurrence, the first occurrence of any pair
   is still found before that of any other pair it would come before in the full text.
2. **Link the ids.** All chunks lie in one flat list, an empty slot between two of them. A merge writes
   the new id into the left slot and empties the right one; links lead over empty slots. A position is
   thus never renumbered, and smaller always means earlier in the current sequence.
3. **Remember where pairs are.** Each pair has a count and a list of positions. A merge visits only
   its own positions and corrects the counts of the neighbours it destroys and creates.
4. **Old pairs never gain.** A merge creates only pairs that hold the new id. The count of any other
   pair can only fall and its first position only move right.
5. **So the heap may be lazy.** An entry in the heap is never worse than the truth. When the best entry
   is out of date, it is put back with its current key; when it is up to date, no other can beat it.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise

from tokbench.plugin import TrainProgress, silent
from tokbench_plugins.bpe.literal import Tie
from tokbench_plugins.bpe.patterns import Splitter
from tokbench_plugins.bpe.vocabulary import FIRST_MERGE, Pair

_EMPTY = -1
_REPORTS = 200  # calls of ``progress``, about


def count_chunks(documents: Iterable[str], pattern: str | None) -> dict[str, int]:
    """Count the chunks; they come in the order in which they first occur.

    >>> count_chunks(["no no", "no!"], "gpt2")
    {'no': 2, ' no': 1, '!': 1}
    """
    split = Splitter(pattern)
    counts: defaultdict[str, int] = defaultdict(int)
    for document in documents:
        for chunk in split(document):
            counts[chunk] += 1
    return dict(counts)


def train_merges(
    chunks: Mapping[str, int], vocab_size: int, progress: TrainProgress = silent, tie: Tie = "first"
) -> list[Pair]:
    """Train on chunks that are already counted; :func:`..engines.train` counts and trains.

    >>> train_merges({"aab": 2, "ab": 3}, 258)
    [(97, 98), (97, 256)]
    """
    total = max(0, vocab_size - FIRST_MERGE)
    stride = max(1, total // _REPORTS)
    progress(0, total)
    text = _LinkedText(chunks, tie)
    merges: list[Pair] = []
    while len(merges) < total and (best := text.pop_best()) is not None:
        text.merge(best, FIRST_MERGE + len(merges))
        merges.append(best)
        if len(merges) % stride == 0:
            progress(len(merges), total)
    progress(len(merges), len(merges))
    return merges


class _LinkedText:
    """All chunks, merged so far, and what is known of their pairs.

    Attributes (position = index into the first four; one slot per byte, one before and after each chunk):
        ids: the id at each position, or ``_EMPTY``.
        before, after: the nearest positions to either side that were not emptied by a merge.
        weights: how often the position's chunk occurs.
        counts: for each pair, the sum of the weights of all positions where it starts.
        positions: for each pair, where it starts or once started, *last first*: so the stale ones
            before the true first position can be popped from the end.
        heap: one entry (-count, rank, pair) for each pair, current or out of date. The rank is the first
            position, or 0 if the smallest pair wins a tie.
    """

    def __init__(self, chunks: Mapping[str, int], tie: Tie) -> None:
        self.first_wins = tie == "first"
        self.ids = [_EMPTY]
        self.weights = [0]
        for chunk, weight in chunks.items():
            encoded = chunk.encode()
            self.ids += (*encoded, _EMPTY)
            self.weights += [weight] * (len(encoded) + 1)
        self.before = list(range(-1, len(self.ids) - 1))
        self.after = list(range(1, len(self.ids) + 1))
        self.counts: defaultdict[Pair, int] = defaultdict(int)
        self.positions: defaultdict[Pair, list[int]] = defaultdict(list)
        for position, pair in enumerate(pairwise(self.ids)):
            if _EMPTY not in pair:
                self.counts[pair] += self.weights[position]
                self.positions[pair].append(position)
        self.heap: list[tuple[int, int, Pair]] = []
        for pair in self.positions:
            self._turn_and_enter(pair)

    def _turn_and_enter(self, pair: Pair) -> None:
        """Put a pair whose positions were found from left to right into the heap."""
        positions = self.positions[pair]
        positions.reverse()
        heapq.heappush(self.heap, self._entry(pair))

    def _entry(self, pair: Pair) -> tuple[int, int, Pair]:
        """Return the entry that the heap should hold for a pair now."""
        return -self.counts[pair], self.positions[pair][-1] if self.first_wins else 0, pair

    def pop_best(self) -> Pair | None:
        """Take out the most frequent pair, of equals the one the tie rule says; ``None`` if none is left."""
        ids, after = self.ids, self.after
        while self.heap:
            entry = self.heap[0]
            pair = left, right = entry[2]
            if self.counts[pair] == 0:
                heapq.heappop(self.heap)
                del self.counts[pair], self.positions[pair]
                continue
            positions = self.positions[pair]
            while ids[positions[-1]] != left or ids[after[positions[-1]]] != right:
                positions.pop()
            if (current := self._entry(pair)) == entry:
                heapq.heappop(self.heap)
                return pair
            heapq.heapreplace(self.heap, current)
        return None

    def merge(self, pair: Pair, made: int) -> None:
        """Replace every occurrence of ``pair`` by ``made``, from left to right."""
        ids, before, after, weights = self.ids, self.before, self.after, self.weights
        counts, positions = self.counts, self.positions
        left, right = pair
        created: set[Pair] = set()
        for start in reversed(positions.pop(pair)):
            end = after[start]
            # Stale, or both halves are equal and the left one has just been merged: 'aaa'.
            if ids[start] != left or ids[end] != right:
                continue
            weight = weights[start]
            previous, following = before[start], after[end]
            if (neighbour := ids[previous]) != _EMPTY:
                counts[neighbour, left] -= weight
                fresh = (neighbour, made)
                counts[fresh] += weight
                positions[fresh].append(previous)
                created.add(fresh)
            if (neighbour := ids[following]) != _EMPTY:
                counts[right, neighbour] -= weight
                fresh = (made, neighbour)
                counts[fresh] += weight
                positions[fresh].append(start)
                created.add(fresh)
            ids[start], ids[end] = made, _EMPTY
            after[start], before[following] = following, start
        del counts[pair]
        for fresh in created:
            self._turn_and_enter(fresh)
