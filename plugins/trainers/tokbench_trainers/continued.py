"""Training that goes on from encoded text, in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from tokbench import plugin
from tokbench_plugins.bpe import LinkedText, Pair, Tie
from tokbench_plugins.bpe.fast.train import EMPTY

_REPORTS = 200  # calls of ``progress``, about


class Learned(NamedTuple):
    """A merge that was learned."""

    pair: Pair

    times: int
    """How often it replaced the pair."""


def continue_merges(
    sequences: Iterable[tuple[Sequence[int], int]],
    ids: Sequence[int],
    progress: plugin.TrainProgress = plugin.silent,
    tie: Tie = "first",
    allowed: Callable[[Pair], bool] = lambda _: True,
    *,
    overlapping: bool = True,
) -> Iterator[Learned]:
    """Yield merges as :func:`.literal.continue_literally` does, from any ids on.

    ``sequences`` has the ids and the count of each different chunk, in order of first occurrence. ``allowed`` is called
    once for each pair. ``overlapping=False`` counts what would be merged: of three equal ids in a row, one pair.

    >>> list(continue_merges([([256, 32, 256, 99], 1), ([256, 99], 1)], [300]))
    [Learned(pair=(256, 99), times=2)]
    """
    total = len(ids)
    stride = max(1, total // _REPORTS)
    progress(0, total)
    text = (LinkedText if overlapping else DisjointText)(sequences, tie)
    done = 0
    while done < total and (best := text.pop_best()) is not None:
        if allowed(best):
            yield Learned(best, text.merge(best, ids[done]))
            done += 1
            if done % stride == 0:
                progress(done, total)
    progress(done, done)


class DisjointText(LinkedText):
    """A text whose pairs are ranked by the merges that would happen, without overlaps."""

    def entry(self, pair: Pair) -> tuple[int, int, Pair]:
        _, rank, _ = super().entry(pair)
        return -self.times(pair), rank, pair

    def times(self, pair: Pair) -> int:
        """Return how often a pair would be merged now; three equal ids in a row are one merge."""
        left, right = pair
        if left != right:
            return self.counts[pair]
        ids, after = self.ids, self.after
        times, taken = 0, EMPTY
        for start in reversed(self.positions[pair]):
            end = after[start]
            if start != taken and ids[start] == left and ids[end] == right:
                times += self.weights[start]
                taken = end
        return times
