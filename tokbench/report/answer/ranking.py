"""Ranks tokenizers over slices of text that count alike: by the geometric mean of their tokens relative to the best.

A ratio of two tokenizers over several languages is the weighted geometric mean of its ratios in each: 2% more tokens
in one language and 2% fewer in another cancel out, whatever amount of text each has. The interval leaves out one
document after the other, in every slice that has it (:mod:`tokbench.statistics.jackknife`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.measuring.metric import Role
from tokbench.measuring.round_trip import RoundTrip
from tokbench.measuring.sums import Sums
from tokbench.report.answer.slices import Slice
from tokbench.report.answer.words import more
from tokbench.report.tables import CellTables
from tokbench.results.blocks import MARGIN
from tokbench.results.cells import Cell, trained_on
from tokbench.statistics.jackknife import interval
from tokbench.statistics.sample_units import SampleUnits

UNKNOWN: Final = "round trip not measured: not ranked"
TRAINED: Final = "trained on these documents: not ranked"
BASELINES: Final = "baselines"
LOSSY: Final = "lossy: not ranked"
NO_NUMBER: Final = "no number"
REASONS: Final = ("", UNKNOWN, TRAINED, BASELINES, LOSSY, NO_NUMBER)
"""Why a tokenizer is not ranked, in the order of a chart."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A tokenizer in a ranking.

    Attributes:
        more: its tokens beyond the best, as a share: 0.06 for 6% more.
        low, high: the 95% interval of ``more``; ``None`` if there is none.
        tied: ``more`` is below the margin, or not significantly different from 0.
    """

    tokenizer: str
    more: float
    low: float | None = None
    high: float | None = None
    tied: bool = False


@dataclass(frozen=True, slots=True)
class Ranking:
    """Tokenizers over some slices, the best first; empty if none can be ranked.

    Attributes:
        bytes_per_token: of the best, the weighted geometric mean over the slices.
    """

    slices: Sequence[Slice]
    standings: Sequence[Standing]
    bytes_per_token: float = 0.0

    @property
    def best(self) -> str:
        return self.standings[0].tokenizer if self.standings else ""

    @property
    def ties(self) -> list[str]:
        """The best and all that tie with it."""
        return [each.tokenizer for each in self.standings if each.tied]

    @property
    def behind(self) -> list[Standing]:
        return [each for each in self.standings if not each.tied]

    def of(self, tokenizer: str) -> Standing | None:
        """Return the standing of a tokenizer, if it is ranked."""
        return next((each for each in self.standings if each.tokenizer == tokenizer), None)


class Bar(NamedTuple):
    """A tokenizer in a chart: its bytes per token over all slices, and its standing or why it has none."""

    tokenizer: str
    value: float
    reason: str
    standing: Standing | None

    @property
    def ends(self) -> tuple[float, float] | None:
        """The interval of the difference from the best, as bytes per token."""
        one = self.standing
        if one is None or one.low is None or one.high is None:
            return None
        return self.value * (1 + one.more) / (1 + one.high), self.value * (1 + one.more) / (1 + one.low)

    @property
    def title(self) -> str:
        """The tooltip of a chart."""
        one = self.standing
        beyond = f"{more(one.more, one.low, one.high)} than the best" if one and one.more else ""
        return "; ".join(filter(None, [f"{self.tokenizer}: {self.value:.3f} bytes per token", self.reason, beyond]))


def bars(tables: CellTables, ranking: Ranking) -> list[Bar]:
    """Return all tokenizers with a number in every slice, the ranked ones first."""
    metric, weights = tables.with_role(Role.TEXT_PER_TOKEN), np.array([part.weight for part in ranking.slices])
    found = []
    for name in tables.tokenizers:
        cells = [tables.cell(metric, part.corpus, part.group, name) for part in ranking.slices]
        values = [cell.value for cell in cells if cell and cell.value]
        if cells and len(values) == len(cells):
            reason = max((why_not_ranked(tables, cell) for cell in cells), key=REASONS.index)
            found.append(Bar(name, float(np.exp(weights @ np.log(values) / weights.sum())), reason, ranking.of(name)))
    return sorted(found, key=lambda bar: (REASONS.index(bar.reason), -bar.value))


def rank(tables: CellTables, slices: Sequence[Slice], names: Sequence[str], margin: float = MARGIN) -> Ranking:
    """Rank those tokenizers that compete in every slice; slices that one of them was trained on do not count."""
    metric = tables.with_role(Role.TEXT_PER_TOKEN)
    slices = [part for part in slices if not any(_trained(tables, metric, part, name) for name in names)] or slices
    weights = np.array([part.weight for part in slices])
    weights = weights / weights.sum() if len(slices) else weights
    logs: dict[str, float] = {}
    for name in names:
        cells = [tables.cell(metric, part.corpus, part.group, name) for part in slices]
        if cells and not any(why_not_ranked(tables, cell) for cell in cells):
            logs[name] = float(weights @ np.log([cell.value for cell in cells if cell and cell.value]))
    ordered = sorted(logs, key=lambda name: -logs[name])
    if not ordered:
        return Ranking(slices, [])
    top = ordered[0]
    standings = [Standing(top, 0.0, tied=True)]
    for name in ordered[1:]:
        beyond = float(np.exp(logs[top] - logs[name]) - 1)
        low, high = _interval(tables, slices, weights, top, name)
        standings.append(Standing(name, beyond, low, high, beyond < margin or (low is not None and low <= 0)))
    return Ranking(slices, standings, float(np.exp(logs[top])))


def _trained(tables: CellTables, metric: str, part: Slice, name: str) -> bool:
    cell = tables.cell(metric, part.corpus, part.group, name)
    return cell is not None and trained_on(cell.in_sample)


def why_not_ranked(tables: CellTables, cell: Cell | None) -> str:
    """Return why a number is not ranked, one of :data:`REASONS`; where the run has no round trip, no loss is known."""
    if cell is None or not cell.value:
        return NO_NUMBER
    kept = tables.round_trip(cell)
    if tables.losses_checked and not kept.ranked:
        return LOSSY if kept == RoundTrip.LOSSY else UNKNOWN
    if trained_on(cell.in_sample):
        return TRAINED
    return BASELINES if tables.tokenizer(cell.tokenizer).baseline else ""


def _interval(
    tables: CellTables, slices: Sequence[Slice], weights: NDArray[np.float64], top: str, name: str
) -> tuple[float | None, float | None]:
    """Return the ends of the interval of a tokenizer's tokens beyond the best."""
    metric = tables.with_role(Role.TEXT_PER_TOKEN)
    parts = []
    for part, weight in zip(slices, weights.tolist(), strict=True):
        few, many = (tables.sums(metric, part.corpus, part.group, each) for each in (top, name))
        if tables.corpus(part.corpus).designed or few is None or many is None:
            return None, None
        parts.append(_LogRatio.of(weight, few, many))
    units = reduce(lambda one, other: one.joined(other).units, (part.units for part in parts))
    whole = sum(part.value for part in parts)
    left_out = whole + sum(part.changes(units) for part in parts)
    found = interval(float(np.exp(whole)), np.exp(left_out), units)
    return (None, None) if found.low is None or found.high is None else (found.low - 1, found.high - 1)


@dataclass(frozen=True, slots=True, eq=False)
class _LogRatio:
    """The weighted logarithm of the ratio of two tokenizers' tokens in one slice.

    Attributes:
        without: float64[u], by how much it changes when a unit is left out.
    """

    value: float
    without: NDArray[np.float64]
    units: SampleUnits

    @classmethod
    def of(cls, weight: float, top: Sums, other: Sums) -> _LogRatio:
        *pair, units = top.paired(other)
        few, many = (sums.columns["tokens"] for sums in pair)
        value = weight * float(np.log(many.sum() / few.sum()))
        with np.errstate(divide="ignore", invalid="ignore"):
            without = weight * np.log((many.sum() - many) / (few.sum() - few)) - value
        return cls(value, np.nan_to_num(without, nan=0.0, posinf=0.0, neginf=0.0), units)

    def changes(self, units: SampleUnits) -> NDArray[np.float64]:
        """Return the changes by the units of all slices: 0 for those that this slice does not have."""
        mine = self.units.with_bits(units.bits)
        summed = np.bincount(mine.places, weights=self.without)
        by_unit = np.zeros(len(units))
        by_unit[np.searchsorted(units.keys, mine.units.keys)] = summed
        return by_unit
