"""Sums over documents by jackknife group, ratios of such sums with their intervals, and the metrics that add them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import add
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.shards import Shard
from tokbench.foundation.errors import ContractError
from tokbench.measuring.encoded_shard import EncodedShard
from tokbench.measuring.metric import CorpusStates, Measured, NotApplicable
from tokbench.results.cells import WHOLE
from tokbench.statistics.jackknife import Lengths, jackknife


class Sums:
    """Sums of several quantities over documents. Adding two of them is exact, in any order.

    Attributes:
        documents: the number of documents.
        columns: for each quantity, float64[BUCKETS], the sum in each jackknife group. They are sums of integers, so
            they are exact below 2**53.
        largest: for each quantity, the largest value of a single document; empty if that is not known.

    >>> sums = Sums(3, {"tokens": np.array([4.0, 6.0]), "bytes": np.array([20.0, 20.0])})
    >>> (sums + sums).total("tokens").value, sums.ratio("bytes", "tokens").value
    (20.0, 4.0)
    """

    def __init__(
        self, documents: int, columns: Mapping[str, NDArray[np.float64]], largest: Mapping[str, int] | None = None
    ) -> None:
        self.documents = documents
        self.columns = dict(columns)
        self.largest = dict(largest or {})

    @classmethod
    def of(cls, shard: Shard, **values: NDArray[Any]) -> Sums:
        """Sum quantities over a shard.

        Args:
            shard: the documents.
            **values: for each quantity, an array with one number for each document.
        """
        columns = {name: shard.per_bucket(numbers) for name, numbers in values.items()}
        return cls(len(shard), columns, {name: int(numbers.max(initial=0)) for name, numbers in values.items()})

    def __add__(self, other: Sums) -> Sums:
        columns = {name: self.columns[name] + other.columns[name] for name in self.columns}
        largest = {name: max(most, other.largest[name]) for name, most in self.largest.items() if name in other.largest}
        return Sums(self.documents + other.documents, columns, largest)

    def total(self, name: str) -> Measured:
        """Return the sum of a quantity."""
        return Measured(float(self.columns[name].sum()), self.documents)

    def ratio(self, above: str, below: str, *, unit: str = "", n: int | None = None) -> Measured | NotApplicable:
        """Return the sum of one quantity divided by the sum of another, with its jackknife interval.

        Args:
            above: the quantity that is divided.
            below: the quantity by which it is divided.
            unit: the unit of the value, if it differs from that of the metric.
            n: the number of documents on which the value rests; all documents by default.
        """
        total = float(self.columns[below].sum())
        if not total:
            return NotApplicable(f"there are no {below.replace('_', ' ')}")
        value = float(self.columns[above].sum()) / total
        interval = jackknife(self.columns[above], self.columns[below], self.lengths(below, n))
        count = self.documents if n is None else n
        return Measured(value, count, interval.low, interval.high, unit, interval.reason, (above, below))

    def lengths(self, name: str, n: int | None = None) -> Lengths:
        """Return the lengths of the documents, measured by one quantity; ``n`` is their number if not all count."""
        total = float(self.columns[name].sum())
        return Lengths(self.documents if n is None else n, self.largest.get(name, 0) / total if total else 0.0)

    def share(self, above: str, below: str, *, unit: str = "", n: int | None = None) -> Measured | NotApplicable:
        """Return the ratio of a part to its whole; its interval ends at 1."""
        ratio = self.ratio(above, below, unit=unit, n=n)
        if isinstance(ratio, NotApplicable) or ratio.ci_high is None:
            return ratio
        return ratio._replace(ci_high=min(1.0, ratio.ci_high))

    def raw(self) -> dict[str, object]:
        """Return the sums as JSON data: integers, by jackknife group; and the largest value of a single document."""
        columns = {name: [int(x) for x in column] for name, column in self.columns.items()}
        return {"documents": self.documents, "sums": columns, "largest": self.largest}

    @classmethod
    def restore(cls, raw: Mapping[str, Any], before: int = 0) -> Sums:
        """Return the sums whose data :meth:`raw` gave.

        >>> raw = Sums(3, {"tokens": np.array([4.0, 6.0])}, {"tokens": 5}).raw()
        >>> Sums.restore(raw).raw() == raw
        True
        """
        del before  # sums do not number documents
        columns = {name: np.array(column, dtype=np.float64) for name, column in raw["sums"].items()}
        return cls(raw["documents"], columns, raw["largest"])


class SummedMetric:
    """The common part of metrics whose states are added with ``+`` and give their JSON data by ``raw()``.

    Attributes:
        state: the class of the states, if it has ``restore(raw, before)``, the inverse of ``raw()``. Without it, runs
            with the metric cannot be merged.
    """

    state: ClassVar[Any] = None

    def __init__(self, options: Any) -> None:
        self._options = options

    def merge(self, one: Any, other: Any) -> Any:
        """Return the sum of both states."""
        return one + other

    def raw(self, state: Any) -> Any:
        """Return a state as JSON data."""
        return state.raw()

    def restore(self, raw: Any, before: int) -> Any:
        """Return the state that ``raw`` has written; see :class:`tokbench.measuring.metric.RestoresStates`.

        Raises:
            ContractError: the class of the states does not say how.
        """
        if self.state is None:
            raise ContractError(f"{type(self).__name__} does not say how its states are restored: give it 'state'")
        return self.state.restore(raw, before)


class PairedSums(SummedMetric):
    """The common part of the families that compare tokenizers on the same documents."""

    state = Sums

    def map(self, encoded: EncodedShard) -> Sums:
        """Return the sums of one shard: tokens, and documents that do not come back."""
        return Sums.of(encoded.shard, tokens=encoded.tokens, lossy=~encoded.comes_back)


def sums_of(states: CorpusStates, name: str, group: str) -> Sums | None:
    """Return the sums of a group, or of the whole corpus; ``None`` if it was not measured."""
    parts = [states.states.get((name, member)) for member in (states.groups if group == WHOLE else [group])]
    known = [part for part in parts if part is not None]
    return reduce(add, known) if len(known) == len(parts) else None


def shortcoming(name: str, sums: Sums | None) -> str:
    """Return the reason why a tokenizer cannot be compared with others, or an empty string if it can.

    A tokenizer that loses text needs fewer tokens, which is no merit.
    """
    if sums is None:
        return f"{name} was not measured"
    lossy = int(sums.columns["lossy"].sum())
    if lossy:
        return f"{name} does not give {lossy:,} of {sums.documents:,} documents back: fewer tokens are no merit"
    return "" if sums.columns["tokens"].sum() else f"{name} has no tokens"
