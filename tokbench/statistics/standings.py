"""Who is first: the one rule by which answers, ranks, tables, leaderboards and comparisons decide.

Each contender has a number in every group. Their mean is the weighted geometric one, so that 2% more in one group and
2% less in another cancel out. The others are compared with the best on the same documents: a paired jackknife, and
Holm's correction over all these comparisons, in which copies count once. A contender ties with the best if it differs
by less than the practical margin, or not significantly.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from typing import Final, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tokbench.statistics.jackknife import LEAST_UNITS, holm, leave_out, spread
from tokbench.statistics.sample_units import SampleUnits

K = TypeVar("K", bound=Hashable)

LEVEL: Final = 0.05
"""The highest p-value, after Holm's correction, of a significant difference."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StandingSums:
    """Two sums over the documents of a group, whose ratio is a number.

    Attributes:
        above, below: float64[u], the sums in each sampling unit.
        units: the sampling units; every contender's are of the same documents.
    """

    above: NDArray[np.float64]
    below: NDArray[np.float64]
    units: SampleUnits


@dataclass(frozen=True, slots=True, eq=False)
class GroupNumber:
    """The number of one contender in one group.

    Attributes:
        low, high: the ends of its 95% interval; they count only where the sums of two contenders are not known.
        sums: the sums behind it; ``None`` if unknown, as for speeds and numbers of another machine.
    """

    value: float
    low: float | None = None
    high: float | None = None
    sums: StandingSums | None = None


class Verdict(StrEnum):
    """What a comparison with the best one says."""

    FIRST = "first"
    SAME = "no difference"
    SMALL = "below the practical margin"
    UNSURE = "not significantly different"
    BEHIND = "behind"
    OPEN = "no evidence"

    @property
    def ties(self) -> bool:
        """True for the best one, and for all that tie with it."""
        return self not in {Verdict.BEHIND, Verdict.OPEN}


@dataclass(frozen=True, slots=True)
class Gap:
    """By how much one number is worse than another.

    Attributes:
        more: the quotient of the worse and the better one, less 1; infinite if one of both is not above 0.
        low, high: its 95% interval; ``None`` without evidence. Of differences from 0 the sign alone counts.
        p: the p-value of no difference; ``None`` where only the intervals of both are known.
        hypothesis: what copies of a tokenizer share.
    """

    more: float
    low: float | None = None
    high: float | None = None
    p: float | None = None
    hypothesis: Hashable = None


def verdicts(gaps: Sequence[Gap], margin: float) -> list[Verdict]:
    """Decide which gaps are differences, of all that are compared at once.

    Of equal hypotheses one is counted, and of no difference none.

    >>> gaps = [Gap(0.0), Gap(0.004, 0.003, 0.005, 0.0), Gap(0.03, -0.01, 0.07, 0.2), Gap(0.03, 0.02, 0.04, 0.0)]
    >>> [verdict.name for verdict in verdicts(gaps, 0.01)]
    ['SAME', 'SMALL', 'UNSURE', 'BEHIND']
    """
    return [verdict_of(gap, margin, p) for gap, p in zip(gaps, corrected(gaps), strict=True)]


def corrected(gaps: Sequence[Gap]) -> list[float | None]:
    """Return the p-values after Holm's correction; ``None`` where there is no difference, or no p-value."""
    tested = [at for at, gap in enumerate(gaps) if gap.p is not None and gap.more]
    names = [at if gaps[at].hypothesis is None else gaps[at].hypothesis for at in tested]
    after = dict(zip(tested, holm([gaps[at].p or 0.0 for at in tested], names), strict=True))
    return [after.get(at) for at in range(len(gaps))]


def verdict_of(gap: Gap, margin: float, p: float | None) -> Verdict:
    """Decide whether a gap is a difference: the only place that does. ``p`` is corrected for all that is compared.

    >>> verdict_of(Gap(0.02, 0.01, 0.03, 0.001), 0.01, 0.04).name, verdict_of(Gap(0.02, -0.01, 0.05), 0.01, None).name
    ('BEHIND', 'UNSURE')
    """
    if not gap.more:
        return Verdict.SAME
    if abs(gap.more) < margin:
        return Verdict.SMALL
    if gap.low is None or gap.high is None:
        return Verdict.OPEN
    significant = not gap.low <= 0 <= gap.high if p is None else p <= LEVEL
    return Verdict.BEHIND if significant else Verdict.UNSURE


