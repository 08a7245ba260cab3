"""Encoding with the events of PickyBPE in near-linear time.

A heap holds for each place the next event that may happen there, the earliest event first and then the leftmost place.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Final

from tokbench_plugins.bpe import FIRST_MERGE
from tokbench_plugins.bpe.fast.encode import ChunkEncoder
from tokbench_trainers.picky.events import PickyEvent

_GONE: Final = -1
_END: Final = -2


class PickyEncoder(ChunkEncoder):
    """Encodes texts with events; ``final_ids`` has the id of each final token, by its id of training.

    >>> events = [PickyEvent((97, 98), (256,)), PickyEvent((256, 99), (257,)), PickyEvent((256,), (97, 98))]
    >>> final_ids = {**{byte: byte for byte in range(256)}, 257: 256}
    >>> PickyEncoder(events, "gpt2", final_ids)("abc ab")
    [256, 32, 97, 98]
    """

    def __init__(self, events: Sequence[PickyEvent], pattern: str | None, final_ids: dict[int, int]) -> None:
        super().__init__(pattern)
        self._events = events
        self._turns: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
        widths = dict.fromkeys(range(FIRST_MERGE), 1)
        for turn, event in enumerate(events):
            self._turns[event.before].append(turn)
            if event.is_merge:
                widths[event.after[0]] = widths[event.before[0]] + widths[event.before[1]]
        self._offsets = [list(accumulate((widths[part] for part in event.after[:-1]), initial=0)) for event in events]
        self._final_ids = final_ids

    def _encode(self, chunk: str) -> list[int]:
        return list(map(self._final_ids.__getitem__, self.replay(chunk.encode())))

    def replay(self, chunk: bytes) -> list[int]:
        size = len(chunk)
        ids = [*chunk, _END]
        after, before = list(range(1, size + 2)), list(range(-1, size))  # before the first is the end, at -1
        # Whole numbers (turn, place): they sort as pairs do, and compare faster.
        heap = [turn * size + k for k in range(size - 1) for turn in self._next((ids[k], ids[k + 1]), -1)]
        heapq.heapify(heap)
        while heap:
            turn, place = divmod(heapq.heappop(heap), size)
            event, last = self._events[turn], place
            if event.is_merge:
                last = after[place]
            if (ids[place], ids[last])[: len(event.before)] != event.before:
                continue
            ids[last] = _GONE
            places = [place + offset for offset in self._offsets[turn]]
            for part, at in zip(event.after, places, strict=True):
                ids[at] = part
            for left, right in pairwise((before[place], *places, after[last])):
                before[right] = left
                if left >= 0:
                    after[left] = right
            for happens, at in self._around(ids, before[place], places, after[places[-1]]):
                for later in self._next(happens, turn):
                    heapq.heappush(heap, later * size + at)
        return [token for token in ids[:-1] if token != _GONE]

    @staticmethod
    def _around(
        ids: Sequence[int], previous: int, places: Sequence[int], following: int
    ) -> Iterator[tuple[tuple[int, ...], int]]:
        for place in places:
            yield (ids[place],), place
        for left, right in pairwise((previous, *places, following)):
            yield (ids[left], ids[right]), left

    def _next(self, happens: tuple[int, ...], turn: int) -> Sequence[int]:
        turns = self._turns.get(happens)
        if turns is None:
            return ()
        place = bisect_right(turns, turn)
        return turns[place : place + 1]
