"""The measured vocabulary size with the fewest bits per byte, with an interval.

Documents and seeds are drawn with replacement: documents the same for every size, amount and body, seeds for each size
by itself. Deviations from the mean of few are stretched by the root of n / (n - 1) (Rao and Wu 1988, "Resampling
inference with complex survey data"), and by the ratio of Student's t to the normal distribution, with the degrees of
freedom of the three sizes around the best one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin import LEAST_UNITS, student_t, too_few
from tokbench.studies.language_models.scored_bits import LEAST_DIFFERENCE, ScoredBits, bits_verdict

DRAWS: Final = 2_000

_ENDS: Final = (0.025, 0.975)
_NORMAL: Final = NormalDist().inv_cdf(0.975)
_AROUND: Final = 3
_FEWEST: Final = 2

Floats = NDArray[np.float64]
Verdict = Literal["grows", "shrinks", "undecided", "unknown"]


@dataclass(frozen=True, eq=False)
class SizeBits:
    """The bits of scored documents at several sizes, after one amount of training.

    Attributes:
        sizes: int64[s], rising.
        bits: float64[s, r, d], by size, seed and document.
        n_bytes: float64[d], UTF-8, of each document.
    """

    sizes: NDArray[np.int64]
    bits: Floats
    n_bytes: Floats

    @property
    def means(self) -> Floats:
        """float64[s], bits per byte of all documents, the mean over seeds."""
        return np.asarray(self.bits.sum(axis=2).mean(axis=1) / self.n_bytes.sum(), dtype=np.float64)

    @property
    def shortcoming(self) -> str:
        if self.bits.shape[1] < _FEWEST:
            return "one seed shows nothing of other seeds"
        return too_few(len(self.n_bytes)) if len(self.n_bytes) < LEAST_UNITS else ""

    def scored(self, at: int) -> ScoredBits:
        """Return the bits of one size, with seeds as parts of the training text."""
        by_seed = self.bits[at][:, None]  # [r, 1, d]
        return ScoredBits.of(by_seed.mean(axis=0), list(by_seed), self.n_bytes.astype(np.int64))

    @cached_property
    def drawn(self) -> Floats:
        """float64[B, s], bits per byte by draw and size."""
        sizes, seeds, documents = self.bits.shape
        random = np.random.default_rng(0)
        weights = _weights(random.multinomial(documents, np.full(documents, 1 / documents), DRAWS))
        of_seeds = _weights(random.multinomial(seeds, np.full(seeds, 1 / seeds), (DRAWS, sizes)))
        of_seeds = 1 + (of_seeds - 1) * student_t(_AROUND * (seeds - 1)) / _NORMAL
        totals = (weights @ self.bits.reshape(-1, documents).T).reshape(DRAWS, sizes, seeds)
        return np.asarray((totals * of_seeds).mean(axis=2) / (weights @ self.n_bytes)[:, None], dtype=np.float64)


def _weights(counts: NDArray[np.int64]) -> Floats:
    """Return counts, with deviations from 1 stretched by the root of n / (n - 1).

    >>> _weights(np.array([2, 0])).round(3).tolist(), _weights(np.array([4])).tolist()
    ([2.414, -0.414], [1.0])
    """
    n = counts.shape[-1]
    stretch = math.sqrt(n / (n - 1)) if n > 1 else 0.0
    return np.asarray(1 + stretch * (counts - 1), dtype=np.float64)


class BestSize(NamedTuple):
    """The best of the measured sizes, and its 95 % interval in measured sizes.

    Attributes:
        level: itself and its ties: not worse by :func:`~tokbench.studies.language_models.scored_bits.bits_verdict`, or
            best in 2.5 % of the draws.
        edge: ``smallest`` or ``largest`` if it is the first or last measured size; else empty.
        reason: why it has no interval; else empty.
    """

    size: int
    low: int | None
    high: int | None
    level: Sequence[int]
    edge: Literal["", "smallest", "largest"]
    reason: str = ""


def best_size(measured: SizeBits) -> BestSize:
    """Return the best of the measured sizes, its interval, and its ties.

    >>> sizes, n_bytes = np.array([256, 1024, 4096]), np.full(40, 100.0)
    >>> bits = np.array([3.0, 2.0, 2.01])[:, None, None] * np.full((3, 2, 40), 100.0)
    >>> best_size(SizeBits(sizes, bits, n_bytes))
    BestSize(size=1024, low=1024, high=1024, level=[1024, 4096], edge='', reason='')
    """
    means, sizes = measured.means, measured.sizes
    at = int(means.argmin())
    edge: Literal["", "smallest", "largest"] = "smallest" if at == 0 else "largest" if at == len(sizes) - 1 else ""
    reason = measured.shortcoming
    if reason:
        near = [int(size) for size, mean in zip(sizes, means, strict=True) if mean - means[at] < LEAST_DIFFERENCE]
        return BestSize(int(sizes[at]), None, None, near, edge, reason)
    drawn = measured.drawn
    winners = sizes[drawn.argmin(axis=1)]
    low, high = (int(np.quantile(winners, end, method="inverted_cdf")) for end in _ENDS)
    best = measured.scored(at)
    worse = [bits_verdict(best.minus(measured.scored(k)))[0] == "better" for k in range(len(sizes))]
    often = (winners[:, None] == sizes).mean(axis=0) >= _ENDS[0]
    level = sizes[often | ~np.array(worse)]
    return BestSize(int(sizes[at]), low, high, level.tolist(), edge)


def lowest(sizes: NDArray[np.int64], values: Floats) -> Floats:
    """Return for each row of float64[n, s] log2 of the size where bits per byte are lowest.

    It is the minimum of the parabola, in the logarithm of the size, through the best measured size and its two
    neighbours, or the first or the last size itself.

    >>> values = np.array([[3.0, 2.0, 3.0], [3.0, 2.0, 2.5], [1.0, 2.0, 3.0]])
    >>> lowest(np.array([256, 1024, 4096]), values).round(3).tolist()
    [10.0, 10.333, 8.0]
    """
    x = np.log2(sizes)
    at = values.argmin(axis=1)
    lows: Floats = x[at].astype(np.float64)
    rows = np.flatnonzero((at > 0) & (at < len(sizes) - 1))
    k = at[rows]
    x0, x1, x2 = x[k - 1], x[k], x[k + 1]
    y0, y1, y2 = values[rows, k - 1], values[rows, k], values[rows, k + 1]
    left, right = (y1 - y0) / (x1 - x0), (y2 - y1) / (x2 - x1)
    curved = right > left
    bend = np.where(curved, right - left, 1.0)
    turn = (x0 + x1) / 2 - left * (x2 - x0) / (2 * bend)
    lows[rows] = np.where(curved, np.clip(turn, x0, x2), x1)
    return lows


class Move(NamedTuple):
    """The change of the best size from one setting to another, in doublings, with its 95 % interval.

    ``verdict`` is ``grows`` or ``shrinks`` if 0 is outside the interval, else ``undecided``; ``unknown`` without one.
    """

    doublings: float
    low: float | None
    high: float | None
    verdict: Verdict


def move(before: SizeBits, after: SizeBits) -> Move:
    """Return the move of the best size between settings with the same scored documents.

    >>> sizes, n_bytes = np.array([256, 1024, 4096]), np.full(40, 100.0)
    >>> def bits(*values):
    ...     return SizeBits(sizes, np.array(values)[:, None, None] * np.full((3, 2, 40), 100.0), n_bytes)
    >>> move(bits(2.0, 2.5, 3.0), bits(3.0, 2.0, 3.0))
    Move(doublings=2.0, low=2.0, high=2.0, verdict='grows')
    >>> move(bits(2.0, 2.5, 3.0), bits(2.0, 2.5, 3.0)).verdict
    'undecided'
    """
    one, two = (lowest(setting.sizes, setting.means[None])[0] for setting in (before, after))
    way = float(two - one)
    if before.shortcoming or after.shortcoming:
        return Move(way, None, None, "unknown")
    ways = lowest(after.sizes, after.drawn) - lowest(before.sizes, before.drawn)
    low, high = (float(end) for end in np.quantile(ways, _ENDS))
    return Move(way, low, high, "grows" if low > 0 else "shrinks" if high < 0 else "undecided")


def at_flops(flops: Sequence[float], bits: Floats, budget: float) -> Floats | None:
    """Return float64[d], the bits at a budget between measured ones, if inside, linear in the logarithm of FLOPs.

    ``bits`` are float64[amounts, d] at rising ``flops``.

    >>> at_flops([100.0, 400.0], np.array([[4.0], [2.0]]), 200.0).tolist()
    [3.0]
    >>> at_flops([100.0, 400.0], np.array([[4.0], [2.0]]), 500.0)
    """
    if not flops[0] <= budget <= flops[-1]:
        return None
    after = min(int(np.searchsorted(flops, budget, side="right")), len(flops) - 1)
    share = 1.0 if after == 0 else np.log(budget / flops[after - 1]) / np.log(flops[after] / flops[after - 1])
    return np.asarray(bits[after] * share + bits[max(after - 1, 0)] * (1 - share), dtype=np.float64)