@dataclass(frozen=True, slots=True)
class Standing(Generic[K]):
    """A contender among others.

    Attributes:
        value: its weighted geometric mean over the groups.
        gap: by how much it is worse than the best.
    """

    contender: K
    value: float
    gap: Gap
    verdict: Verdict


def standings(
    numbers: Mapping[K, Sequence[GroupNumber]],
    weights: Sequence[float] = (1.0,),
    *,
    higher: bool = True,
    margin: float = 0.0,
) -> list[Standing[K]]:
    """Return all contenders, the best first.

    Args:
        numbers: for each contender, its number in every group. Several groups need numbers above 0.
        weights: the weight of each group.
        higher: whether higher numbers are better.
        margin: a smaller relative difference is a tie, whatever its interval.

    Whoever follows one that is behind is behind, too.

    >>> numbers = {"a": [GroupNumber(4.0, 3.9, 4.1)], "b": [GroupNumber(3.0, 2.9, 3.1)], "c": [GroupNumber(3.99)]}
    >>> found = standings(numbers, margin=0.01)
    >>> [(each.contender, each.verdict.name, round(each.gap.more, 3)) for each in found]
    [('a', 'FIRST', 0.0), ('c', 'SMALL', 0.003), ('b', 'BEHIND', 0.333)]
    """
    shares = np.asarray(weights, dtype=np.float64) / sum(weights)
    means = {name: _mean([each.value for each in own], shares) for name, own in numbers.items()}
    order = sorted(means, key=means.__getitem__, reverse=higher)
    if not order:
        return []
    best = order[0]
    gaps = [_gap(numbers[best], numbers[name], shares, higher=higher) for name in order[1:]]
    found = [Standing(best, means[best], Gap(0.0, 0.0, 0.0, 1.0), Verdict.FIRST)]
    behind = False
    for name, gap, verdict in zip(order[1:], gaps, verdicts(gaps, margin), strict=True):
        behind = behind or verdict is Verdict.BEHIND
        found.append(Standing(name, means[name], gap, Verdict.BEHIND if behind else verdict))
    return found


def leaders(found: Sequence[Standing[K]]) -> set[K]:
    """Return the best and its ties; none where the nearest one that does not tie has no evidence, or all are equal.

    >>> leaders(standings({"a": [GroupNumber(4.0, 3.9, 4.1)], "b": [GroupNumber(3.0)]}))
    set()
    """
    if any(each.verdict is Verdict.OPEN for each in found):
        return set()
    return {each.contender for each in found if each.verdict.ties}


def places(numbers: Mapping[K, Sequence[GroupNumber]], *, higher: bool = True, margin: float = 0.0) -> dict[K, int]:
    """Return the place of each contender over one group: the best and its ties have place 1, and so on for the rest.

    A place is 1 and the number of contenders with a better one, in which copies count once.

    >>> places({"a": [GroupNumber(4, 4, 4)], "its copy": [GroupNumber(4, 4, 4)], "b": [GroupNumber(3, 3, 3)]})
    {'a': 1, 'its copy': 1, 'b': 2}
    """
    rest, found, better = dict(numbers), dict[K, int](), set[Hashable]()
    while rest:
        here = [
            standing.contender for standing in standings(rest, higher=higher, margin=margin) if standing.verdict.ties
        ]
        found |= dict.fromkeys(here, 1 + len(better))
        better |= {_identity(rest.pop(name)) for name in here}
    return found


def gap(larger: GroupNumber, smaller: GroupNumber) -> Gap:
    """Return by how much the first number is larger; negative if it is smaller, as -0.25 for 3 and 4."""
    return _gap([larger], [smaller], np.ones(1), higher=True)


def _identity(numbers: Sequence[GroupNumber]) -> Hashable:
    return tuple(
        (number.sums.above.tobytes(), number.sums.below.tobytes()) if number.sums else number.value
        for number in numbers
    )


def _mean(values: Sequence[float], shares: NDArray[np.float64]) -> float:
    return values[0] if len(values) == 1 else float(np.exp(shares @ np.log(values)))


