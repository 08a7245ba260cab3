"""The leaderboard of many runs: the best of each corpus and metric, with the run of every number.

Numbers are compared only if they measure the same: the same sha256 of the text, the same definition, unit and options
of the metric, and for speeds the same machine and version of tokbench.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

from tokbench import ResultsError
from tokbench.measuring.metric import Role
from tokbench.measuring.paired import KeptSums, has_pair, paired_difference
from tokbench.measuring.round_trip import RoundTrip
from tokbench.plugin import InputError, did_you_mean
from tokbench.plugin.metrics import WHOLE, Cell, Sums
from tokbench.plugin.report import CellTables, DisplayCell
from tokbench.report.number_format import style_for
from tokbench.report.tables import has_interval, intervals_overlap, level_with
from tokbench.results.model import NamedRun

if TYPE_CHECKING:
    import pandas as pd

    from tokbench.results.blocks import MetricInfo, TokenizerInfo

_DIGITS: Final = 4
_HASH: Final = 12


@dataclass(frozen=True, kw_only=True)
class RunSource:
    """One run of the leaderboard."""

    number: int
    """The number by which entries name it, from 1."""
    path: str
    name: str
    created: str
    tokbench: str
    machine: str
    remark: str = ""
    """Such as that the run was stopped."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One number of a standing."""

    tokenizer: str
    run: int
    cell: Cell
    shown: DisplayCell
    """The same as reports show it; ``shown.best`` marks the best and its ties."""
    competes: bool
    """Ranked by the rule of loss, not trained on this text, and complete."""
    again: tuple[int, ...] = ()
    """Further runs with the same number for the same tokenizer."""


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The numbers of one metric on one whole corpus, best first; those that do not compete come last."""

    corpus: str
    """With the beginning of its sha256 if runs have another text of this name."""
    sha256: str
    """The digest of its documents; empty if unknown."""
    metric: str
    label: str
    unit: str
    direction: Literal["higher", "lower", "none"]
    headline: bool
    machine: str
    entries: list[Entry]

    @property
    def best(self) -> list[Entry]:
        """The best entry and its ties; empty if :attr:`without_best` says why."""
        return [entry for entry in self.entries if entry.shown.best]

    @property
    def places(self) -> list[int | None]:
        """The place of each entry, from 1; ``None`` if it does not compete.

        Ties with the best share place 1, unless a better one's interval does not overlap: then the entries before it
        count, as for all others. Equal numbers share a place.
        """
        places: list[int | None] = []
        first: list[Cell] = []
        for number, entry in enumerate(self.entries, 1):
            shares = entry.shown.best and not any(_apart(entry.cell, better) for better in first)
            if shares:
                first.append(entry.cell)
            before = places[-1] if places and self.entries[number - 2].cell.value == entry.cell.value else None
            places.append((1 if shares else before or number) if entry.competes else None)
        return places

    @property
    def without_best(self) -> str:
        """Why none is best; empty if one is."""
        rivals = sum(entry.competes for entry in self.entries)
        if self.best or rivals < 2:  # noqa: PLR2004 - one alone cannot be compared
            return "" if self.best else "one number alone" if rivals else "no number is ranked"
        top, *others = (entry.cell for entry in self.entries if entry.competes)
        compared = has_interval(top) and any(map(has_interval, others))
        compared |= all(other.value == top.value for other in others)
        return f"all {rivals:,} tie" if compared else "no number can be compared with the best"


@dataclass(kw_only=True)
class Leaderboard:
    """The standings of many runs."""

    runs: list[RunSource] = field(default_factory=list)
    standings: list[Standing] = field(default_factory=list)
    """By corpus and metric, in the order of the runs."""
    notes: list[str] = field(default_factory=list)
    """Sentences on what was separated or left out."""

    @property
    def frame(self) -> pd.DataFrame:
        import pandas as pd

        sources = {run.number: run for run in self.runs}
        return pd.DataFrame(
            {
                **{name: getattr(standing, name) for name in ("corpus", "sha256", "metric", "unit", "machine")},
                "tokenizer": entry.tokenizer,
                **{name: getattr(entry.cell, name) for name in ("value", "ci_low", "ci_high")},
                "best": entry.shown.best,
                "competes": entry.competes,
                "run": sources[entry.run].name,
                **{name: getattr(sources[entry.run], name) for name in ("path", "created", "tokbench")},
            }
            for standing in self.standings
            for entry in standing.entries
        )


def leaderboard(runs: Sequence[NamedRun], metrics: Sequence[str] = ()) -> Leaderboard:
    """Return the leaderboard of some runs; without ``metrics``, of all that have a better direction.

    Raises:
        InputError: no run has such a metric.
    """
    known = dict.fromkeys(name for run in runs for name in run.results.metrics)
    for name in metrics:
        if name not in known:
            raise InputError(f"no run has the metric {name!r}; {did_you_mean(name, known)}")
    return _Board([_Run(number, run) for number, run in enumerate(runs, 1)], metrics).made()


class _Run:
    def __init__(self, number: int, run: NamedRun) -> None:
        self.number, self.path, self.results = number, run.name, run.results
        self.tables = CellTables(run.results)

    @cached_property
    def machine(self) -> str:
        """The machine and version in words, distinct for different facts."""
        here = self.results.environment
        threads = [f"{name}={value}" for name, value in sorted(here.threads.items())]
        cores = f"{here.cores} cores" if here.cores else ""
        return ", ".join(filter(None, [here.system, here.cpu, cores, *threads, f"tokbench {here.tokbench}"]))

    @cached_property
    def _kept(self) -> KeptSums | str:
        try:
            return KeptSums(self.results)
        except ResultsError as error:
            return str(error)

    @property
    def without_sums(self) -> str:
        """Why the sums of its cells cannot be read; else empty."""
        return self._kept if isinstance(self._kept, str) else ""

    def sums(self, cell: Cell, info: MetricInfo) -> Sums | None:
        kept = self._kept
        if isinstance(kept, str) or self.tables.corpus(cell.corpus).designed:
            return None
        return kept.sums(cell.tokenizer, cell.corpus, cell.group, info.family)

    def source(self) -> RunSource:
        limit = self.results.config.limit
        remarks = ["stopped before the end"] if self.results.interrupted else []
        remarks += [f"at most {limit:,} documents a group"] if limit is not None else []
        return RunSource(
            number=self.number,
            path=self.path,
            name=self.results.name,
            created=self.results.created,
            tokbench=self.results.environment.tokbench,
            machine=self.machine,
            remark="; ".join(remarks),
        )

    def text_key(self, corpus: str) -> tuple[object, ...]:
        info = self.tables.corpus(corpus)
        groups = tuple(sorted(info.groups.items()))
        return (info.sha256 or f"unknown, run {self.number}", info.holdout, groups, info.parallel, info.reference)

    def metric_key(self, metric: str) -> tuple[str, ...]:
        info = self.tables.metric(metric)
        family = self.results.families.get(info.family)
        options = json.dumps(family.options, sort_keys=True, default=str) if family else ""
        return (metric, info.formula, info.direction, options, self.machine if info.timed else "")

    def identity(self, tokenizer: str) -> str:
        info: TokenizerInfo = self.tables.tokenizer(tokenizer)
        facts = (info.backend, info.options, info.vocab_size, info.sha256, info.artefact_sha256)
        return json.dumps(facts, sort_keys=True, default=str)


@dataclass
class _Gathered:
    corpus: str
    info: MetricInfo
    cells: list[tuple[_Run, Cell]] = field(default_factory=list)


@dataclass
class _Kept:
    run: _Run
    cell: Cell
    round_trip: RoundTrip
    competes: bool
    runs: list[int] = field(default_factory=list)


class _Board:
    def __init__(self, runs: Sequence[_Run], metrics: Sequence[str]) -> None:
        self._runs, self._metrics = runs, metrics
        self._gathered: dict[tuple[object, ...], _Gathered] = {}
        self._texts: dict[str, dict[tuple[object, ...], list[_Run]]] = {}
        self._definitions: dict[str, dict[tuple[str, ...], list[_Run]]] = {}

    def made(self) -> Leaderboard:
        for run in self._runs:
            for corpus, info in run.results.corpora.items():
                if info.groups:
                    self._texts.setdefault(corpus, {}).setdefault(run.text_key(corpus), []).append(run)
            self._collect(run)
        standings = [self._standing(gathered) for gathered in self._gathered.values()]
        return Leaderboard(
            runs=[run.source() for run in self._runs],
            standings=[standing for standing in standings if standing.entries],
            notes=list(self._notes()),
        )

    def _wanted(self, run: _Run) -> list[str]:
        """Return the metrics to show; ranks depend on who else was in the run."""
        rank = run.tables.metric(run.tables.with_role(Role.RANK)).family
        names = self._metrics or [
            name for name, info in run.results.metrics.items() if info.direction != "none" and info.family != rank
        ]
        return [name for name in names if name in run.results.metrics]

    def _collect(self, run: _Run) -> None:
        order = [*run.tables.headline, *run.results.metrics]
        for metric in sorted(self._wanted(run), key=order.index):
            self._definitions.setdefault(metric, {}).setdefault(run.metric_key(metric), []).append(run)
            for corpus, info in run.results.corpora.items():
                for name in run.tables.tokenizers if info.groups else ():
                    cell = run.tables.cell(metric, corpus, WHOLE, name)
                    if cell and cell.value is not None:
                        key = (corpus, run.text_key(corpus), run.metric_key(metric), cell.unit)
                        gathered = self._gathered.setdefault(key, _Gathered(corpus, run.tables.metric(metric)))
                        gathered.cells.append((run, cell))

    def _standing(self, gathered: _Gathered) -> Standing:
        run, first = gathered.cells[0]
        entries = self._entries(gathered)
        sha256 = run.tables.corpus(gathered.corpus).sha256
        apart = len(self._texts[gathered.corpus]) > 1
        number = [*self._texts[gathered.corpus]].index(run.text_key(gathered.corpus)) + 1
        mark = f" ({sha256[:_HASH] or 'sha256 unknown'}, text {number})" if apart else ""
        return Standing(
            corpus=gathered.corpus + mark,
            sha256=sha256,
            metric=first.metric,
            label=run.tables.label(first.metric),
            unit=first.unit,
            direction=gathered.info.direction,
            headline=gathered.info.headline,
            machine=run.machine if gathered.info.timed else "",
            entries=entries,
        )

    def _entries(self, gathered: _Gathered) -> list[Entry]:
        style = style_for([cell.value or 0.0 for _, cell in gathered.cells], gathered.cells[0][1].unit, _DIGITS)
        kept: dict[tuple[object, ...], _Kept] = {}
        # Of a speed that was measured again, the run that began last counts, and not the luckiest.
        for run, cell in sorted(gathered.cells, key=lambda pair: pair[0].results.created, reverse=gathered.info.timed):
            who = (cell.tokenizer, run.identity(cell.tokenizer))
            round_trip = run.tables.round_trip(cell)
            one = _Kept(run, cell, round_trip, run.tables.comparable(cell) and round_trip.ranked)
            key = who if gathered.info.timed else (*who, cell.value, one.competes)
            kept.setdefault(key, one).runs.append(run.number)
        best = _best([(one.run, one.cell) for one in kept.values() if one.competes], gathered.info)
        entries = [
            Entry(
                tokenizer=one.cell.tokenizer,
                run=one.run.number,
                again=() if gathered.info.timed else tuple(one.runs[1:]),
                cell=one.cell,
                shown=one.run.tables.display(
                    one.cell, style, best=(one.run.number, one.cell.tokenizer) in best, round_trip=one.round_trip
                ),
                competes=one.competes,
            )
            for one in kept.values()
        ]
        sign = -1.0 if gathered.info.direction == "higher" else 1.0
        return sorted(entries, key=lambda entry: (not entry.competes, sign * (entry.cell.value or 0.0)))

    def _notes(self) -> Iterator[str]:
        for run in self._runs:
            if run.without_sums:
                yield f"of run {run.number} numbers are compared by their intervals alone: {run.without_sums}"
        for corpus, texts in self._texts.items():
            if len(texts) > 1:
                listed = "; ".join(
                    f"text {number} (sha256 {(some[0].tables.corpus(corpus).sha256 or 'unknown')[:_HASH]}): {_of(some)}"
                    for number, some in enumerate(texts.values(), 1)
                )
                yield f"corpus {corpus} has other documents in some runs, which are ranked separately: {listed}"
        for metric, keys in self._definitions.items():
            if len({key[:-1] for key in keys}) > 1:
                yield f"{metric} has other definitions or options in some runs, which are ranked separately"
        timed = {key[-1] for keys in self._definitions.values() for key in keys if key[-1]}
        if len(timed) > 1:
            yield f"speeds are compared within one machine and version only: there are {len(timed)}"


def _best(rivals: Sequence[tuple[_Run, Cell]], info: MetricInfo) -> set[tuple[int, str]]:
    """Return run and tokenizer of the best and its ties.

    Empty if fewer than two compete, all tie, or none can be compared with the best.
    """
    if len(rivals) < 2 or info.direction == "none":  # noqa: PLR2004 - one alone cannot be compared
        return set()
    pick = max if info.direction == "higher" else min
    top_run, top = pick(rivals, key=lambda rival: rival[1].value or 0.0)
    by_key = {(run.number, cell.tokenizer): (run, cell) for run, cell in rivals}
    first = top_run.sums(top, info)
    changes = {
        key: paired_difference(first, sums, info.ratio_of)
        for key, (run, cell) in by_key.items()
        if not info.timed and cell is not top and has_pair(first, sums := run.sums(cell, info), info.ratio_of)
    }
    numbers = {key: cell for key, (_, cell) in by_key.items()}
    level = level_with((top_run.number, top.tokenizer), numbers, changes)
    return level if len(level) < len(rivals) else set()


def _apart(one: Cell, other: Cell) -> bool:
    """Tell whether two intervals are disjoint; ``False`` if one is missing."""
    return has_interval(one) and has_interval(other) and not intervals_overlap(one, other)


def _of(runs: Sequence[_Run]) -> str:
    return ("run " if len(runs) == 1 else "runs ") + ", ".join(str(run.number) for run in runs)
