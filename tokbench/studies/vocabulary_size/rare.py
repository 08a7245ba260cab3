"""Estimates which share of the ids training meets too rarely, from a text that is far smaller than the training.

A text of n tokens shows the rates of ids down to about 10 / n. Below, rates are fitted: the logarithms of the rates of
the ids are taken to be normally distributed (Preston 1948, "The Commonness, and Rarity, of Species", where ids are
species), and an id occurs in bursts, as the same id stands several times in one document (its counts have the variance
of a negative binomial, ``burst`` times that of a Poisson). Mean and deviation are those with the highest likelihood of
the counts, ids that the text does not hold among them, since the number of ids is known.

The fit is checked on the text itself: fitted on a tenth, it predicts how many ids the whole holds fewer than 10 times.
The error that is stated is the larger one of that and of 10 points, for each tenfold that the limit lies beyond what
the text shows.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.studies.vocabulary_size.trainable import FEW

SHOWN: Final = 10
"""The occurrences from which on a text shows the rate of an id."""

ERROR: Final = 0.10
"""The least error stated for each tenfold beyond what a text shows, as a share of the ids."""

_CAP: Final = 50
"""Counts from here on are one class: the fit is of the rare ids, not of the frequent ones."""

# Equal steps, as the nodes of Gauss and Hermite lie too far apart for counts near the cap.
_NODES: Final = np.linspace(-6.0, 6.0, 121)
_WEIGHTS: Final = np.exp(-(_NODES**2) / 2) / np.exp(-(_NODES**2) / 2).sum()
_STEPS: Final = 7
_BURSTS: Final = (2, 20)
"""The counts of the ids from which bursts are estimated."""

_BOUNDS: Final = 25
"""The limits between the lowest rate that a text shows and the one asked for, at which bounds are looked at."""

_NO_BURST: Final = 1.01

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


class RareIds(NamedTuple):
    """The share of the ids that training is expected to hold fewer than 100 times."""

    share: float
    """The estimate, 0 … 1."""
    low: float
    """The share less its error."""
    high: float
    """The share plus its error."""
    shown: bool
    """``True`` if the text shows rates as low as this needs; otherwise they are fitted."""


class Tail(NamedTuple):
    """The rates of the ids of a vocabulary, as a text of some tokens makes them likely."""

    middle: float
    """The mean of the natural logarithms of the rates."""
    deviation: float
    """Their standard deviation."""
    burst: float
    """The variance of the counts, as a multiple of what it were if ids came one by one."""

    def below(self, rate: float) -> float:
        """Return the share of the ids with a smaller rate.

        >>> Tail(math.log(1e-5), 2.0, 1.0).below(1e-5)
        0.5
        """
        return NormalDist(self.middle, self.deviation).cdf(math.log(rate))

    def fewer(self, count: int, tokens: float) -> float:
        """Return the share of the ids that a text of so many tokens is expected to hold fewer times."""
        mean = tokens * np.exp(self.middle + self.deviation * _NODES)
        return float(_WEIGHTS @ _classes(mean, self.burst, count)[:-1].sum(axis=0))


def rare_ids(counts: Counts, tenth: Counts, training_tokens: float) -> RareIds:
    """Return the share of the ids that a training of so many tokens is expected to hold fewer than 100 times.

    Args:
        counts: int64[v], how often each id of the vocabulary is in the text.
        tenth: int64[v], the same of about a tenth of its documents; all 0 or empty if that is not known: then nothing
            is known but that no more ids are rare than the text holds fewer than 10 times.
        training_tokens: the tokens of the training.
    """
    tokens = int(counts.sum())
    expected = FEW * tokens / training_tokens  # in one step, as whole numbers are exact
    if expected >= SHOWN:
        share = float((counts < expected).mean())
        return RareIds(share, share, share, shown=True)
    most = float((counts < SHOWN).mean())
    if not most:
        return RareIds(0.0, 0.0, 0.0, shown=True)
    rate, lowest = FEW / training_tokens, SHOWN / tokens
    tail = fitted(counts, tenth)
    share = min(tail.below(rate), most)
    if not tenth.sum():
        return RareIds(share, 0.0, most, shown=False)
    error, tenfolds = stated_error(counts, tenth), math.log10(lowest / rate)
    # A lower limit holds no more ids than a higher one, so the least of the bounds at all limits above it holds.
    bounds = (tail.below(lowest / 10**way) + error * way for way in np.linspace(0.0, tenfolds, _BOUNDS).tolist())
    high = max(share, min(most, *bounds))
    return RareIds(share, max(0.0, share - error * tenfolds), high, shown=False)


def stated_error(counts: Counts, tenth: Counts) -> float:
    """Return the error for a tenfold: that of the fit on a tenth, which predicts the whole, or 10 points if more."""
    predicted = fitted(tenth, np.zeros(0, dtype=np.int64), burst(counts, tenth)).fewer(SHOWN, float(counts.sum()))
    return max(ERROR, abs(predicted - float((counts < SHOWN).mean())))


def burst(counts: Counts, tenth: Counts) -> float:
    """Return the variance of the counts, beside that of ids that come one by one, from their counts in a tenth."""
    some = (counts >= _BURSTS[0]) & (counts <= _BURSTS[1])
    if not tenth.sum() or not some.any():
        return 1.0
    share = tenth.sum() / counts.sum()
    if not 0 < share < 1:
        return 1.0
    away = (tenth[some] - share * counts[some]) ** 2
    return max(1.0, float(away.sum() / (counts[some] * share * (1 - share)).sum()))


def fitted(counts: Counts, tenth: Counts, bursts: float | None = None) -> Tail:
    """Return the rates that make counts likeliest; how ids come in bursts is estimated unless it is given."""
    tokens = max(int(counts.sum()), 1)
    spread = burst(counts, tenth) if bursts is None else bursts
    seen = np.bincount(np.minimum(counts, _CAP), minlength=_CAP + 1)
    middles, deviations = np.linspace(math.log(1e-9), math.log(0.1), 13), np.geomspace(0.3, 6.0, 13)
    for _ in range(_STEPS):
        likely = _likelihood(seen, middles + math.log(tokens), deviations, spread)
        at = np.unravel_index(int(likely.argmax()), likely.shape)
        middle, deviation = float(middles[at[0]]), float(deviations[at[1]])
        middles = np.linspace(middle - 2 * np.diff(middles)[0], middle + 2 * np.diff(middles)[0], 9)
        ratio = (deviations[1] / deviations[0]) ** 2
        deviations = np.clip(np.geomspace(deviation / ratio, deviation * ratio, 9), 0.05, 12.0)
    return Tail(middle, deviation, spread)


def _likelihood(seen: Counts, middles: Floats, deviations: Floats, burst_of: float) -> Floats:
    """Return the log-likelihood of a histogram of counts for each middle and deviation of the logarithms of means."""
    means = np.exp(middles[:, None, None] + deviations[None, :, None] * _NODES)
    chances = np.maximum(_classes(means, burst_of, _CAP) @ _WEIGHTS, 1e-300)
    return np.asarray(np.tensordot(seen.astype(np.float64), np.log(chances), axes=1), dtype=np.float64)


def _classes(means: Floats, burst_of: float, cap: int) -> Floats:
    """Return the chances of the counts 0, 1, … cap - 1, and of all others, along a new first axis.

    >>> _classes(np.array([1.0]), 1.0, 2).round(4).ravel().tolist(), _classes(np.array([1.0]), 2.0, 2).ravel().tolist()
    ([0.3679, 0.3679, 0.2642], [0.5, 0.25, 0.25])
    """
    means = np.minimum(means, 1e6)
    chances = np.empty((cap + 1, *means.shape))
    alone = burst_of < _NO_BURST
    shape = means if alone else means / (burst_of - 1)
    chances[0] = np.exp(-means) if alone else np.exp(-shape * math.log(burst_of))
    for k in range(1, cap):
        factor = means / k if alone else (shape + k - 1) / k * (1 - 1 / burst_of)
        chances[k] = chances[k - 1] * factor
    chances[cap] = np.maximum(1 - chances[:cap].sum(axis=0), 0.0)
    return chances
