"""Intervals and p-values: the jackknife over documents, and Student's t.

Each interval is a cluster-robust 95% interval (Miller 2024, "Adding Error Bars to Evals"; Riezler and Maxwell 2005,
"On Some Pitfalls in Automatic Evaluation and Significance Testing for MT").
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from functools import cache
from operator import itemgetter
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.statistics.sample_units import SampleUnits

LEAST_UNITS: Final = 10

_ROUGH_UNITS: Final = 30
_ROUGH_FREEDOM: Final = 8
"""With fewer units, or fewer degrees of freedom, an interval is rough."""

_LEAST_FREEDOM: Final = 4
_LONGEST_REACH: Final = 1.5
_LEAST_OF_STRATUM: Final = 3
_STRAIGHT: Final = 1e-6


class Interval(NamedTuple):
    """A 95% interval, or the reason why there is none."""

    low: float | None
    high: float | None
    reason: str = ""


class Spread(NamedTuple):
    """The spread of a value when each unit is left out in turn."""

    error: float
    freedom: int
    skewness: float = 0.0
    """Of the value's own distribution, estimated from the units."""
    units: int = _ROUGH_UNITS

    @property
    def rough(self) -> str:
        """Why an interval from this spread is rough, or empty.

        >>> Spread(0.1, 20, units=24).rough, Spread(0.1, 5, units=90).rough, Spread(0.1, 20, units=40).rough
        ('rough: only 24 documents', 'rough: few of its 90 documents decide it', '')
        """
        if self.units < _ROUGH_UNITS:
            return f"rough: only {self.units} documents"
        return f"rough: few of its {self.units} documents decide it" if self.freedom < _ROUGH_FREEDOM else ""

    def around(self, value: float) -> tuple[float, float]:
        """Return the 95% interval of a value that cannot be negative.

        It spans Student's, and Hall's, which allows for skewness (Hall 1992, "On the removal of skewness by
        transformation") and reaches at most 1.5 times as far.

        >>> [[round(end, 3) for end in Spread(0.1, 31, skew).around(2.0)] for skew in (0.0, 0.3, 1.0)]
        [[1.796, 2.204], [1.796, 2.28], [1.796, 2.306]]
        """
        low, high = self.ends(value)
        return max(0.0, low), high

    def ends(self, value: float) -> tuple[float, float]:
        """Return the 95% interval of a value that may be negative; see :meth:`around`."""
        reach = student_t(self.freedom)
        below, above = (_reach(reach, skewness) for skewness in (self.skewness, -self.skewness))
        return value - self.error * below, value + self.error * above

    def p_value(self, difference: float) -> float:
        """Return the p-value of a difference from 0, consistent with the 95% interval.

        >>> spread = Spread(0.1, 31, 0.3)
        >>> round(spread.p_value(spread.error * 2.039513), 4), round(spread.p_value(-spread.error * 2.796), 3)
        (0.05, 0.05)
        """
        t = difference / self.error
        skewness = self.skewness if t > 0 else -self.skewness
        return p_value(_student_reach(abs(t), skewness), self.freedom)


def _reach(student: float, skewness: float) -> float:
    return min(_LONGEST_REACH * student, max(student, _unbent(student, skewness)))


def _student_reach(reach: float, skewness: float) -> float:
    return max(reach / _LONGEST_REACH, min(reach, _bent(reach, skewness)))


def _bent(t: float, skewness: float) -> float:
    """Return Hall's cubic f(t) = t + g t^2 / 3 + g^2 t^3 / 27 + g / 6, where g is the skewness."""
    return t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / 6


def _unbent(x: float, skewness: float) -> float:
    if abs(skewness) < _STRAIGHT:
        return x
    return 3 / skewness * (math.cbrt(1 + skewness * (x - skewness / 6)) - 1)


def spread(left_out: NDArray[np.float64], units: SampleUnits | None = None) -> Spread | None:
    """Return the spread of a value from float64[g], its values with each unit left out; ``None`` if units are too few.

    With g units and values r_i the standard error is sqrt((g - 1) / g * sum((r_i - mean(r))**2)) (Efron and Stein 1981,
    "The jackknife estimate of variance"), with 2 / (k - 1 / g) degrees of freedom, from 4 to g - 1, where k is
    sum(d**4) / sum(d**2)**2 of the deviations d (Satterthwaite 1946). The skewness is -sum(d**3) / sum(d**2)**1.5.

    The mean deviation of each stratum, such as a language with its own documents, is subtracted (Wolter 2007,
    "Introduction to Variance Estimation", 4.5). Strata of one or two units are joined. NaN: units without influence.

    >>> round(spread(np.array([2.4, 2.5, 2.6] * 4)).error, 4)
    0.2708
    """
    used = ~np.isnan(left_out)
    values = left_out[used]
    many = len(values)
    if many < LEAST_UNITS:
        return None
    deviations = (values - values.mean()) * math.sqrt((many - 1) / many)
    strata = 1
    if units is not None:
        of_units = units.strata[used]
        if of_units[0] != of_units[-1]:  # they rise
            names, strata_of = np.unique(of_units, return_inverse=True)
            deviations = _within_strata(deviations, strata_of, units.documents[used])
            strata = len(names)
    squares = deviations**2
    total = float(squares.sum())
    if not total:
        return Spread(0.0, many - 1, units=many)
    shares = squares / total
    excess = float((shares**2).sum()) - 1 / many
    freedom = 2 / excess if excess > 0 else math.inf
    skewness = -float((shares * (deviations / math.sqrt(total))).sum())
    return Spread(math.sqrt(total), int(max(_LEAST_FREEDOM, min(freedom, many - strata))), skewness, many)


