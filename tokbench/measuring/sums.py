"""Sums over documents by sampling unit, ratios of such sums with their intervals, and the metrics that add them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.shards import BUCKET_BITS, BUCKETS, Shard
from tokbench.measuring.encoded_shard import EncodedShard
from tokbench.measuring.metric import CorpusStates, Measured, NotApplicable
from tokbench.measuring.round_trip import Loss
from tokbench.results.cells import WHOLE
from tokbench.statistics.jackknife import jackknife
from tokbench.statistics.sample_units import SampleUnits


@dataclass(eq=False)
class Sums:
    """Sums of several quantities over documents. Adding two of them is exact, in any order.

    >>> sums = Sums(3, {"tokens": np.array([4.0, 6.0]), "bytes": np.array([20.0, 20.0])})
    >>> (sums + sums).total("tokens").value, sums.ratio("bytes", "tokens").value
    (20.0, 4.0)
    """

    documents: int
    columns: dict[str, NDArray[np.float64]]
    """For each quantity, float64[u], the sum in each unit. They are sums of integers, exact below 2**53."""
    units: SampleUnits = None  # type: ignore[assignment]  # set below
    """By default they are known by number alone."""

    def __post_init__(self) -> None:
        if self.units is None:
            self.units = SampleUnits.numbered(max(map(len, self.columns.values()), default=0))

    @classmethod
    def of(cls, shard: Shard, **values: NDArray[Any]) -> Sums:
        """Sum quantities over a shard, from one number of each document."""
        units, places = shard.sampled
        if shard.times is not None:
            values = {name: numbers * shard.times for name, numbers in values.items()}
        return cls(len(shard), {name: _added(places, numbers, len(units)) for name, numbers in values.items()}, units)

    @classmethod
    def by_key(cls, keys: NDArray[np.int64], **values: NDArray[Any]) -> Sums:
        """Sum quantities over documents, from the key of the sampling unit of each; see :attr:`Shard.unit_keys`.

        >>> Sums.by_key(np.array([7, 9, 7]), tokens=np.array([1, 2, 3])).columns
        {'tokens': array([4., 2.])}
        """
        units, places = SampleUnits.of(keys)
        return cls(len(keys), {name: _added(places, numbers, len(units)) for name, numbers in values.items()}, units)

    def __add__(self, other: Sums) -> Sums:
        joined = self.units.joined(other.units)
        if joined.one is joined.other:  # the same units, as of parallel groups
            added = {name: column + other.columns[name] for name, column in self.columns.items()}
            return Sums(self.documents + other.documents, added, joined.units)
        mine, theirs = self.placed(joined.one, joined.units), other.placed(joined.other, joined.units)
        columns = {name: column + theirs.columns[name] for name, column in mine.columns.items()}
        return Sums(self.documents + other.documents, columns, joined.units)

    def total(self, name: str) -> Measured:
        return Measured(float(self.columns[name].sum()), self.documents)

    def by_bucket(self, name: str) -> NDArray[np.float64]:
        """Return float64[BUCKETS], the sum of a quantity in each jackknife group of tables of ids."""
        return _added(self.units.last_bits(BUCKET_BITS), self.columns[name], BUCKETS)

    def paired(self, other: Sums) -> PairedUnits:
        """Return these sums and others over the same documents, both by the same units."""
        one, two = self, other
        if one.units.bits == two.units.bits and np.array_equal(one.units.keys, two.units.keys):
            return PairedUnits(one, two, one.units)
        joined = one.units.joined(two.units)
        documents = _added(joined.one, one.units.documents, len(joined.units)).astype(np.int64)
        units = SampleUnits(joined.units.keys, documents, joined.units.bits)
        return PairedUnits(one.placed(joined.one, units), two.placed(joined.other, units), units)

    def placed(self, places: NDArray[np.int64], units: SampleUnits) -> Sums:
        """Return the sums by other units; ``places`` has the index of each former unit among them."""
        columns = {name: _added(places, column, len(units)) for name, column in self.columns.items()}
        return Sums(self.documents, columns, units)

    def ratio(self, above: str, below: str, *, unit: str = "", n: int | None = None) -> Measured | NotApplicable:
        """Return the ratio of two sums with its jackknife interval; ``n`` where not all documents count."""
        total = float(self.columns[below].sum())
        if not total:
            return NotApplicable(f"there are no {below.replace('_', ' ')}")
        value = float(self.columns[above].sum()) / total
        interval = jackknife(self.columns[above], self.columns[below], self.units)
        count = self.documents if n is None else n
        return Measured(value, count, interval.low, interval.high, unit, interval.reason, (above, below))

    def share(self, above: str, below: str, *, unit: str = "", n: int | None = None) -> Measured | NotApplicable:
        ratio = self.ratio(above, below, unit=unit, n=n)
        if isinstance(ratio, NotApplicable) or ratio.ci_high is None:
            return ratio
        return ratio._replace(ci_high=min(1.0, ratio.ci_high))

    def raw(self) -> dict[str, object]:
        columns = {name: [int(x) for x in column] for name, column in self.columns.items()}
        units = {"bits": self.units.bits, "keys": self.units.keys.tolist(), "documents": self.units.documents.tolist()}
        return {"documents": self.documents, "sums": columns, "sample_units": units}

    @classmethod
    def restore(cls, raw: Mapping[str, Any]) -> Sums:
        """Return the sums whose data :meth:`raw` gave; without sampling units they are known by number.

        >>> Sums.restore(Sums(3, {"tokens": np.array([4.0, 6.0])}).raw()).columns
        {'tokens': array([4., 6.])}
        """
        columns = {name: np.array(column, dtype=np.float64) for name, column in raw["sums"].items()}
        described = raw.get("sample_units")
        if not described:
            return cls(raw["documents"], columns)
        keys, documents = (np.array(described[name], dtype=np.int64) for name in ("keys", "documents"))
        return cls(raw["documents"], columns, SampleUnits(keys, documents, described["bits"]))


class PairedUnits(NamedTuple):
    """Sums of two tokenizers over the same documents, by the same sampling units."""

    one: Sums
    other: Sums
    units: SampleUnits


def _added(places: NDArray[np.int64], values: NDArray[Any], size: int) -> NDArray[np.float64]:
    return np.bincount(places, weights=values, minlength=size).astype(np.float64)


class SummedMetric:
    """Adds states with ``+``; their ``raw()``, or ``sums.raw()``, goes into the file of raw states."""

    def __init__(self, options: Any) -> None:
        self._options = options

    def merge(self, one: Any, other: Any) -> Any:
        return one + other

    def raw(self, state: Any) -> Any:
        kept = state if hasattr(state, "raw") else getattr(state, "sums", None)
        return None if kept is None else kept.raw()


class PairedSums(SummedMetric):
    """The common part of the families that compare tokenizers on the same documents: tokens, and what is lost."""

    def map(self, encoded: EncodedShard) -> Sums:
        shard = encoded.shard
        return Sums.of(shard, tokens=encoded.tokens, characters=shard.n_chars, **encoded.losses)


def compared_sums(states: CorpusStates, group: str) -> dict[str, Sums | str]:
    """Return by tokenizer its sums, or the reason why its tokens are not compared (see :mod:`.round_trip`)."""
    compared: dict[str, Sums | str] = {}
    for name in states.tokenizers:
        sums, whole = states.merged(name, group), states.merged(name, WHOLE)
        if sums is None or not sums.columns["tokens"].any():
            compared[name] = f"{name} {'was not measured' if sums is None else 'has no tokens'}"
        elif Loss.of(sums).within(Loss.of(whole or sums)).round_trip(states.most_lost).ranked:
            compared[name] = sums
        else:
            lost, of = (int(sums.columns[column].sum()) for column in ("lost characters", "characters"))
            compared[name] = f"{name} is lossy: {lost:,} of {of:,} characters are lost, which may save tokens"
    return compared
