"""The cells of a run by key, and the best of comparable cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Final

from tokbench.corpus.languages import language_names
from tokbench.foundation.errors import ResultsError
from tokbench.measuring.metric import Role
from tokbench.measuring.paired import KeptSums
from tokbench.measuring.round_trip import RoundTrip
from tokbench.measuring.sums import Sums
from tokbench.report.cells import (
    BEST_LEGEND,
    NOT_CHECKED_LEGEND,
    UNBOUND,
    DisplayCell,
    Series,
    display_cell,
)
from tokbench.report.escaping import plain
from tokbench.report.number_format import Style, style_for
from tokbench.report.round_trips import RoundTrips
from tokbench.results.blocks import CorpusInfo, MetricInfo, TokenizerInfo
from tokbench.results.cells import WHOLE, Cell, TokenizerState, trained_on
from tokbench.results.model import Results
from tokbench.statistics.standings import GroupNumber, StandingSums, leaders, standings
from tokbench.tokenizers.facts import TRAINED_BEFORE

HEADLINE_ROLES: Final = (Role.TEXT_PER_TOKEN, Role.TOKENS_PER_WORD, Role.LOST_CHARACTERS, Role.ENCODING_SPEED)

ALL_BYTES: Final = "all bytes"

MOST_GROUPS: Final = 200
"""The most groups of a corpus in a report; ``results.csv`` has all."""

MOST_TOKENIZERS: Final = 64
"""The most tokenizers in tables of groups and charts; ``results.csv`` has all."""

_TIMED_DIGITS: Final = 3  # no machine is steadier than that


_NO_METRIC, _NO_TOKENIZER, _NO_CORPUS = MetricInfo(), TokenizerInfo(), CorpusInfo()


class CellTables:
    """The cells of a run by key."""

    def __init__(self, results: Results) -> None:
        self.results = results
        cells = results.cells  # of which there may be a million
        places = map(attrgetter("metric", "corpus", "group", "tokenizer"), cells)
        self._cells: dict[tuple[str, str, str, str], Cell] = dict(zip(places, cells, strict=True))
        self._level: dict[tuple[str, str, str], set[str]] = {}
        self.tokenizers = _names(results.tokenizers, map(attrgetter("tokenizer"), cells))
        self.corpora = _names(results.corpora, map(attrgetter("corpus"), cells))
        self.metrics = _names(results.metrics, map(attrgetter("metric"), cells))

    @cached_property
    def _present(self) -> dict[tuple[str, str], list[str]]:
        groups: dict[tuple[str, str], list[str]] = {}
        for metric, corpus, group in dict.fromkeys(map(attrgetter("metric", "corpus", "group"), self.results.cells)):
            groups.setdefault((metric, corpus), []).append(group)
        return groups

    def metric(self, name: str) -> MetricInfo:
        return self.results.metrics.get(name, _NO_METRIC)

    def tokenizer(self, name: str) -> TokenizerInfo:
        return self.results.tokenizers.get(name, _NO_TOKENIZER)

    def own(self, name: str) -> bool:
        """Tell whether a tokenizer was trained with tokbench, in this run or before."""
        info = self.tokenizer(name)
        return info.train is not None or any(note.startswith(TRAINED_BEFORE) for note in info.notes)

    def corpus(self, name: str) -> CorpusInfo:
        return self.results.corpora.get(name, _NO_CORPUS)

    def label(self, metric: str) -> str:
        return self.metric(metric).label or metric.replace("_", " ")

    @cached_property
    def anchors(self) -> dict[str, str]:
        return {name: f"metric-{number}" for number, name in enumerate(self.metrics)}

    @cached_property
    def _by_role(self) -> dict[str, str]:
        return {metric.role: name for name, metric in reversed(self.results.metrics.items())}

    def with_role(self, role: Role) -> str:
        return self._by_role.get(role, "")

    @cached_property
    def headline(self) -> list[str]:
        names = [name for name, metric in self.results.metrics.items() if metric.headline]
        rank = {role.value: place for place, role in enumerate(HEADLINE_ROLES)}
        leading = [name for name in names if self.metric(name).leads]
        return leading + sorted(
            (name for name in names if name not in leading),
            key=lambda name: rank.get(self.metric(name).role, len(rank)),
        )

    @cached_property
    def loss_counts(self) -> frozenset[str]:
        family = self.metric(self.with_role(Role.ROUND_TRIP)).family
        metrics = self.results.metrics.items()
        return frozenset(
            name for name, info in metrics if family and info.family == family and info.direction == "none"
        )

    def groups(self, metric: str, corpus: str) -> list[str]:
        present = [group for group in self._present.get((metric, corpus), []) if group != WHOLE]
        rank = {group: place for place, group in enumerate(self.corpus(corpus).groups)}
        return sorted(present, key=lambda group: rank.get(group, len(rank)))

    def is_shown(self, corpus: str, group: str) -> bool:
        """Tell whether reports show a group: the :data:`MOST_GROUPS` largest, and slices.

        >>> groups = {f"g{k}": k for k in range(1000)}
        >>> tables = CellTables(Results(name="r", corpora={"c": CorpusInfo(groups=groups)}))
        >>> [tables.is_shown("c", group) for group in ("g999", "g799", "script: Latin", "*")]
        [True, False, True, True]
        """
        return group not in self._hidden.get(corpus, ())

    @cached_property
    def _hidden(self) -> dict[str, frozenset[str]]:
        groups = {corpus: self.corpus(corpus).groups for corpus in self.corpora}
        return {
            corpus: frozenset(sorted(documents, key=lambda group: -documents[group])[MOST_GROUPS:])
            for corpus, documents in groups.items()
        }

    def language(self, corpus: str, group: str) -> str:
        return self._languages[corpus].get(group, "")

    @cached_property
    def _languages(self) -> dict[str, dict[str, str]]:
        return {corpus: language_names(self.corpus(corpus).groups) for corpus in self.corpora}

    def left_out(self, corpus: str) -> str:
        left = len(self.corpus(corpus).groups) - MOST_GROUPS
        if left <= 0:
            return ""
        return f"The {MOST_GROUPS:,} groups with the most documents are shown; results.csv has the other {left:,}, too."

    def in_sight(self, ranked: Sequence[str]) -> list[str]:
        """Return the first :data:`MOST_TOKENIZERS`, which tables of groups and charts show.

        >>> tables = CellTables(Results(name="r"))
        >>> names = [f"t{k}" for k in range(100)]
        >>> len(tables.in_sight(names)), tables.out_of_sight(names), tables.out_of_sight(names[:64])
        (64, 'The first 64 tokenizers are shown; the overview and results.csv have the other 36, too.', '')
        """
        return list(ranked[:MOST_TOKENIZERS])

    def out_of_sight(self, ranked: Sequence[str]) -> str:
        left, kept = len(ranked) - MOST_TOKENIZERS, "the overview and results.csv have"
        return f"The first {MOST_TOKENIZERS} tokenizers are shown; {kept} the other {left:,}, too." if left > 0 else ""

    def cell(self, metric: str, corpus: str, group: str, tokenizer: str) -> Cell | None:
        return self._cells.get((metric, corpus, group, tokenizer))

    def whole_cell(self, metric: str, corpus: str, tokenizer: str) -> Cell:
        return self._cells[metric, corpus, WHOLE, tokenizer]

    def series(
        self, metric: str, corpus: str, group: str = WHOLE, *, digits: int | Style = 4, names: Sequence[str] = ()
    ) -> Series:
        """Return one metric of one group, with the best marked.

        ``digits`` are the significant digits, or a style; without ``names`` it has all tokenizers.
        """
        info = self.metric(metric)
        cells = {name: self.cell(metric, corpus, group, name) for name in names or self.tokenizers}
        usable = [cell for cell in cells.values() if cell and cell.value is not None]
        units = {cell.unit for cell in usable}
        unit = units.pop() if len(units) == 1 else ""
        if isinstance(digits, Style):
            style = digits
        else:
            digits = min(digits, _TIMED_DIGITS) if info.timed else digits
            style = style_for([cell.value for cell in usable if cell.value is not None], unit, digits)
        best = self.level_with_best(metric, corpus, group) if len({cell.unit for cell in usable}) == 1 else set()
        shown = {
            name: self.display(cell, style, best=name in best) if cell else self._missing(name, corpus)
            for name, cell in cells.items()
        }
        label = self.label(metric)
        whole = group == WHOLE and len(self.groups(metric, corpus)) > 1 and not self.corpus(corpus).designed
        over = ALL_BYTES if whole and metric == self.with_role(Role.TEXT_PER_TOKEN) else ""
        return Series(metric, label, info.short_label or label, corpus, group, unit, info.direction, shown, over)

    def display(self, cell: Cell, style: Style, *, best: bool, round_trip: RoundTrip | None = None) -> DisplayCell:
        """Return a cell as reports show it; ``round_trip`` replaces its round trip in this run."""
        return display_cell(
            cell,
            style,
            best=best,
            timed=self.metric(cell.metric).timed,
            round_trip=round_trip or self.round_trip(cell),
            lost=self._lost(cell),
            baseline=self.tokenizer(cell.tokenizer).baseline,
        )

    def _lost(self, cell: Cell) -> float | None:
        share = self.cell(self.with_role(Role.LOST_CHARACTERS), cell.corpus, cell.group, cell.tokenizer)
        return None if share is None else share.value

    def _missing(self, name: str, corpus: str) -> DisplayCell:
        tokenizer = self.tokenizer(name)
        if tokenizer.corpora and corpus not in tokenizer.corpora:
            title = f"measured on {plain(', '.join(tokenizer.corpora))} only"
            return DisplayCell(text=UNBOUND, title=title, unbound=True)
        if tokenizer.state == TokenizerState.READY:
            return DisplayCell(text="not run", title="the run has no such result", missed=True)
        return DisplayCell(text=tokenizer.state.value, title=plain(tokenizer.reason or "no reason given"), missed=True)

    @property
    def timed(self) -> bool:
        return any(metric.timed for metric in self.results.metrics.values())

    @property
    def losses_checked(self) -> bool:
        return bool(self.with_role(Role.ROUND_TRIP))

    @property
    def best_legend(self) -> str:
        return BEST_LEGEND if self.losses_checked else NOT_CHECKED_LEGEND

    @cached_property
    def _round_trips(self) -> RoundTrips:
        return RoundTrips(self)

    def round_trip(self, cell: Cell) -> RoundTrip:
        return self._round_trips.of(cell)

    def competing(self, metric: str, corpus: str, group: str = WHOLE) -> list[Cell]:
        cells = (self.cell(metric, corpus, group, name) for name in self.tokenizers)
        pool = [cell for cell in cells if cell and self.competes(cell)]
        sign = -1.0 if self.metric(metric).direction == "higher" else 1.0
        return sorted(pool, key=lambda cell: sign * (cell.value or 0.0))

    def level_with_best(self, metric: str, corpus: str, group: str = WHOLE) -> set[str]:
        """Return the best tokenizers at a place with their ties, by :mod:`tokbench.statistics.standings`.

        Empty if fewer than two compete, most are equal, or there is no evidence; only the :data:`MOST_TOKENIZERS`
        nearest are compared.
        """
        place = metric, corpus, group
        if place not in self._level:
            self._level[place] = self._find_level(metric, corpus, group)
        return self._level[place]

    def _find_level(self, metric: str, corpus: str, group: str) -> set[str]:
        info = self.metric(metric)
        pool = self.competing(metric, corpus, group) if info.direction != "none" else []
        shapes = dict.fromkeys(self.tokenizer(cell.tokenizer).returns if info.by_output else "" for cell in pool)
        shaped = [
            [c for c in pool if not info.by_output or self.tokenizer(c.tokenizer).returns == shape] for shape in shapes
        ]
        return set[str]().union(*map(self._level_in, shaped))

    def _level_in(self, pool: Sequence[Cell]) -> set[str]:
        # Where most are equal, or one is alone, bold says nothing.
        if 2 * sum(cell.value == pool[0].value for cell in pool) > len(pool):
            return set()
        # Holm's correction multiplies the p-values of the nearest ones, which are the largest, by their own number.
        numbers = {cell.tokenizer: [self.number(cell)] for cell in pool[:MOST_TOKENIZERS]}
        metric = pool[0].metric
        return leaders(standings(numbers, higher=self.higher(metric), margin=self.margin(metric)))

    def higher(self, metric: str) -> bool:
        return self.metric(metric).direction == "higher"

    def margin(self, metric: str) -> float:
        """Return the relative difference below which numbers of a metric tie; 0 for losses of text."""
        info, losses = self.metric(metric), self.metric(self.with_role(Role.ROUND_TRIP)).family
        return 0.0 if losses and info.family == losses else self.results.config.practical_margin

    def number(self, cell: Cell) -> GroupNumber:
        """Return a number as it is ranked: with the sums behind it, or with its interval; bare on curated texts."""
        if self.corpus(cell.corpus).designed:
            return GroupNumber(cell.value or 0.0)
        info = self.metric(cell.metric)
        own = None if info.timed else self.sums(cell.metric, cell.corpus, cell.group, cell.tokenizer)
        sums = None
        if own and info.ratio_of and own.columns.keys() >= set(info.ratio_of):
            above, below = (own.columns[name] for name in info.ratio_of)
            sums = StandingSums(above=above, below=below, units=own.units) if below.any() else None
        return GroupNumber(cell.value or 0.0, cell.ci_low, cell.ci_high, sums)

    def sums(self, metric: str, corpus: str, group: str, tokenizer: str) -> Sums | None:
        """Return the sums of a metric's family at a place; ``None`` if the run did not keep them."""
        kept = self._sums
        return kept.sums(tokenizer, corpus, group, self.metric(metric).family) if kept else None

    @cached_property
    def _sums(self) -> KeptSums | None:
        try:
            return KeptSums(self.results)
        except ResultsError:
            return None

    def comparable(self, cell: Cell) -> bool:
        """Tell whether a cell has a value, was not trained on its documents, and is not a baseline."""
        return cell.value is not None and not trained_on(cell.in_sample) and not self.tokenizer(cell.tokenizer).baseline

    def competes(self, cell: Cell) -> bool:
        return self.comparable(cell) and self.round_trip(cell).ranked


def _names(first: Iterable[str], more: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*first, *more]))
