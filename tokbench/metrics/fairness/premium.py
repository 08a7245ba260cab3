"""Premiums: the tokens of documents relative to their translations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.measuring.encoded_shard import EncodedShard
from tokbench.measuring.metric import Measured
from tokbench.measuring.sums import Sums
from tokbench.statistics.inequality import gini_coefficient
from tokbench.statistics.jackknife import Interval, interval
from tokbench.statistics.quantiles import median_interval
from tokbench.statistics.sample_units import SampleUnits

_LEAST = 0.5
"""Of documents that must be lossless in both languages."""


class Documents(NamedTuple):
    """In order; document ``k`` of each group is the same text."""

    tokens: NDArray[np.int64]
    kept: NDArray[np.bool_]
    """Without a character lost."""
    keys: NDArray[np.int64]
    """Sampling units, the same in each group."""

    def by_unit(self, which: NDArray[np.bool_]) -> NDArray[np.float64]:
        units, places = SampleUnits.of(self.keys)
        return np.bincount(places[which], weights=self.tokens[which], minlength=len(units)).astype(np.float64)


class Aligned(NamedTuple):
    """The state of a group: documents, as one that is lossy in one language is left out in the other."""

    parts: tuple[tuple[int, Documents], ...]
    """By shard, after the number of the first document."""

    @classmethod
    def of(cls, encoded: EncodedShard) -> Aligned:
        shard = encoded.shard
        if not shard.parallel:
            return cls(())
        return cls(((shard.first, Documents(encoded.tokens, encoded.kept, shard.unit_keys)),))

    def __add__(self, other: Aligned) -> Aligned:  # type: ignore[override]
        return Aligned(tuple(sorted(self.parts + other.parts, key=lambda part: part[0])))

    def documents(self) -> Documents:
        columns = zip(*(documents for _, documents in self.parts), strict=True)
        return Documents(*(np.concatenate(column) for column in columns))

    def raw(self) -> dict[str, object] | None:
        """Return sums by sampling unit as JSON data; ``None`` if the corpus is not parallel."""
        if not self.parts:
            return None
        every = self.documents()
        sums = {"tokens": every.tokens, "tokens without loss": every.tokens * every.kept}
        return Sums.by_key(every.keys, **sums).raw()


class Premium(NamedTuple):
    """A language and the reference, where both are lossless."""

    above: NDArray[np.float64]
    """In the language, by sampling unit."""
    below: NDArray[np.float64]
    """In the reference."""
    documents: int
    left_out: int
    ratios: NDArray[np.float64]
    """By document with tokens in the reference."""

    def reason_not_comparable(self, group: str, reference: str) -> str:
        """Return why there is not a premium; else an empty string."""
        every = self.documents + self.left_out
        if self.documents < _LEAST * every:
            both = f"{group} and {reference}" if group != reference else group
            return f"only {self.documents:,} of {every:,} documents lose nothing in {both}"
        return "" if self.below.sum() else f"{reference} has no tokens"


def premium(group: Documents, reference: Documents) -> Premium:
    """Compare a language with the reference."""
    both = group.kept & reference.kept
    kept = int(both.sum())
    some = both & (reference.tokens > 0)
    ratios = group.tokens[some] / reference.tokens[some]
    return Premium(group.by_unit(both), reference.by_unit(both), kept, len(both) - kept, ratios)


def median(parts: Sequence[Premium]) -> Measured:
    """Return the median over documents; with an interval for one language alone."""
    ratios = np.concatenate([part.ratios for part in parts])
    ends = median_interval(ratios) if len(parts) == 1 else Interval(None, None)
    return Measured(float(np.median(ratios)), len(ratios), ends.low, ends.high, no_interval=ends.reason)


def mean(parts: Iterable[Premium]) -> Measured:
    """Divide all tokens by the tokens of the reference."""
    some = list(parts)
    above, below = (np.sum([getattr(part, side) for part in some], axis=0) for side in ("above", "below"))
    documents = sum(part.documents for part in some)
    return _estimate([Premium(above, below, documents, 0, np.empty(0))], lambda values: values[0])


def inequality(parts: Sequence[Premium]) -> Mapping[str, Measured]:
    """Return the Gini coefficient of premiums, and highest / lowest."""
    return {
        "gini": _estimate(parts, gini_coefficient),
        "max_min": _estimate(parts, lambda values: max(values) / min(values)),
    }


def _estimate(parts: Sequence[Premium], statistic: Callable[[Sequence[float]], float]) -> Measured:
    """For the interval, leave each sampling unit out in all languages at once."""
    above, below = (np.array([getattr(part, side) for part in parts]) for side in ("above", "below"))
    value = statistic((above.sum(axis=1) / below.sum(axis=1)).tolist())
    documents = sum(part.documents for part in parts)
    used = (below > 0).any(axis=0)
    rest_above, rest_below = (sums.sum(axis=1, keepdims=True) - sums for sums in (above, below))
    if not (rest_below > 0).all():
        return Measured(value, documents, no_interval="too few documents for an interval: a language has none left")
    left_out = (rest_above / rest_below)[:, used]
    ends = interval(value, np.array([statistic(column) for column in left_out.T.tolist()]))
    return Measured(value, documents, ends.low, ends.high, no_interval=ends.reason)
