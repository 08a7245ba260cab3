"""The difference of every number of two runs, with an interval where the documents are the same.

Where a metric is a ratio of two sums, both runs keep the sums by jackknife group of documents. Leaving out each group
in turn, in both runs, gives the standard error of the difference. Speeds are not paired: the quotient of the far ends
of both intervals bounds the change, which holds in more than 95 of 100 cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from math import inf, isclose
from typing import TYPE_CHECKING, Any, Final, Literal

from tokbench.foundation.errors import shortened
from tokbench.measuring.paired import KeptSums, paired_difference, paired_quotient
from tokbench.measuring.plan import DESIGNED
from tokbench.measuring.round_trip import RoundTrip
from tokbench.report.tables import CellTables
from tokbench.results.blocks import CorpusInfo, MetricInfo, TokenizerInfo, TrainingInfo
from tokbench.results.cells import OWN_TEXTS, Cell, Status
from tokbench.results.model import NamedRun, Results
from tokbench.statistics.jackknife import Spread, holm
from tokbench.statistics.standings import Gap, Verdict, verdict_of

if TYPE_CHECKING:
    import pandas as pd

_NO_COLUMNS: Final = {"spread", "ratio_spread", "without_units", "margin"}

_IDENTITY: Final = ("backend", "engine", "options", "vocab_size", "sha256", "train")

_COST_OF_TRAINING: Final = {"seconds", "memory_mb", "from_store"}

_MACHINE: Final = ("system", "cpu", "cores", "threads", "tokbench")


@dataclass(frozen=True, kw_only=True)
class CellChange:
    """One number in two runs."""

    tokenizer: str
    corpus: str
    group: str
    metric: str
    unit: str = ""
    direction: Literal["higher", "lower", "none"] = "none"
    before: float | None = None
    after: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    """``after - before`` and its 95% interval, in the unit of the metric."""
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    """``after / before - 1`` and its 95% interval."""
    p: float | None = None
    """The p-value of the difference; ``None`` without an interval."""
    p_holm: float | None = None
    """The same, corrected for all compared numbers of the metric (Holm 1979)."""
    spread: Spread | None = None
    ratio_spread: Spread | None = None
    """The jackknife spreads of the difference and the ratio; ``None`` for speeds."""
    without_units: bytes = b""
    """See :attr:`tokbench.measuring.paired.PairedChange.without_units`."""
    documents: int | None = None
    """The number of documents of both values; ``None`` if it differs."""
    round_trip: RoundTrip = RoundTrip.EXACT
    """The round trip of the other run by the rule of loss, compared with the baseline."""
    reason: str = ""
    """The reason for a missing difference or interval; else empty."""
    margin: float = 0.0
    """A smaller ratio is a tie, however sure it is; 0 for losses of text."""
    follows: str = ""
    """The metric that shows the same change already, because both are made from one count; empty for none."""

    @property
    def place(self) -> tuple[str, str, str]:
        return self.tokenizer, self.corpus, self.group

    @property
    def factor(self) -> float | None:
        """``after / before``; ``None`` for a share of a whole."""
        return None if self.ratio is None or self.unit.startswith("share") else 1 + self.ratio

    @property
    def verdict(self) -> Literal["better", "worse", "other", "same", "tie", "open", "gone", "new"]:
        """The change in a word.

        ``better``, ``worse`` and ``other`` are significant. ``other`` has no better direction, or is better but not
        ranked by the rule of loss. A ``tie`` is below the practical margin. ``open`` is not significant, or unknown;
        only one run has ``gone`` and ``new``.
        """
        if self.after is None or self.before is None:
            return "gone" if self.after is None else "new"
        if self.difference is None:
            return "open"
        more = self.ratio if self.ratio is not None else inf if self.difference else 0.0
        decided = verdict_of(Gap(more, self.low, self.high, self.p), self.margin, self.p_holm)
        if decided is not Verdict.BEHIND:
            return "same" if decided is Verdict.SAME else "tie" if decided is Verdict.SMALL else "open"
        if self.direction == "none":
            return "other"
        if (self.difference > 0) != (self.direction == "higher"):
            return "worse"
        return "other" if self.round_trip == RoundTrip.LOSSY else "better"

    @property
    def hypothesis(self) -> tuple[object, ...]:
        """The tested hypothesis, which copies of a tokenizer share."""
        copies = (self.before, self.after, self.without_units) if self.without_units else (self.tokenizer,)
        return (self.corpus, self.group, self.metric, *copies)

    @property
    def row(self) -> dict[str, str | float | bool | None]:
        """The columns of a table: every field but the spreads, and the verdict."""
        return {name: getattr(self, name) for name in self.columns()}

    @classmethod
    def columns(cls) -> list[str]:
        return [name for name in cls.__dataclass_fields__ if name not in _NO_COLUMNS] + ["verdict"]


@dataclass(kw_only=True)
class Comparison:
    """All differences between two runs."""

    baseline: str
    other: str
    changes: list[CellChange] = field(default_factory=list)
    """The numbers of both, in the order of the baseline."""
    tokenizers: dict[str, list[str]] = field(default_factory=dict)
    """By tokenizer, sentences on what changed, such as its vocabulary or engine."""
    appeared: list[str] = field(default_factory=list)
    """The tokenizers, corpora, groups and metrics that only the other run has."""
    vanished: list[str] = field(default_factory=list)
    """What only the baseline has."""
    refused: list[str] = field(default_factory=list)
    """Sentences on what cannot be compared, and why."""
    notes: list[str] = field(default_factory=list)
    """Sentences such as on another version."""
    metrics: dict[str, MetricInfo] = field(default_factory=dict)

    @property
    def facts(self) -> list[CellChange]:
        """The changes without those that follow others."""
        return [change for change in self.changes if not change.follows]

    @property
    def frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame([change.row for change in self.changes], columns=CellChange.columns())


def compare(baseline: NamedRun, other: NamedRun, *, other_machine: bool = False) -> Comparison:
    """Compare a run with a baseline.

    With ``other_machine``, speeds of different machines or versions of tokbench are compared, too.

    Raises:
        ResultsError: the raw states of a run are missing or damaged.
    """
    return _Comparer(baseline, other, other_machine=other_machine).compared()


class _Comparer:
    def __init__(self, baseline: NamedRun, other: NamedRun, *, other_machine: bool) -> None:
        self._names = baseline.name, other.name
        self._one, self._two = baseline.results, other.results
        self._tables = CellTables(self._one), CellTables(self._two)
        self._other_machine = other_machine
        self._refused: dict[str, None] = {}

    def compared(self) -> Comparison:
        one = {_place(cell): cell for cell in self._one.cells}
        two = {_place(cell): cell for cell in self._two.cells}
        possible = [self._change(cell, two.get(place)) for place, cell in one.items()]
        changes = [change for change in possible if change]
        return Comparison(
            baseline=self._names[0],
            other=self._names[1],
            changes=list(_once(list(_corrected(changes)), self._one.metrics)),
            tokenizers=self._tokenizers(),
            appeared=list(_only_in(self._two, self._one)),
            vanished=list(_only_in(self._one, self._two)),
            refused=list(self._refused),
            notes=list(self._notes()),
            metrics=self._one.metrics | self._two.metrics,
        )

    def _change(self, one: Cell, two: Cell | None) -> CellChange | None:
        """Return one change; ``None`` if neither run has the number, or it cannot be compared."""
        two = two or replace(one, value=None, status=Status.NOT_APPLICABLE, reason=f"not in {self._names[1]}")
        if Status.OK not in {one.status, two.status}:
            return None
        info = self._one.metrics.get(one.metric, MetricInfo())
        reason = self._incomparable(one.corpus, one.metric, info) or _other_unit(one, two)
        if reason:
            self._refused[reason] = None
            return None
        change = CellChange(
            tokenizer=one.tokenizer,
            corpus=one.corpus,
            group=one.group,
            metric=one.metric,
            unit=two.unit or one.unit,
            direction=info.direction,
            before=one.value,
            after=two.value,
            documents=one.n if one.n == two.n and one.n else None,
            margin=self._tables[1].margin(one.metric),
        )
        if one.value is None or two.value is None:
            gone = one if one.value is None else two
            return replace(change, reason=gone.reason)
        ratio = two.value / one.value - 1 if one.value else None
        round_trip = self._tables[1].round_trip(two)
        change = replace(change, difference=two.value - one.value, ratio=ratio, round_trip=round_trip)
        if info.timed:
            return _timed(change, one, two)
        return change if change.difference == 0 else self._paired(change, info)

    def _incomparable(self, corpus: str, metric: str, info: MetricInfo) -> str:
        other = self._two.metrics.get(metric)
        if other and info.formula != other.formula:
            return f"{metric}: its definition is another one in {self._names[1]}"
        if info.timed:
            return self._other_speed
        families = self._one.families.get(info.family), self._two.families.get(info.family)
        if families[0] and families[1] and families[0].options != families[1].options:
            return f"{info.family}: its options are {families[0].options} and {families[1].options}"
        return "" if corpus == OWN_TEXTS else self._other_text.get(corpus, "")

    @cached_property
    def _other_text(self) -> dict[str, str]:
        """By corpus, why its numbers cannot be compared."""
        by_name = {}
        for name, one in self._one.corpora.items():
            two = self._two.corpora.get(name)
            if two and (what := _other_documents(one, two)):
                by_name[name] = f"corpus {name}: {what}"
        return by_name

    @cached_property
    def _other_speed(self) -> str:
        if self._other_machine:
            return ""
        one, two = self._one.environment, self._two.environment
        differing = [
            f"{name} {getattr(one, name)} and {getattr(two, name)}"
            for name in _MACHINE
            if getattr(one, name) != getattr(two, name)
        ]
        if not differing:
            return ""
        return f"speed: another machine or version ({'; '.join(differing)}); --other-machine compares all the same"

    def _paired(self, change: CellChange, info: MetricInfo) -> CellChange:
        if self._two.corpora.get(change.corpus, CorpusInfo()).designed:
            return replace(change, reason=DESIGNED)
        one, two = (kept.sums(change.tokenizer, change.corpus, change.group, info.family) for kept in self._kept)
        difference = paired_difference(one, two, info.ratio_of)
        change = replace(
            change,
            low=difference.low,
            high=difference.high,
            p=difference.p,
            spread=difference.spread,
            without_units=difference.without_units,
            reason=difference.reason,
        )
        if change.spread is None or change.ratio is None:
            return change
        share = paired_quotient(one, two, info.ratio_of)
        return replace(change, ratio_low=share.low, ratio_high=share.high, ratio_spread=share.spread)

    @cached_property
    def _kept(self) -> tuple[KeptSums, KeptSums]:
        return KeptSums(self._one), KeptSums(self._two)

    def _tokenizers(self) -> dict[str, list[str]]:
        by_name = {}
        for name, one in self._one.tokenizers.items():
            two = self._two.tokenizers.get(name)
            if two and (sentences := list(_other_tokenizer(one, two))):
                by_name[name] = sentences
        return by_name

    def _notes(self) -> Iterator[str]:
        one, two = self._one.environment, self._two.environment
        if one.tokbench != two.tokbench:
            yield f"tokbench {one.tokbench} and {two.tokbench}"
        if self._other_machine and (one.cpu, one.system) != (two.cpu, two.system):
            yield f"speeds of two machines: {one.cpu}, {one.system}; and {two.cpu}, {two.system}"
        for name, results in zip(self._names, (self._one, self._two), strict=True):
            if results.interrupted:
                yield f"{name} was interrupted"


def _place(cell: Cell) -> tuple[str, str, str, str]:
    return cell.tokenizer, cell.corpus, cell.group, cell.metric


def _timed(change: CellChange, one: Cell, two: Cell) -> CellChange:
    """Return the change of a speed, between the far ends of both intervals."""
    if not (one.ci_low and one.ci_high and two.ci_low and two.ci_high):
        return replace(change, reason="one of both has no interval")
    low, high = two.ci_low / one.ci_high - 1, two.ci_high / one.ci_low - 1
    ends = two.ci_low - one.ci_high, two.ci_high - one.ci_low
    return replace(change, low=ends[0], high=ends[1], ratio_low=low, ratio_high=high)


def _corrected(changes: Sequence[CellChange]) -> Iterator[CellChange]:
    tested: dict[str, list[CellChange]] = {}
    for change in changes:
        if change.p is not None:
            tested.setdefault(change.metric, []).append(change)
    corrected = {
        metric: iter(holm([change.p or 0.0 for change in some], [change.hypothesis for change in some]))
        for metric, some in tested.items()
    }
    for change in changes:
        yield change if change.p is None else replace(change, p_holm=next(corrected[change.metric]))


def _once(changes: Sequence[CellChange], metrics: Mapping[str, MetricInfo]) -> Iterator[CellChange]:
    """Yield changes; what a headline metric shows already, or else an earlier one, follows that."""
    by_metric: dict[str, dict[object, CellChange]] = {}
    for change in changes:
        by_metric.setdefault(change.metric, {})[change.place] = change
    leads: dict[str, str] = {}
    for metric in sorted(by_metric, key=lambda name: not metrics.get(name, MetricInfo()).headline):
        counted = (lead for lead in dict.fromkeys(leads.values()) if _one_count(by_metric[lead], by_metric[metric]))
        leads[metric] = next(counted, metric)
    for change in changes:
        lead = by_metric[leads[change.metric]].get(change.place, change)
        alike = (lead.before is None) == (change.before is None) and (lead.after is None) == (change.after is None)
        yield replace(change, follows=lead.metric) if alike and lead is not change else change


def _one_count(one: Mapping[object, CellChange], other: Mapping[object, CellChange]) -> bool:
    """Tell whether two metrics changed by the same factor everywhere, or by its inverse, as if made from one count."""
    both = [(one[place].factor, other[place].factor) for place in one.keys() & other.keys()]
    known = [(first, second) for first, second in both if first and second]
    changed = any(first != 1 for first, _ in known)
    return changed and any(all(isclose(first, second**sign) for first, second in known) for sign in (1, -1))


def _other_unit(one: Cell, two: Cell) -> str:
    if one.unit == two.unit or not one.unit or not two.unit:
        return ""
    return f"{one.metric}: its unit is {one.unit} and {two.unit}"


def _other_documents(one: CorpusInfo, two: CorpusInfo) -> str:
    if one.sha256 != two.sha256:
        return f"its text is not the same: sha256 {one.sha256[:12]} and {two.sha256[:12]}"
    if one.holdout != two.holdout:
        return f"holdout is {one.holdout} and {two.holdout}, so that other documents are measured"
    return "" if one.groups == two.groups else "its documents fall into other groups"


def _other_tokenizer(one: TokenizerInfo, two: TokenizerInfo) -> Iterator[str]:
    if one.state != two.state:
        yield f"{one.state} → {two.state}" + (f": {two.reason}" if two.reason else "")
    for name in _IDENTITY:
        before, after = getattr(one, name), getattr(two, name)
        if name == "train":
            before, after = (_learned_from(info) for info in (before, after))
        if before == after:
            continue
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            keys = [key for key in {**before, **after} if before.get(key) != after.get(key)]
            yield f"{name}: " + ", ".join(f"{key} {_short(before.get(key))} → {_short(after.get(key))}" for key in keys)
        else:
            yield f"{name}: {_short(before)} → {_short(after)}"
    for package in {**one.libraries, **two.libraries}:
        before, after = one.libraries.get(package), two.libraries.get(package)
        if before != after:
            yield f"{package} {before or 'absent'} → {after or 'absent'}"


def _learned_from(info: TrainingInfo | None) -> dict[str, Any]:
    return {key: value for key, value in asdict(info).items() if key not in _COST_OF_TRAINING} if info else {}


def _short(value: object) -> str:
    return "none" if value is None or value == "" else shortened(str(value), 40)


def _only_in(one: Results, other: Results) -> Iterator[str]:
    for kind, mine, theirs in (
        ("tokenizer", one.tokenizers, other.tokenizers),
        ("corpus", one.corpora, other.corpora),
        ("metric", one.metrics, other.metrics),
    ):
        absent = [name for name in mine if name not in theirs]
        if absent:
            yield f"{kind} {', '.join(absent)}"
    for name, corpus in one.corpora.items():
        absent = [group for group in corpus.groups if name in other.corpora and group not in other.corpora[name].groups]
        if absent:
            yield f"group {', '.join(absent)} of corpus {name}"
