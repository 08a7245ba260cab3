"""Rules that fail a pull request: ``fertility[hi] > +2%``, ``encode_mb_per_s < -10%``, ``roundtrip_exact < 0``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from tokbench.comparison.compare import CellChange, Comparison
from tokbench.foundation.errors import InputError, Problem, did_you_mean
from tokbench.results.cells import WHOLE
from tokbench.statistics.jackknife import holm
from tokbench.statistics.standings import LEVEL

EVERY: Final = "each"
"""The word in brackets for every group."""

_RULE: Final = re.compile(
    r"\s*(?:(?P<tokenizer>[^\[\]:<>]+):\s*)?(?P<metric>\w+)\s*(?:\[(?P<place>[^\[\]]+)\])?\s*(?P<sign>[<>])\s*"
    r"(?P<number>[+-]?\d+(?:\.\d+)?)\s*(?P<percent>%?)\s*(?P<significantly>significantly)?\s*"
)
_SHAPE: Final = "write it as METRIC[GROUP] > +2%, METRIC < 0 or TOKENIZER: METRIC[CORPUS/GROUP] < -10% significantly"


@dataclass(frozen=True, kw_only=True)
class GateRule:
    """A change that fails a comparison."""

    text: str
    metric: str
    tokenizer: str = ""
    corpus: str = ""
    group: str = WHOLE
    """Empty for all; ``*`` is the whole corpus."""
    above: bool = True
    """Fails a change above the limit, else below."""
    limit: float = 0.0
    """A difference in the unit of the metric, or a share of the baseline's value."""
    relative: bool = False
    significantly: bool = False
    """The change must be significantly beyond the limit, see :func:`check_rules`."""

    @classmethod
    def parse(cls, text: str) -> GateRule:
        """Read a rule.

        Raises:
            InputError: it is not a rule.

        >>> rule = GateRule.parse("fertility[hi] > +2%")
        >>> rule.metric, rule.group, rule.above, rule.limit, rule.relative, rule.significantly
        ('fertility', 'hi', True, 0.02, True, False)
        >>> rule = GateRule.parse("mine: encode_mb_per_s[code/*] < -10% significantly")
        >>> rule.tokenizer, rule.corpus, rule.group, rule.limit, rule.significantly
        ('mine', 'code', '*', -0.1, True)
        """
        match = _RULE.fullmatch(text)
        if not match:
            raise InputError([Problem(f"--fail-on {text!r}", f"this is not a rule; {_SHAPE}")])
        corpus, slash, group = (match["place"] or WHOLE).rpartition("/")
        number = float(match["number"])
        return cls(
            text=text.strip(),
            metric=match["metric"],
            tokenizer=(match["tokenizer"] or "").strip(),
            corpus=corpus if slash else "",
            group="" if group == EVERY else group,
            above=match["sign"] == ">",
            limit=number / 100 if match["percent"] else number,
            relative=bool(match["percent"]),
            significantly=bool(match["significantly"]),
        )

    def concerns(self, change: CellChange) -> bool:
        return (
            change.metric == self.metric
            and self.tokenizer in {"", change.tokenizer}
            and self.corpus in {"", change.corpus}
            and self.group in {"", change.group}
        )

    def broken_by(self, change: CellChange) -> bool:
        """Tell whether a change is beyond the limit, or its number is gone."""
        if change.before is None or change.after is None:
            return change.after is None
        value = change.ratio if self.relative else change.difference
        if value is None:  # a share of 0 is beyond every limit on its side
            value = math.copysign(math.inf, change.difference or 0.0) if change.difference else 0.0
        return self._beyond(value)

    def _beyond(self, value: float) -> bool:
        return value > self.limit if self.above else value < self.limit

    def p_value(self, change: CellChange) -> float:
        """Return the p-value of the test that a change is beyond the limit.

        Without variation or interval it is 0. Of a speed only the interval is known: 0 if all of it is beyond the
        limit, else 1.

        >>> from tokbench.statistics.jackknife import Spread
        >>> rule = GateRule.parse("fertility > +2% significantly")
        >>> place = {"tokenizer": "t", "corpus": "c", "group": "*", "metric": "fertility"}
        >>> round(rule.p_value(CellChange(**place, ratio=0.05, ratio_spread=Spread(0.01, 31))), 4)
        0.0053
        >>> rule.p_value(CellChange(**place, ratio=0.05, ratio_low=0.01, ratio_high=0.09))
        1.0
        """
        if self.relative:
            value, low, high, spread = change.ratio, change.ratio_low, change.ratio_high, change.ratio_spread
        else:
            value, low, high, spread = change.difference, change.low, change.high, change.spread
        if value is not None and spread:
            return spread.p_value(value - self.limit)
        nearest = low if self.above else high
        return 0.0 if nearest is None or self._beyond(nearest) else 1.0


class Failed(NamedTuple):
    """A rule, and a change that breaks it."""

    rule: GateRule
    change: CellChange


def check_rules(rules: Sequence[GateRule], comparison: Comparison) -> list[Failed]:
    """Return the changes that break a rule, in the order of the rules.

    A change breaks a rule with ``significantly`` if it is beyond the limit with p ≤ 0.05 after Holm's correction over
    all numbers of the rule: a false alarm in at most 5 of 100 comparisons.

    Raises:
        InputError: a rule names something that neither run has, or compares nothing.
    """
    problems = [problem for rule in rules for problem in _problems(rule, comparison)]
    if problems:
        raise InputError(problems)
    return [
        Failed(rule, change)
        for rule in rules
        for change in _breaking(rule, [candidate for candidate in comparison.changes if rule.concerns(candidate)])
    ]


def _breaking(rule: GateRule, changes: Sequence[CellChange]) -> list[CellChange]:
    if not rule.significantly:
        return [change for change in changes if rule.broken_by(change)]
    # Of a change on the allowed side of the limit nothing is to be shown; it counts as one of the comparisons.
    p_values = [rule.p_value(change) if rule.broken_by(change) else 1.0 for change in changes]
    corrected = holm(p_values, [change.hypothesis for change in changes])
    return [change for change, p in zip(changes, corrected, strict=True) if p <= LEVEL]


def _problems(rule: GateRule, comparison: Comparison) -> Iterator[Problem]:
    where = f"--fail-on {rule.text!r}"
    if rule.metric not in comparison.metrics:
        yield Problem(where, f"no run has a metric {rule.metric!r}; {did_you_mean(rule.metric, comparison.metrics)}")
        return
    mine = [change for change in comparison.changes if change.metric == rule.metric]
    for kind in ("tokenizer", "corpus", "group"):
        wanted, known = getattr(rule, kind), dict.fromkeys(getattr(change, kind) for change in mine)
        if mine and wanted and wanted not in known:
            yield Problem(where, f"{rule.metric} was compared in no {kind} {wanted!r}; {did_you_mean(wanted, known)}")
            return
    if not any(map(rule.concerns, mine)):
        reasons = "; ".join(comparison.refused) or "neither run has a number there"
        yield Problem(where, f"it compares nothing: {reasons}")
