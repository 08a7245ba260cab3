"""The mixture of texts in which the pairs that a BPE merged were the most frequent ones, as a linear programme."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from operator import add
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Pair = tuple[bytes, bytes]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_HALVES: Final = 20
_ROUNDS: Final = 12  # more add pairs that exceed the merged one by next to nothing: docs/ate.md
_LEAN: Final = 0.7  # the share of one candidate in the mixtures whose rivals come first
_EXACT: Final = 1e-9


def _letters(merges: Iterable[Pair]) -> list[tuple[str, str]]:
    """Write each pair, and the token that it makes, with one character for a token."""
    letters = {bytes([byte]): chr(byte) for byte in range(256)}
    made = ((left, right, left + right) for left, right in merges)
    coded = ([letters.setdefault(token, chr(len(letters))) for token in tokens] for tokens in made)
    return [(left + right, token) for left, right, token in coded]


def _pairs(word: str) -> Iterable[str]:
    return map(add, word, word[1:])


def _note(places: defaultdict[str, set[int]], chunk: int, word: str, token: str = "") -> None:
    """Note where the pairs with a token are."""
    for pair in _pairs(word):
        if token in pair:
            places[pair].add(chunk)


def _changes(chunks: Sequence[bytes], merges: Sequence[tuple[str, str]], steps: Sequence[int]) -> tuple[Any, Any]:
    """Return the pairs by number, and how often each came or went, by step, pair and chunk."""
    words = [chunk.decode("latin-1") for chunk in chunks]
    places: defaultdict[str, set[int]] = defaultdict(set)
    for chunk, word in enumerate(words):
        _note(places, chunk, word)
    numbers: dict[str, int] = {}
    changes = array("q")
    before = dict.fromkeys(range(len(words)), "")
    for step, (start, end) in enumerate(pairwise([0, *steps])):
        for pair, token in merges[start:end]:
            for chunk in places.pop(pair, ()):
                before.setdefault(chunk, words[chunk])
                words[chunk] = words[chunk].replace(pair, token)
                _note(places, chunk, words[chunk], token)
        for chunk, old in sorted(before.items()):
            times = Counter(_pairs(words[chunk]))
            times.subtract(_pairs(old))
            for pair, change in times.items():
                if change:
                    changes.extend((step, numbers.setdefault(pair, len(numbers)), chunk, change))
        before = {}
    return numbers, np.frombuffer(changes, np.int64).reshape(-1, 4).T


class PairCounts:
    """The counts of all pairs before each step, by columns: parts of candidates.

    >>> from scipy.sparse import csr_array
    >>> counts = PairCounts([b"aab", b"ab"], csr_array([[3, 0], [0, 5]]), [(b"a", b"b"), (b"a", b"ab")], [0, 1])
    >>> counts.merged.tolist(), counts.at(0, 0).tolist()
    ([[3.0, 5.0], [3.0, 0.0]], [3.0, 0.0])
    """

    def __init__(self, chunks: Sequence[bytes], counts: Any, merges: Sequence[Pair], steps: Sequence[int]) -> None:
        from scipy.sparse import csr_array

        coded = _letters(merges)
        numbers, (step, pair, chunk, times) = _changes(chunks, coded, steps)
        self._keys, which = np.unique(pair * len(steps) + step, return_inverse=True)
        by_chunk = csr_array((times.astype(np.float64), (which, chunk)), shape=(self._keys.size, len(chunks)))
        self._changes = by_chunk @ counts
        self._pair, step = np.divmod(self._keys, len(steps))
        ends = np.cumsum(np.bincount(step, minlength=len(steps)))
        self._by_step = np.split(np.argsort(step, kind="stable"), ends[:-1])
        chosen = [numbers.get(coded[step][0], len(numbers)) for step in steps]
        self.n_pairs, self._occurs = len(numbers), np.array(chosen) < len(numbers)
        self.merged = np.array([self.at(number, pair) for number, pair in enumerate(chosen)])
        """The counts of the pair that was merged at each step."""

    def at(self, step: int, pair: int) -> Floats:
        """Return the counts of a pair before a step."""
        first = pair * len(self._by_step)
        rows = slice(*np.searchsorted(self._keys, (first, first + step + 1)))
        return np.asarray(self._changes[rows].sum(axis=0))

    def rivals(self, weights: Floats, of_steps: Floats, of_pairs: Floats) -> Iterable[tuple[int, int]]:
        """Yield steps, and the most frequent pair there if it exceeds the merged one, beyond the slack of both."""
        change = self._changes @ weights
        most = np.where(self._occurs, self.merged @ weights + of_steps + _EXACT, np.inf)
        now = -of_pairs
        for step, rows in enumerate(self._by_step):
            now[self._pair[rows]] += change[rows]
            best = int(now.argmax())
            if now[best] > most[step]:
                yield step, best


def fit(counts: PairCounts, n_bytes: Floats) -> Floats:
    """Return the shares with the least slack; pairs that are in the way are added, in a dozen rounds at most.

    The first row is from all text and all steps, the others are from random halves of both.

    Args:
        counts: of pairs.
        n_bytes: a row for each candidate, a column for each of its parts.
    """
    n, n_parts = n_bytes.shape
    sizes = len(counts.merged), counts.n_pairs

    def rivals(shares: Floats, *slack: Floats) -> set[tuple[int, int]]:
        return {*counts.rivals(np.repeat(shares / n_bytes.sum(1), n_parts), *slack)}

    def solve(which: Any, weights: Floats) -> Any:
        more = (differences[which] * weights).sum(2) / (n_bytes * weights).sum(1)
        return _solve(more, steps[which], pairs[which], sizes)

    rows: dict[tuple[int, int], Floats] = {}
    needed: set[tuple[int, int]] = set()
    for mixture in (np.full(n, 1 / n), *(_LEAN * np.eye(n) + (1 - _LEAN) / n)):
        needed |= rivals(mixture, *map(np.zeros, sizes))
    for _ in range(_ROUNDS):
        rows |= {key: (counts.at(*key) - counts.merged[key[0]]).reshape(n, n_parts) for key in needed - rows.keys()}
        rows = dict(sorted(rows.items()))
        (steps, pairs), differences = np.array([*rows]).T, np.array([*rows.values()])
        shares, *slack = solve(slice(None), np.ones(n_parts))
        needed = rivals(shares, *slack)
        if needed <= rows.keys():
            break
    rng = np.random.default_rng(0)
    fits = [shares]
    for _ in range(_HALVES):
        parts = rng.permuted(np.tile(np.arange(n_parts) % 2, (n, 1)), axis=1)
        used = rng.permutation(sizes[0]) % 2 == 0
        fits.append(solve(used[steps], parts)[0])
    return np.array(fits)


def _solve(more: Floats, steps: Ints, pairs: Ints, sizes: tuple[int, int]) -> list[Floats]:
    """Return shares, and the least slack of steps and of pairs, by which rivals are more frequent in the mixture."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack

    rows, n = more.shape
    columns, which = np.unique(np.concatenate([steps, sizes[0] + pairs]), return_inverse=True)
    allowed = csr_array((-np.ones(2 * rows), (np.tile(np.arange(rows), 2), which)))
    limits = hstack([csr_array(more), allowed], format="csr")
    is_share = np.arange(limits.shape[1]) < n
    whole = {"A_eq": csr_array(is_share[None].astype(float)), "b_eq": [1.0]}
    answer = linprog(~is_share, A_ub=limits, b_ub=np.zeros(rows), **whole, method="highs")
    shares, slack = np.maximum(answer.x[:n], 0), np.zeros(sum(sizes))
    slack[columns] = answer.x[n:]
    return [shares / shares.sum(), *np.split(slack, sizes[:1])]
