"""Sums over documents, kept apart by jackknife group, and the ratios made of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.shards import Shard
from tokbench.metrics.contract import Measured, NotApplicable

__all__ = ["MIN_BUCKETS", "Sums"]

MIN_BUCKETS = 6
"""Fewer jackknife groups than this give no interval."""


class Sums:
    """Totals of a few quantities over documents; adding two is exact, in any order.

    Attributes:
        documents: how many documents went in.
        columns: by quantity, float64[BUCKETS]: the sum in each jackknife group. They are sums of
            integers, so no digit is lost below 2**53.
    """

    def __init__(self, documents: int, columns: Mapping[str, NDArray[np.float64]]) -> None:
        self.documents = documents
        self.columns = dict(columns)

    @classmethod
    def of(cls, shard: Shard, **values: NDArray[Any]) -> Sums:
        """Sums over a shard of quantities given by document."""
        return cls(len(shard), {name: shard.per_bucket(each) for name, each in values.items()})

    def __add__(self, other: Sums) -> Sums:
        columns = {name: self.columns[name] + other.columns[name] for name in self.columns}
        return Sums(self.documents + other.documents, columns)

    def total(self, name: str) -> Measured:
        """The sum of a quantity."""
        return Measured(float(self.columns[name].sum()), self.documents)

    def ratio(self, above: str, below: str, *, unit: str = "") -> Measured | NotApplicable:
        """Sum of one quantity over sum of another, with its jackknife interval."""
        total = float(self.columns[below].sum())
        if not total:
            return NotApplicable(f"there are no {below.replace('_', ' ')}")
        value = float(self.columns[above].sum()) / total
        low, high = jackknife(self.columns[above], self.columns[below])
        return Measured(value, self.documents, low, high, unit)

    def share(self, above: str, below: str, *, unit: str = "") -> Measured | NotApplicable:
        """A ratio of a part to its whole: its interval ends at 1."""
        ratio = self.ratio(above, below, unit=unit)
        if isinstance(ratio, NotApplicable) or ratio.ci_high is None:
            return ratio
        return ratio._replace(ci_high=min(1.0, ratio.ci_high))

    def raw(self) -> dict[str, Any]:
        """The sums as JSON data: integers, by jackknife group."""
        columns = {name: [int(x) for x in column] for name, column in self.columns.items()}
        return {"documents": self.documents, "sums": columns}


def jackknife(above: NDArray[np.float64], below: NDArray[np.float64]) -> tuple[float, float] | tuple[None, None]:
    """95 % interval of ``sum(above) / sum(below)`` from sums by group, each group left out in turn.

    With g groups and leave-one-out ratios r_i the standard error is sqrt((g - 1) / g * sum((r_i -
    mean(r))**2)) (Efron and Stein 1981, "The jackknife estimate of variance"); the interval is the
    ratio plus and minus Student's t quantile at g - 1 degrees of freedom times that, not below zero.
    Where nothing varies, as when every document comes back, the jackknife has nothing to say: no interval.

    >>> low, high = jackknife(np.array([4.0, 5, 6, 4, 5, 6]), np.array([2.0] * 6))
    >>> round(low, 3), round(high, 3)
    (2.031, 2.969)
    """
    used = below > 0
    groups = int(used.sum())
    if groups < MIN_BUCKETS:
        return None, None
    a, b = above[used], below[used]
    value = a.sum() / b.sum()
    left_out = (a.sum() - a) / (b.sum() - b)
    error = math.sqrt((groups - 1) / groups * float(((left_out - left_out.mean()) ** 2).sum()))
    reach = student_t(groups - 1) * error
    if not reach:
        return None, None
    return max(0.0, float(value - reach)), float(value + reach)


@cache
def student_t(freedom: int) -> float:
    """The 97.5 % quantile of Student's t, from the normal quantile by Cornish and Fisher's expansion.

    Exact to three digits from 5 degrees of freedom on (Abramowitz and Stegun 26.7.5).

    >>> [round(student_t(v), 2) for v in (5, 10, 31)]
    [2.57, 2.23, 2.04]
    """
    z = NormalDist().inv_cdf(0.975)
    g1 = (z**3 + z) / 4
    g2 = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    g3 = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    g4 = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
    return z + g1 / freedom + g2 / freedom**2 + g3 / freedom**3 + g4 / freedom**4
