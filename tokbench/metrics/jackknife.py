"""Intervals and p-values: the jackknife over groups of documents, and Student's t."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MIN_BUCKETS = 6
"""With fewer jackknife groups there is no interval."""

_LEAST_FREEDOM = 4


class Spread(NamedTuple):
    """The spread of a value when each group is left out in turn.

    Attributes:
        error: the standard error, in the unit of the value.
        freedom: the degrees of freedom of the error.
    """

    error: float
    freedom: int

    def around(self, value: float) -> tuple[float, float]:
        """Return the 95 % interval of a value that cannot be negative."""
        reach = student_t(self.freedom) * self.error
        return max(0.0, value - reach), value + reach


def spread(left_out: NDArray[np.float64]) -> Spread | None:
    """Return the spread of a value, from its values with each group left out; ``None`` if the groups are too few.

    With g groups and values r_i the standard error is sqrt((g - 1) / g * sum((r_i - mean(r))**2)) (Efron and
    Stein 1981, "The jackknife estimate of variance"). It has g - 1 degrees of freedom if all groups vary alike,
    and fewer if a few of them, with the longest documents, make up most of it: 2 / (k - 1 / g), where k is
    sum(d**4) / sum(d**2)**2 of the deviations d, from matching the first two moments (Satterthwaite 1946).

    >>> spread(np.array([2.4, 2.5, 2.6, 2.4, 2.5, 2.6]))
    Spread(error=0.18257418583505555, freedom=5)
    """
    groups = len(left_out)
    if groups < MIN_BUCKETS:
        return None
    squares = (left_out - left_out.mean()) ** 2
    total = float(squares.sum())
    error = math.sqrt((groups - 1) / groups * total)
    if not error:
        return Spread(0.0, groups - 1)
    excess = float(((squares / total) ** 2).sum()) - 1 / groups
    freedom = 2 / excess if excess > 0 else math.inf
    return Spread(error, int(min(max(freedom, _LEAST_FREEDOM), groups - 1)))


def leave_out(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return float64[g], the ratio of sums with each group left out. Groups where ``below`` is 0 are dropped."""
    used = below > 0
    a, b = above[used], below[used]
    rest = b.sum() - b
    # A single group leaves nothing: no ratio, as there is no interval.
    return np.asarray((a.sum() - a)[rest > 0] / rest[rest > 0])


def jackknife(above: NDArray[np.float64], below: NDArray[np.float64]) -> tuple[float, float] | tuple[None, None]:
    """Return the 95 % interval of ``sum(above) / sum(below)``, from sums by group, each group left out in turn.

    The ratio plus and minus Student's t quantile times its standard error (:func:`spread`), not below zero.
    Where nothing varies, as when every document comes back, there is no interval.

    Of 1,000 samples of a large corpus each, the interval held the ratio of the whole in 94 to 96 of 100, for ratios,
    premiums and two tokenizers beside each other: aligned sentences from 66 on, lines of code from 200 on. A sample
    cannot tell of long documents that are not in it: where a few hold most of what differs, it was 89 to 96 of 100
    (whole source files), or 47 (200 paragraphs, of which a single one that is a table holds a twentieth of all tokens).

    >>> low, high = jackknife(np.array([4.0, 5, 6, 4, 5, 6]), np.array([2.0] * 6))
    >>> round(low, 3), round(high, 3)
    (2.031, 2.969)
    """
    found = spread(leave_out(above, below))
    if found is None or not found.error:
        return None, None
    return found.around(float(above.sum() / below.sum()))


@cache
def student_t(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t, from the normal quantile by Cornish and Fisher's expansion.

    Exact to three digits from 5 degrees of freedom on (Abramowitz and Stegun 26.7.5).

    >>> [round(student_t(v), 2) for v in (4, 5, 10, 31)]
    [2.78, 2.57, 2.23, 2.04]
    """
    z = NormalDist().inv_cdf(0.975)
    g1 = (z**3 + z) / 4
    g2 = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    g3 = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    g4 = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
    return z + g1 / freedom + g2 / freedom**2 + g3 / freedom**3 + g4 / freedom**4


def p_value(t: float, freedom: int) -> float:
    """Return the probability of a Student's t at least as far from zero, on either side.

    Abramowitz and Stegun 26.7.3 and 26.7.4.

    >>> round(p_value(2.570582, 5), 6), round(p_value(2.039513, 31), 6), round(p_value(2.228139, 10), 6)
    (0.05, 0.05, 0.05)
    """
    angle = math.atan(abs(t) / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = term if freedom > 1 else 0.0
    for k in range(3 if odd else 2, freedom - 1, 2):
        term *= cosine**2 * (k - 1) / k
        total += term
    inside = 2 / math.pi * (angle + sine * total) if odd else sine * total
    return min(1.0, max(0.0, 1.0 - inside))
