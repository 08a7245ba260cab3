"""How often each pair of tokens occurs in each candidate, before each of some merges."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Pair = tuple[bytes, bytes]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_NEVER: Final = -1
_EXACT: Final = 1e-9


def merged(word: Sequence[bytes], left: bytes, right: bytes) -> list[bytes]:
    """Return a chunk after one merge.

    >>> merged([b"a", b"a", b"a", b"b"], b"a", b"a")
    [b'aa', b'a', b'b']
    """
    out: list[bytes] = []
    last = None
    for part in word:
        if last == left and part == right:
            out[-1], last = left + right, None
        else:
            out.append(part)
            last = part
    return out


class _Changes:
    """Changes of the counts of pairs: a row for each step, pair and chunk."""

    def __init__(self, chunks: Sequence[bytes]) -> None:
        self.pairs: dict[Pair, int] = {}
        self.numbers = array("q")
        self._words: list[list[bytes]] = [[] for _ in chunks]
        self._places: defaultdict[Pair, set[int]] = defaultdict(set)
        self.see(0, {number: [chunk[i : i + 1] for i in range(len(chunk))] for number, chunk in enumerate(chunks)})

    def see(self, step: int, words: Mapping[int, list[bytes]]) -> None:
        """Note how the counts of chunks changed before a step."""
        pairs, numbers = self.pairs, self.numbers
        for number, new in words.items():
            old, self._words[number] = self._words[number], new
            times: dict[Pair, int] = {}
            for pair in pairwise(new):
                times[pair] = times.get(pair, 0) + 1
                self._places[pair].add(number)
            for pair in pairwise(old):
                times[pair] = times.get(pair, 0) - 1
            for pair, change in times.items():
                if change:
                    numbers.extend((step, pairs.setdefault(pair, len(pairs)), number, change))

    def merge(self, merges: Sequence[Pair]) -> dict[int, list[bytes]]:
        """Return the chunks that merges change."""
        changed: dict[int, list[bytes]] = {}
        for left, right in merges:
            for number in self._places.pop((left, right), ()):
                changed[number] = new = merged(changed.get(number) or self._words[number], left, right)
                for pair in pairwise(new):
                    if left + right in pair:
                        self._places[pair].add(number)
        return dict(sorted(changed.items()))


class Rivals(NamedTuple):
    """Pairs at steps, more frequent ones than the pair that was merged there; or the slack of all steps and pairs."""

    steps: Any
    pairs: Any


class PairCounts:
    """The counts of all pairs before each step, by columns: parts of candidates.

    >>> from scipy.sparse import csr_array
    >>> counts = PairCounts([b"aab", b"ab"], csr_array([[3, 0], [0, 5]]), [(b"a", b"b"), (b"a", b"ab")], [0, 1])
    >>> counts.at(np.array([0, 0, 1]), np.array([counts.chosen[0], 0, counts.chosen[1]])).tolist()
    [[3.0, 5.0], [3.0, 0.0], [3.0, 0.0]]
    """

    def __init__(self, chunks: Sequence[bytes], counts: Any, merges: Sequence[Pair], steps: Sequence[int]) -> None:
        from scipy.sparse import csr_array

        changes = _Changes(chunks)
        for number, (start, end) in enumerate(zip([0, *steps], steps, strict=False)):
            changes.see(number, changes.merge(merges[start:end]))
        self.n_steps, self.n_pairs = len(steps), len(changes.pairs)
        self.chosen: Ints = np.array([changes.pairs.get(merges[step], _NEVER) for step in steps])
        step, pair, chunk, times = np.frombuffer(changes.numbers, np.int64).reshape(-1, 4).T
        keys, which = np.unique(pair * self.n_steps + step, return_inverse=True)
        by_chunk = csr_array((times.astype(np.float64), (which, chunk)), shape=(keys.size, len(chunks)))
        self._keys, self._changes = keys, by_chunk @ csr_array(counts, dtype=np.float64)
        self._pair, step = keys // self.n_steps, keys % self.n_steps
        self._by_step = np.argsort(step, kind="stable")
        self._ends = np.searchsorted(step[self._by_step], np.arange(self.n_steps), side="right")

    def at(self, steps: Ints, pairs: Ints) -> Floats:
        """Return the counts of pairs before steps, a row for each."""
        from scipy.sparse import csr_array

        first = np.searchsorted(self._keys, pairs * self.n_steps)
        sizes = np.searchsorted(self._keys, pairs * self.n_steps + steps, side="right") - first
        sizes[pairs == _NEVER] = 0
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        which = np.repeat(first - offsets[:-1], sizes) + np.arange(offsets[-1])
        chosen = csr_array((np.ones(which.size), which, offsets), shape=(pairs.size, self._keys.size))
        return np.asarray((chosen @ self._changes).toarray())

    def rivals(self, weights: Floats, slack: Rivals | None = None) -> Rivals:
        """Return for each step the most frequent pair that exceeds the merged one, beyond the slack of both."""
        change = self._changes @ weights
        allowed, more = slack or Rivals(np.zeros(self.n_steps), np.zeros(self.n_pairs))
        now = -more
        found, start = [], 0
        for step, (end, chosen) in enumerate(zip(self._ends, self.chosen, strict=True)):
            rows = self._by_step[start:end]
            now[self._pair[rows]] += change[rows]
            best = int(now.argmax())
            least = now[chosen] + more[chosen] if chosen != _NEVER else 0.0
            if now[best] > least + allowed[step] + _EXACT:
                found.append((step, best))
            start = end
        return Rivals(*np.array(found, dtype=np.int64).reshape(-1, 2).T)
