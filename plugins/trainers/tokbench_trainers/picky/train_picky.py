"""Training of PickyBPE in near-linear time.

A removal puts the parts of a token back into the slots of their bytes. So counts of old pairs can rise, and a pair that
gains enters the heap again; its old entry comes out later.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from tokbench import plugin
from tokbench_plugins.bpe import FIRST_MERGE, LinkedText, Pair, Tie
from tokbench_plugins.bpe.fast.train import EMPTY
from tokbench_trainers.picky.events import PickyEvent, parts_of

_REPORTS = 200  # calls of ``progress``, about


def train_picky(
    chunks: Mapping[str, int],
    vocab_size: int,
    threshold: float,
    tie: Tie = "first",
    progress: plugin.TrainProgress = plugin.silent,
) -> list[PickyEvent]:
    """Train on counted chunks.

    >>> for event in train_picky({"abc": 2}, 258, 0.9):
    ...     print(event)
    PickyEvent(before=(97, 98), after=(256,))
    PickyEvent(before=(256, 99), after=(257,))
    PickyEvent(before=(256,), after=(97, 98))
    """
    text = _PickyText(((chunk.encode(), count) for chunk, count in chunks.items()), tie)
    tokens = [bytes([byte]) for byte in range(FIRST_MERGE)]
    id_of = {token: token_id for token_id, token in enumerate(tokens)}
    halves: dict[int, Pair] = {}
    present = set(range(FIRST_MERGE))
    events: list[PickyEvent] = []
    total = vocab_size - FIRST_MERGE
    stride = max(1, total // _REPORTS)
    while len(present) < vocab_size and (pair := text.pop_best()) is not None:
        token = tokens[pair[0]] + tokens[pair[1]]
        made = id_of.setdefault(token, len(tokens))
        if made == len(tokens):
            halves[made] = pair
            tokens.append(token)
        occurrences = {half: text.occurrences[half] for half in pair}
        times = text.merge(pair, made)
        present.add(made)
        events.append(PickyEvent(pair, (made,)))
        for half, before in occurrences.items():
            if half >= FIRST_MERGE and times / before >= threshold:
                present.remove(half)
                parts = parts_of(half, halves, present)
                text.split(half, parts, [len(tokens[part]) for part in parts])
                events.append(PickyEvent((half,), parts))
        if len(events) % stride == 0:
            progress(len(present) - FIRST_MERGE, total)
    progress(len(present) - FIRST_MERGE, len(present) - FIRST_MERGE)
    return events


class _PickyText(LinkedText):
    def __init__(self, sequences: Iterable[tuple[Sequence[int], int]], tie: Tie) -> None:
        super().__init__(sequences, tie)
        self.occurrences: defaultdict[int, int] = defaultdict(int)
        for token, weight in zip(self.ids, self.weights, strict=True):
            self.occurrences[token] += weight
        self.starts: defaultdict[int, list[int]] = defaultdict(list)

    def enter(self, pair: Pair) -> None:
        self.positions[pair].sort()
        super().enter(pair)

    def merge(self, pair: Pair, made: int) -> int:
        starts = self.positions[pair]
        times = super().merge(pair, made)
        self.starts[made] += [start for start in starts if self.ids[start] == made]
        for half in pair:
            self.occurrences[half] -= times
        self.occurrences[made] += times
        return times

    def split(self, token: int, parts: Sequence[int], widths: Sequence[int]) -> None:
        gained: set[Pair] = set()
        for start in sorted(set(self.starts.pop(token, ()))):
            if self.ids[start] == token:
                self._split_at(start, parts, widths, gained)
        for pair in gained:
            self.enter(pair)

    def _split_at(self, start: int, parts: Sequence[int], widths: Sequence[int], gained: set[Pair]) -> None:
        ids, before, after = self.ids, self.before, self.after
        token, weight = ids[start], self.weights[start]
        previous, following = before[start], after[start]
        if ids[previous] != EMPTY:
            self.counts[ids[previous], token] -= weight
        if ids[following] != EMPTY:
            self.counts[token, ids[following]] -= weight
        self.occurrences[token] -= weight
        places = [start + sum(widths[:k]) for k in range(len(parts))]
        for place, part in zip(places, parts, strict=True):
            ids[place] = part
            self.occurrences[part] += weight
            if part >= FIRST_MERGE:
                self.starts[part].append(place)
        row = [previous, *places, following]
        for left, right in pairwise(row):
            after[left], before[right] = right, left
            if ids[left] != EMPTY and ids[right] != EMPTY:
                pair = ids[left], ids[right]
                self.counts[pair] += weight
                self.positions[pair].append(left)
                gained.add(pair)
