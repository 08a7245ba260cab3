"""Two ratios of the same documents: the sums behind them, and the interval of their difference."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.measuring.sums import Sums
from tokbench.results.cells import WHOLE
from tokbench.results.model import Results
from tokbench.statistics.jackknife import Spread, leave_out, spread, too_few
from tokbench.statistics.sample_units import SampleUnits


class KeptSums:
    """The raw sums of a run by place; raises a ResultsError if the run's raw states are missing or damaged."""

    def __init__(self, results: Results) -> None:
        self._found: dict[tuple[str, str, str, str], Sums | None] = {}
        self._groups = {name: list(corpus.groups) for name, corpus in results.corpora.items()}
        self._states = results.states
        self._at = {place: at for at, place in enumerate(results.states.places)}

    def sums(self, tokenizer: str, corpus: str, group: str, family: str) -> Sums | None:
        """Return the sums of a metric family, of a group or the whole corpus; ``None`` if they are not kept."""
        place = tokenizer, corpus, group, family
        if place not in self._found:
            self._found[place] = self._sums(*place)
        return self._found[place]

    def _sums(self, tokenizer: str, corpus: str, group: str, family: str) -> Sums | None:
        groups = self._groups.get(corpus, []) if group == WHOLE else [group]
        places = [self._at.get((tokenizer, corpus, member, family)) for member in groups]
        parts = [None if place is None else _sums(self._states[place].state) for place in places]
        known = [part for part in parts if part is not None]
        return reduce(add, known) if known and len(known) == len(parts) else None


def _sums(raw: Any) -> Sums | None:
    if not isinstance(raw, dict) or not isinstance(raw.get("sums"), dict):
        return None
    return Sums.restore({"documents": 0, **raw})


class PairedChange(NamedTuple):
    """The difference of two ratios of the same documents, or their quotient."""

    low: float | None = None
    """The lower end of its 95% interval; ``None`` if there is none."""
    high: float | None = None
    p: float | None = None
    """The p-value of the difference from 0; ``None`` without an interval, or for a quotient."""
    spread: Spread | None = None
    """Its spread when each sampling unit is left out; ``None`` if it does not vary, or has no interval."""
    reason: str = ""
    """The reason why there is none; an empty string if there is an interval."""

    without_units: bytes = b""
    """The difference with each unit left out, as float64[u]; copies of a tokenizer have the same."""


def paired_difference(one: Sums | None, two: Sums | None, ratio_of: Sequence[str]) -> PairedChange:
    """Return the second ratio less the first, by leaving out each sampling unit in turn in both.

    ``ratio_of`` names the two sums whose ratios the values are; it is empty for other values.

    >>> sums = [Sums(12, {"bytes": np.full(12, 20.0), "tokens": np.array(t * 4)}) for t in ([4.0, 5, 6], [5.0, 6, 7])]
    >>> change = paired_difference(*sums, ("bytes", "tokens"))
    >>> round(change.low, 2), round(change.high, 2), change.p < 0.001
    (-0.8, -0.53, True)
    """
    pair = _Pair.of(one, two, ratio_of)
    if isinstance(pair, str):
        return PairedChange(reason=pair)
    left_out = pair.without[1] - pair.without[0]
    its_spread = spread(left_out, pair.units)
    if its_spread is None:
        return PairedChange(reason=pair.too_few)
    difference = pair.values[1] - pair.values[0]
    if not its_spread.error:
        return PairedChange(difference, difference, 0.0 if difference else 1.0, without_units=left_out.tobytes())
    ends, p = its_spread.ends(difference), its_spread.p_value(difference)
    return PairedChange(*ends, p, its_spread, without_units=left_out.tobytes())


def paired_quotient(one: Sums | None, two: Sums | None, ratio_of: Sequence[str]) -> PairedChange:
    """Return the second ratio divided by the first, less 1; see :func:`paired_difference`.

    >>> sums = [Sums(12, {"bytes": np.full(12, 20.0), "tokens": np.array(t * 4)}) for t in ([4.0, 5, 6], [5.0, 6, 7])]
    >>> change = paired_quotient(*sums, ("tokens", "bytes"))
    >>> round(change.low, 3), round(change.high, 3)
    (0.178, 0.222)
    >>> nothing = Sums(12, {"bytes": np.full(12, 20.0), "tokens": np.zeros(12)})
    >>> paired_quotient(nothing, sums[0], ("tokens", "bytes")).reason
    'the first is 0'
    """
    pair = _Pair.of(one, two, ratio_of)
    if isinstance(pair, str):
        return PairedChange(reason=pair)
    if not pair.values[0] or not pair.without[0].all():
        return PairedChange(reason="the first is 0")
    its_spread = spread(pair.without[1] / pair.without[0], pair.units)
    if its_spread is None:
        return PairedChange(reason=pair.too_few)
    quotient = pair.values[1] / pair.values[0]
    if not its_spread.error:
        return PairedChange(quotient - 1, quotient - 1)
    low, high = its_spread.around(quotient)
    return PairedChange(low - 1, high - 1, spread=its_spread)


class _Pair(NamedTuple):
    """Two ratios over the same documents."""

    values: tuple[float, float]
    without: tuple[NDArray[np.float64], NDArray[np.float64]]
    """Of each ratio float64[u], with each unit left out; NaN for units on which it does not rest."""
    units: SampleUnits

    @property
    def too_few(self) -> str:
        used = ~np.isnan(self.without[0] + self.without[1])
        return too_few(int(used.sum()), int(self.units.documents[used].sum()))

    @classmethod
    def of(cls, one: Sums | None, two: Sums | None, ratio_of: Sequence[str]) -> _Pair | str:
        if not ratio_of:
            return "not a ratio of sums, so it has no interval"
        above, below = ratio_of
        if one is None or two is None or not set(ratio_of) <= one.columns.keys() & two.columns.keys():
            return "the sums behind it are not kept, so it has no interval"
        *pair, units = one.paired(two)
        a, b = ((sums.columns[above], sums.columns[below]) for sums in pair)
        if not a[1].any() or not b[1].any():
            return f"there are no {below.replace('_', ' ')}"
        values = float(a[0].sum() / a[1].sum()), float(b[0].sum() / b[1].sum())
        return cls(values, (leave_out(*a), leave_out(*b)), units)
