"""The shares of candidates under which the merged pairs were the most frequent, as a linear programme."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench_questions.ate.pair_counts import Floats, Ints, PairCounts, Rivals

_ROUNDS: Final = 12
_LEAN: Final = 0.7  # the share of one candidate in the mixtures whose rivals come first


class Text(NamedTuple):
    """Pair counts and bytes of the parts of candidates, how often each part counts, and which steps are used."""

    counts: PairCounts
    n_bytes: Floats
    weights: Floats
    used: NDArray[np.bool_]

    def columns(self, shares: Floats) -> Floats:
        """Return what one occurrence counts in a mixture, for each column."""
        return np.asarray((shares / (self.n_bytes * self.weights).sum(1))[:, None] * self.weights).ravel()

    def rates(self, steps: Ints, pairs: Ints) -> Floats:
        """Return the occurrences of pairs in a byte of each candidate."""
        counts = self.counts.at(steps, pairs).reshape(-1, *self.n_bytes.shape)
        return np.asarray((counts * self.weights).sum(2) / (self.n_bytes * self.weights).sum(1))

    def merged(self) -> Floats:
        """Return the rates of the merged pair of each step."""
        return self.rates(np.arange(self.counts.n_steps), self.counts.chosen)


class Fit(NamedTuple):
    """Shares, and the rivals that decide them."""

    shares: Floats
    rivals: Rivals


def first_rivals(text: Text) -> Rivals:
    """Return the most frequent pairs in an even mixture, and in one that leans to each candidate."""
    n = len(text.n_bytes)
    mixtures = [np.full(n, 1 / n), *(_LEAN * np.eye(n) + (1 - _LEAN) / n)]
    return _joined([text.counts.rivals(text.columns(mixture)) for mixture in mixtures], text.used)


def _joined(rivals: list[Rivals], used: NDArray[np.bool_]) -> Rivals:
    both = np.concatenate([np.stack(some, 1) for some in rivals])
    steps, pairs = np.unique(both[used[both[:, 0]]], axis=0).T
    return Rivals(steps, pairs)


def fit(text: Text, rivals: Rivals, rounds: int = _ROUNDS) -> Fit:
    """Return the shares with the least slack over the used steps; rivals are added until all others fit."""
    merged = text.merged()
    rivals = _joined([rivals], text.used)
    for _ in range(rounds):
        shares, slack = _solve(text, rivals, text.rates(*rivals) - merged[rivals.steps])
        more = _joined([rivals, text.counts.rivals(text.columns(shares), slack)], text.used)
        if more.steps.size == rivals.steps.size:
            break
        rivals = more
    return Fit(shares, rivals)


def _solve(text: Text, rivals: Rivals, more: Floats) -> tuple[Floats, Rivals]:
    """Minimize the slack of steps and of pairs by which rivals are more frequent in the mixture."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack

    rows, n = more.shape
    (steps, step), (pairs, pair) = (np.unique(kind, return_inverse=True) for kind in rivals)
    slack = [csr_array((-np.ones(rows), (np.arange(rows), which))) for which in (step, pair)]
    limits = hstack([csr_array(more), *slack], format="csr")
    is_share = np.arange(limits.shape[1]) < n
    whole = {"A_eq": csr_array(is_share[None].astype(float)), "b_eq": [1.0]}
    answer = linprog(~is_share, A_ub=limits, b_ub=np.zeros(rows), **whole, method="highs")
    shares = np.maximum(answer.x[:n], 0)
    of_steps, of_pairs = np.zeros(text.counts.n_steps), np.zeros(text.counts.n_pairs)
    of_steps[steps], of_pairs[pairs] = answer.x[n : n + steps.size], answer.x[n + steps.size :]
    return shares / shares.sum(), Rivals(of_steps, of_pairs)


def half(text: Text, rng: np.random.Generator) -> Text:
    """Return random halves of the parts of each candidate and of the steps."""
    parts = rng.permuted(np.tile(np.arange(text.weights.shape[1]) % 2, (len(text.weights), 1)), axis=1)
    return text._replace(weights=parts.astype(float), used=text.used & (rng.permutation(text.used.size) % 2 == 0))
