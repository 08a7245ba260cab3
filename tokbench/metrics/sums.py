"""Sums over documents by jackknife group, and ratios of such sums with their intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.contracts.metric import Measured, NotApplicable
from tokbench.corpus.shards import Shard
from tokbench.metrics.jackknife import jackknife


class Sums:
    """Sums of several quantities over documents. Adding two of them is exact, in any order.

    Attributes:
        documents: the number of documents.
        columns: for each quantity, float64[BUCKETS], the sum in each jackknife group. They are sums of integers, so
            they are exact below 2**53.

    >>> sums = Sums(3, {"tokens": np.array([4.0, 6.0]), "bytes": np.array([20.0, 20.0])})
    >>> (sums + sums).total("tokens").value, sums.ratio("bytes", "tokens").value
    (20.0, 4.0)
    """

    def __init__(self, documents: int, columns: Mapping[str, NDArray[np.float64]]) -> None:
        self.documents = documents
        self.columns = dict(columns)

    @classmethod
    def of(cls, shard: Shard, **values: NDArray[Any]) -> Sums:
        """Sum quantities over a shard.

        Args:
            shard: the documents.
            **values: for each quantity, an array with one number for each document.
        """
        return cls(len(shard), {name: shard.per_bucket(each) for name, each in values.items()})

    def __add__(self, other: Sums) -> Sums:
        columns = {name: self.columns[name] + other.columns[name] for name in self.columns}
        return Sums(self.documents + other.documents, columns)

    def total(self, name: str) -> Measured:
        """Return the sum of a quantity."""
        return Measured(float(self.columns[name].sum()), self.documents)

    def ratio(self, above: str, below: str, *, unit: str = "") -> Measured | NotApplicable:
        """Return the sum of one quantity divided by the sum of another, with its jackknife interval."""
        total = float(self.columns[below].sum())
        if not total:
            return NotApplicable(f"there are no {below.replace('_', ' ')}")
        value = float(self.columns[above].sum()) / total
        low, high = jackknife(self.columns[above], self.columns[below])
        return Measured(value, self.documents, low, high, unit)

    def share(self, above: str, below: str, *, unit: str = "") -> Measured | NotApplicable:
        """Return the ratio of a part to its whole; its interval ends at 1."""
        ratio = self.ratio(above, below, unit=unit)
        if isinstance(ratio, NotApplicable) or ratio.ci_high is None:
            return ratio
        return ratio._replace(ci_high=min(1.0, ratio.ci_high))

    def raw(self) -> dict[str, object]:
        """Return the sums as JSON data: integers, by jackknife group."""
        columns = {name: [int(x) for x in column] for name, column in self.columns.items()}
        return {"documents": self.documents, "sums": columns}