def _within_strata(
    deviations: NDArray[np.float64], strata: NDArray[np.int64], documents: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return float64[g], the deviations from the stratum's mean, scaled to its variance."""
    sizes = np.bincount(strata)
    strata = np.where(sizes[strata] < _LEAST_OF_STRATUM, len(sizes), strata)  # small strata join
    sizes = np.bincount(strata)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.bincount(strata, weights=deviations) / np.bincount(strata, weights=documents)
        factor = np.sqrt(sizes / (sizes - 1.0))  # infinite for a single unit, which keeps its deviation
        own = (deviations - mean[strata] * documents) * factor[strata] * math.sqrt((len(strata) - 1) / len(strata))
    return np.asarray(np.where(sizes[strata] > 1, own, deviations), dtype=np.float64)


def leave_out(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return float64[g], the ratio of sums with each unit left out; NaN for units where ``below`` is 0.

    >>> leave_out(np.array([4.0, 5, 6]), np.array([2.0, 0, 2])).tolist()
    [5.5, nan, 4.5]
    """
    rest = below.sum() - below
    # A single unit leaves nothing: the ratio of all replaces it, so that it is counted.
    ratios = np.where(below > 0, above.sum() / (below.sum() or 1.0), np.nan)
    np.divide(above.sum() - above, rest, out=ratios, where=(below > 0) & (rest > 0))
    return ratios


def interval(value: float, left_out: NDArray[np.float64], units: SampleUnits | None = None) -> Interval:
    """Return the 95% interval of a value that cannot be negative, from its values with each unit left out.

    There is none for fewer than 10 units, or where nothing varies; with fewer than 30, or 8 degrees of freedom, it is
    rough. NaN in float64[g] ``left_out`` marks units without influence.

    >>> interval(2.5, np.array([2.4, 2.5, 2.6, 2.4, 2.5])).reason
    'too few documents for an interval: 5, and it needs 10'
    """
    its_spread = spread(left_out, units)
    if its_spread is None:
        used = ~np.isnan(left_out)
        return Interval(None, None, too_few(int(used.sum()), 0 if units is None else int(units.documents[used].sum())))
    if not its_spread.error:
        return Interval(None, None)
    return Interval(*its_spread.around(value), its_spread.rough)


def too_few(units: int, documents: int = 0) -> str:
    """Return why so few units have no interval.

    >>> too_few(1, 40)
    'too few documents for an interval: 1 of 40, equal ones and translations counted once, and it needs 10'
    """
    counted = f"{units} of {documents}, equal ones and translations counted once" if documents > units else f"{units}"
    return f"too few documents for an interval: {counted}, and it needs {LEAST_UNITS}"


def jackknife(above: NDArray[np.float64], below: NDArray[np.float64], units: SampleUnits | None = None) -> Interval:
    """Return the 95% interval of ``sum(above) / sum(below)``, from float64[g] by unit.

    >>> interval = jackknife(np.array([4.0, 5, 6] * 4), np.array([2.0] * 12))
    >>> round(interval.low, 3), round(interval.high, 3)
    (2.229, 2.771)
    """
    if not above.any() or np.array_equal(above, below):  # the ratio is 0 or 1 whatever is left out, as without losses
        used = int(np.count_nonzero(below > 0))
        return Interval(None, None, too_few(used) if used < LEAST_UNITS else "")
    total = float(below.sum())
    return interval(float(above.sum()) / total if total else 0.0, leave_out(above, below), units)


@cache
def student_t(freedom: float) -> float:
    """Return the 97.5% quantile of Student's t, from the normal quantile by Cornish and Fisher's expansion.

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
    """Return the two-sided p-value of Student's t (Abramowitz and Stegun 26.7.3 and 26.7.4).

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


def holm(p_values: Sequence[float], hypotheses: Sequence[Hashable] = ()) -> list[float]:
    """Correct p-values for the number of tests.

    Holm 1979, "A simple sequentially rejective multiple test procedure": the k-th smallest of m is multiplied by m - k
    + 1 and is at least the one before it. Equal ``hypotheses`` count once, as of copied tokenizers; empty if all
    differ.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])], [round(p, 3) for p in holm([0.01, 0.04, 0.04], "abb")]
    ([0.03, 0.06, 0.06], [0.02, 0.04, 0.04])
    """
    tests = dict(zip(hypotheses or range(len(p_values)), p_values, strict=True))
    corrected, highest = dict[Hashable, float](), 0.0
    for rank, (hypothesis, p) in enumerate(sorted(tests.items(), key=itemgetter(1))):
        corrected[hypothesis] = highest = max(highest, min(1.0, p * (len(tests) - rank)))
    return [corrected[hypothesis] for hypothesis in hypotheses or range(len(p_values))]
