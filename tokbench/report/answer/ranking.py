"""Ranks tokenizers over slices of text, by :mod:`tokbench.statistics.standings`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Final, NamedTuple

import numpy as np

from tokbench.measuring.metric import Role
from tokbench.measuring.round_trip import RoundTrip
from tokbench.report.answer.slices import TextGroup, TextSlice
from tokbench.report.answer.words import more
from tokbench.report.tables import CellTables
from tokbench.results.blocks import MARGIN
from tokbench.results.cells import Cell, trained_on
from tokbench.statistics.standings import GroupNumber, StandingSums, Verdict, standings

UNKNOWN: Final = "round trip not measured: not ranked"
TRAINED: Final = "trained on these documents: not ranked"
BASELINES: Final = "baselines"
LOSSY: Final = "lossy: not ranked"
NO_NUMBER: Final = "no number"
REASONS: Final = ("", UNKNOWN, TRAINED, BASELINES, LOSSY, NO_NUMBER)
"""Why a tokenizer is not ranked, in the order of a chart."""


@dataclass(frozen=True, slots=True)
class BarStanding:
    """A tokenizer in a ranking.

    Attributes:
        more: its tokens beyond the best, as a share: 0.06 for 6% more.
        low, high: the 95% interval of ``more``; ``None`` if there is none.
        tied: ``more`` is below the margin, or not significantly different from 0.
        same: it has the tokens of the best.
    """

    tokenizer: str
    more: float
    low: float | None = None
    high: float | None = None
    tied: bool = False
    same: bool = False


@dataclass(frozen=True, slots=True)
class Ranking:
    """Tokenizers over some slices, the best first; empty if none can be ranked.

    Attributes:
        bytes_per_token: of the best, the weighted geometric mean over the slices.
        over_all: of each tokenizer, the bytes per token over all bytes of the slices together; empty if unknown.
    """

    slices: Sequence[TextSlice]
    standings: Sequence[BarStanding]
    bytes_per_token: float = 0.0
    over_all: Mapping[str, float] = field(default_factory=dict)

    @property
    def best(self) -> str:
        return self.standings[0].tokenizer if self.standings else ""

    @property
    def ties(self) -> list[str]:
        """The best and all that tie with it."""
        return [standing.tokenizer for standing in self.standings if standing.tied]

    @property
    def behind(self) -> list[BarStanding]:
        return [standing for standing in self.standings if not standing.tied]

    def of(self, tokenizer: str) -> BarStanding | None:
        """Return the standing of a tokenizer, if it is ranked."""
        return next((standing for standing in self.standings if standing.tokenizer == tokenizer), None)


class Bar(NamedTuple):
    """A tokenizer in a chart: its bytes per token over all slices, and its standing or why it has none."""

    tokenizer: str
    value: float
    reason: str
    standing: BarStanding | None

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
    weights = np.array([part.weight for part in ranking.slices])
    found = []
    for name in tables.tokenizers:
        values = [_value(tables, part.groups, name) for part in ranking.slices]
        if values and all(values):
            reason = max((_why_not(tables, part, name) for part in ranking.slices), key=REASONS.index)
            found.append(Bar(name, float(np.exp(weights @ np.log(values) / weights.sum())), reason, ranking.of(name)))
    return sorted(found, key=lambda bar: (REASONS.index(bar.reason), -bar.value))


def rank(tables: CellTables, slices: Sequence[TextSlice], names: Sequence[str], margin: float = MARGIN) -> Ranking:
    """Rank those tokenizers that compete in every slice; slices that one of them was trained on do not count."""
    slices = [part for part in slices if not any(_trained(tables, part, name) for name in names)] or slices
    numbers = {
        name: [_number(tables, part, name) for part in slices]
        for name in names
        if slices and not any(_why_not(tables, part, name) for part in slices)
    }
    if not numbers:
        return Ranking(slices, [])
    found = standings(numbers, [part.weight for part in slices], margin=margin)
    ranked = [
        BarStanding(
            *(one.contender, one.gap.more, one.gap.low, one.gap.high, one.verdict.ties, one.verdict is Verdict.SAME)
        )
        for one in found
    ]
    every = [group for part in slices for group in part.groups]
    sums = {one.contender: _value(tables, every, one.contender) for one in found if all(group.size for group in every)}
    return Ranking(slices, ranked, found[0].value, sums)


def ranked_cells(tables: CellTables, ranking: Ranking, name: str) -> list[Cell]:
    """Return the numbers of a tokenizer in the groups of a ranking."""
    cells = (_cell(tables, group, name) for part in ranking.slices for group in part.groups)
    return [cell for cell in cells if cell]


def _cell(tables: CellTables, group: TextGroup, name: str) -> Cell | None:
    return tables.cell(tables.with_role(Role.TEXT_PER_TOKEN), group.corpus, group.group, name)


def _trained(tables: CellTables, part: TextSlice, name: str) -> bool:
    return any((cell := _cell(tables, group, name)) and trained_on(cell.in_sample) for group in part.groups)


def _value(tables: CellTables, groups: Sequence[TextGroup], name: str) -> float:
    """Return bytes per token over all bytes of some groups; 0 if one has no number."""
    cells = [_cell(tables, group, name) for group in groups]
    values = [cell.value for cell in cells if cell and cell.value]
    if len(values) < len(groups):
        return 0.0
    if len(groups) == 1:
        return values[0]
    return sum(group.size for group in groups) / sum(
        group.size / value for group, value in zip(groups, values, strict=True)
    )


def _number(tables: CellTables, part: TextSlice, name: str) -> GroupNumber:
    cells = [cell for group in part.groups if (cell := _cell(tables, group, name))]
    if len(cells) == 1:
        return tables.number(cells[0])
    known = [tables.sums(cell.metric, cell.corpus, cell.group, name) for cell in cells]
    sums = reduce(add, [each for each in known if each]) if all(known) else None
    own = StandingSums(above=sums.columns["bytes"], below=sums.columns["tokens"], units=sums.units) if sums else None
    return GroupNumber(_value(tables, part.groups, name), sums=own)


def _why_not(tables: CellTables, part: TextSlice, name: str) -> str:
    return max((why_not_ranked(tables, _cell(tables, group, name)) for group in part.groups), key=REASONS.index)


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