def _gap(
    best: Sequence[GroupNumber], other: Sequence[GroupNumber], shares: NDArray[np.float64], *, higher: bool
) -> Gap:
    """Return by how much the second is worse than the first."""
    pairs = [(one, two) if higher else (two, one) for one, two in zip(best, other, strict=True)]
    if all(each.value > 0 for pair in pairs for each in pair):
        more = _mean([large.value / small.value for large, small in pairs], shares) - 1
    else:
        more = math.inf if pairs[0][0].value != pairs[0][1].value else 0.0
    known = [_LeftOut.of(large.sums, small.sums) for large, small in pairs if large.sums and small.sums]
    if len(known) == len(pairs):
        return _paired(known, shares, more)
    return _unpaired(*pairs[0], more) if len(pairs) == 1 else Gap(more)


def _unpaired(large: GroupNumber, small: GroupNumber, more: float) -> Gap:
    """Return a gap between the far ends of two intervals, which has 0 in it if they overlap."""
    if large.low is None or large.high is None or small.low is None or small.high is None:
        return Gap(more)
    if min(large.low, small.low) > 0:
        return Gap(more, large.low / small.high - 1, large.high / small.low - 1)
    return Gap(more, large.low - small.high, large.high - small.low)


class _LeftOut(NamedTuple):
    """Two ratios of a group with each sampling unit left out: float64[u], NaN for units without influence."""

    large: NDArray[np.float64]
    small: NDArray[np.float64]
    whole: tuple[float, float]
    units: SampleUnits

    @classmethod
    def of(cls, large: StandingSums, small: StandingSums) -> _LeftOut:
        joined = large.units.joined(small.units)
        above, below = [], []
        for sums, at in ((large, joined.one), (small, joined.other)):
            above.append(np.bincount(at, sums.above, len(joined.units)).astype(np.float64))
            below.append(np.bincount(at, sums.below, len(joined.units)).astype(np.float64))
        documents = np.bincount(joined.one, large.units.documents, len(joined.units)).astype(np.int64)
        whole = above[0].sum() / below[0].sum(), above[1].sum() / below[1].sum()
        units = SampleUnits(joined.units.keys, documents, joined.units.bits)
        return cls(leave_out(above[0], below[0]), leave_out(above[1], below[1]), whole, units)

    @property
    def used(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.large + self.small)

    @property
    def positive(self) -> bool:
        return bool(min(np.nanmin(self.large), np.nanmin(self.small), *self.whole) > 0)

    def changes(self, share: float, units: SampleUnits) -> NDArray[np.float64]:
        """Return by how much the logarithm of the quotient changes without each of all units; NaN without influence."""
        mine, used = self.units.with_bits(units.bits), self.used
        change = share * (np.log(self.large[used] / self.small[used]) - math.log(self.whole[0] / self.whole[1]))
        at = np.searchsorted(units.keys, mine.units.keys)[mine.places[used]]
        by_unit = np.full(len(units), np.nan)
        by_unit[at] = np.bincount(at, change, len(units))[at]
        return by_unit


def _paired(parts: Sequence[_LeftOut], shares: NDArray[np.float64], more: float) -> Gap:
    """Return a gap with its jackknife interval; without one if a group has too few units."""
    if any(int(part.used.sum()) < LEAST_UNITS for part in parts):
        return Gap(more)
    units = reduce(lambda one, other: one.joined(other).units, (part.units for part in parts))
    if all(part.positive for part in parts):
        changes = [part.changes(share, units) for part, share in zip(parts, shares, strict=True)]
        known = ~np.isnan(changes).all(axis=0)
        null, value, left_out = 1.0, 1 + more, np.where(known, np.exp(np.nansum(changes, axis=0)) * (1 + more), np.nan)
    else:  # a quotient with 0 says nothing, so the sign of the difference decides
        [part] = parts
        null, value, left_out = 0.0, part.whole[0] - part.whole[1], part.large - part.small
    its = spread(left_out, units)
    if its is None:
        return Gap(more)
    if not its.error:  # the same in every unit
        return Gap(more, value - null, value - null, 0.0 if more else 1.0)
    low, high = its.around(value) if null else its.ends(value)
    return Gap(more, low - null, high - null, its.p_value(value - null), left_out.tobytes())
