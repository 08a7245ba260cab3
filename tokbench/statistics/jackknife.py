"""Intervals and p-values: the jackknife over groups of documents, and Student's t."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

MIN_BUCKETS: Final = 6
"""With fewer jackknife groups there is no interval."""

MIN_DOCUMENTS: Final = 30
"""With fewer documents there is no interval."""

_LEAST_FREEDOM: Final = 4
_LONGEST: Final = 0.6
_POWER: Final = 0.6
_MOST_OF_VARIANCE: Final = 0.5
_STRAIGHT: Final = 1e-6


class Lengths(NamedTuple):
    """The lengths of the documents on which a ratio rests, in the unit by which it divides.

    Attributes:
        documents: the number of documents.
        longest: the share of the longest document in the sum of all, 0 … 1; 0 if it is not known.
    """

    documents: int
    longest: float

    def shortcoming(self) -> str:
        """Return the reason why the documents are too few or too uneven for an interval, or an empty string.

        The longest of n documents may have at most 0.6 / n**0.6 of the whole. No document then has much leverage, and
        longer ones that the text happens to lack are unlikely: of lengths with a tail index below 2.5, the longest
        has more than that when n is large. (A finite-sample form of Lindeberg's condition; the study of coverage in
        ``tests/metrics/test_coverage.py`` chose the two numbers.)

        >>> Lengths(66, 0.04).shortcoming(), Lengths(12, 0.1).shortcoming()
        ('', 'too few documents for an interval: 12, and it needs 30')
        >>> Lengths(400, 0.1).shortcoming()
        'too uneven documents for an interval: the longest of 400 has 10 % of the whole, and may have 1.6 %'
        """
        if self.documents < MIN_DOCUMENTS:
            return f"too few documents for an interval: {self.documents}, and it needs {MIN_DOCUMENTS}"
        most = _LONGEST / self.documents**_POWER
        if self.longest > most:
            return (
                f"too uneven documents for an interval: the longest of {self.documents:,} has "
                f"{100 * self.longest:.2g} % of the whole, and may have {100 * most:.2g} %"
            )
        return ""


class Interval(NamedTuple):
    """A 95 % interval, or the reason why there is none.

    Attributes:
        low, high: the ends, in the unit of the value; ``None`` if there is no interval.
        reason: the reason why there is no interval; empty if there is one, or if nothing varies.
    """

    low: float | None
    high: float | None
    reason: str = ""


class Spread(NamedTuple):
    """The spread of a value when each group is left out in turn.

    Attributes:
        error: the standard error, in the unit of the value.
        freedom: the degrees of freedom of the error.
        skewness: the skewness of the value's own distribution, as far as the groups show it.
        largest: the share of one group in the variance, of the group that has the largest one.
    """

    error: float
    freedom: int
    skewness: float = 0.0
    largest: float = 0.0

    def around(self, value: float) -> tuple[float, float]:
        """Return the 95 % interval of a value that cannot be negative.

        It spans two intervals: Student's, and Hall's, which allows for the skewness (Hall 1992, "On the removal of
        skewness by transformation"). Long documents that differ from short ones make a ratio skewed, and
        Student's interval then ends too early on one side.

        >>> [[round(end, 3) for end in Spread(0.1, 31, skew).around(2.0)] for skew in (0.0, 0.3)]
        [[1.796, 2.204], [1.796, 2.28]]
        """
        low, high = self.ends(value)
        return max(0.0, low), high

    def ends(self, value: float) -> tuple[float, float]:
        """Return the 95 % interval of a value that may be negative, such as a difference; see :meth:`around`.

        >>> [round(end, 3) for end in Spread(0.1, 31).ends(0.1)]
        [-0.104, 0.304]
        """
        reach = student_t(self.freedom)
        low = value - self.error * max(reach, self._unbent(reach))
        return low, value - self.error * min(-reach, self._unbent(-reach))

    def p_value(self, difference: float) -> float:
        """Return the p-value of a difference from 0: at most 0.05 where 0 is outside the 95 % interval around it."""
        t = difference / self.error
        return max(p_value(t, self.freedom), p_value(self._bent(t), self.freedom))

    def shortcoming(self) -> str:
        """Return the reason why one group of documents rules an interval out, or an empty string."""
        if self.largest > _MOST_OF_VARIANCE:
            share = f"{100 * self.largest:.0f} % of the variance"
            return f"too uneven documents for an interval: one jackknife group of them has {share}"
        return ""

    def _bent(self, t: float) -> float:
        """Return Hall's cubic f(t) = t + g t^2 / 3 + g^2 t^3 / 27 + g / 6, where g is the skewness."""
        g = self.skewness
        return t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6

    def _unbent(self, x: float) -> float:
        """Return the t whose cubic is x."""
        g = self.skewness
        return x if abs(g) < _STRAIGHT else 3 / g * (math.cbrt(1 + g * (x - g / 6)) - 1)


def spread(left_out: NDArray[np.float64]) -> Spread | None:
    """Return the spread of a value, from its values with each group left out; ``None`` if the groups are too few.

    With g groups and values r_i the standard error is sqrt((g - 1) / g * sum((r_i - mean(r))**2)) (Efron and
    Stein 1981, "The jackknife estimate of variance"). It has g - 1 degrees of freedom if all groups vary alike,
    and fewer if a few of them, with the longest documents, make up most of it: 2 / (k - 1 / g), where k is
    sum(d**4) / sum(d**2)**2 of the deviations d, from matching the first two moments (Satterthwaite 1946). The
    skewness is -sum(d**3) / sum(d**2)**1.5.

    >>> spread(np.array([2.4, 2.5, 2.6, 2.4, 2.5, 2.6])).error
    0.18257418583505555
    """
    groups = len(left_out)
    if groups < MIN_BUCKETS:
        return None
    deviations = left_out - left_out.mean()
    squares = deviations**2
    total = float(squares.sum())
    error = math.sqrt((groups - 1) / groups * total)
    if not error:
        return Spread(0.0, groups - 1)
    shares = squares / total
    excess = float((shares**2).sum()) - 1 / groups
    freedom = 2 / excess if excess > 0 else math.inf
    skewness = -float((shares * (deviations / math.sqrt(total))).sum())
    kept = int(min(max(freedom, _LEAST_FREEDOM), groups - 1))
    return Spread(error, kept, skewness, float(shares.max()))


def leave_out(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return float64[g], the ratio of sums with each group left out. Groups where ``below`` is 0 are dropped."""
    used = below > 0
    a, b = above[used], below[used]
    rest = b.sum() - b
    # A single group leaves nothing: no ratio, as there is no interval.
    return np.asarray((a.sum() - a)[rest > 0] / rest[rest > 0])


def interval(value: float, left_out: NDArray[np.float64], lengths: Lengths) -> Interval:
    """Return the 95 % interval of a value that cannot be negative, from its values with each group left out.

    It is :meth:`Spread.around` the value, and there is none where it could not be trusted: few documents, a document
    that is long beside all others, few groups, or one group that has most of the variance. There is none either where
    nothing varies, as when every document comes back.

    Args:
        value: the value of all documents.
        left_out: float64[g], the value with each jackknife group left out.
        lengths: the lengths of the documents.

    >>> interval(2.5, np.array([2.4, 2.5, 2.6, 2.4, 2.5]), Lengths(66, 0.02)).reason
    'too few documents for an interval: they fall into 5 jackknife groups, and it needs 6'
    """
    if reason := lengths.shortcoming():
        return Interval(None, None, reason)
    its_spread = spread(left_out)
    if its_spread is None:
        groups = f"they fall into {len(left_out)} jackknife groups, and it needs {MIN_BUCKETS}"
        return Interval(None, None, f"too few documents for an interval: {groups}")
    if (reason := its_spread.shortcoming()) or not its_spread.error:
        return Interval(None, None, reason)
    return Interval(*its_spread.around(value))


def jackknife(above: NDArray[np.float64], below: NDArray[np.float64], lengths: Lengths) -> Interval:
    """Return the 95 % interval of ``sum(above) / sum(below)``, from sums by group, each group left out in turn.

    Args:
        above: float64[g], the sum that is divided, in each jackknife group.
        below: float64[g], the sum by which it is divided.
        lengths: the lengths of the documents, in the unit of ``below``.

    >>> interval = jackknife(np.array([4.0, 5, 6, 4, 5, 6]), np.array([2.0] * 6), Lengths(60, 0.02))
    >>> round(interval.low, 3), round(interval.high, 3)
    (2.031, 2.969)
    """
    total = float(below.sum())
    return interval(float(above.sum()) / total if total else 0.0, leave_out(above, below), lengths)


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


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for the number of tests.

    If findings are the values of at most 0.05, at most 1 family of tests in 20 has a false finding.

    Holm 1979, "A simple sequentially rejective multiple test procedure": the k-th smallest of m is multiplied by
    m - k + 1 and is at least the one before it.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    corrected, highest = [0.0] * len(p_values), 0.0
    for rank, k in enumerate(sorted(range(len(p_values)), key=lambda k: p_values[k])):
        highest = max(highest, min(1.0, p_values[k] * (len(p_values) - rank)))
        corrected[k] = highest
    return corrected
