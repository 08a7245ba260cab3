"""Prepares what the pages of a leaderboard show."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from leaderboard.board import Board, BoardEntry
from leaderboard.measure import Rank, read_ranks
from leaderboard.numbers import (
    DEAD,
    DIGEST,
    IDS,
    SPECIAL,
    TEXT_IDS,
    VOCABULARY,
    NumberRow,
    read_numbers,
)
from tokbench.corpus.languages import language_names, slices
from tokbench.plugin.metrics import WHOLE, Metric
from tokbench.registry.plugins import load_registry
from tokbench.registry.tokenizer_names import unverified

_COUNTS: Final = {
    IDS: "ids of the vocabulary",
    DEAD: "ids that no text produces, special tokens aside",
    SPECIAL: "ids that the tokenizer lists as special tokens",
}

_CHART_WIDTH: Final = 720


@dataclass(frozen=True)
class TextChoice:
    """Texts that a reader can choose: a corpus, a group of it, or the groups of one script or family."""

    key: str
    label: str
    corpus: str
    groups: tuple[str, ...]


@dataclass(frozen=True)
class EntryView:
    """An entry with its numbers."""

    name: str
    entry: BoardEntry
    rows: list[NumberRow]
    ranks: dict[tuple[str, str], Rank]

    @cached_property
    def _by_place(self) -> dict[tuple[str, str, str], NumberRow]:
        return {row.place: row for row in self.rows}

    @property
    def engine(self) -> str:
        return str(self.entry.tokenizer["backend"])

    def digest(self, metric: str = DIGEST) -> str:
        row = self._by_place.get((VOCABULARY, WHOLE, metric))
        return row.value if row else ""

    def number(self, corpus: str, metric: str, group: str = WHOLE) -> float | None:
        row = self._by_place.get((corpus, group, metric))
        return row.number if row else None

    def interval(self, corpus: str, metric: str, group: str = WHOLE) -> str:
        """Return the ends of the interval, or an empty string."""
        row = self._by_place.get((corpus, group, metric))
        return f"{float(row.low):.2f}–{float(row.high):.2f}" if row and row.low else ""

    @property
    def ids(self) -> float | None:
        return self.number(VOCABULARY, IDS)

    def place(self, corpus: str, metric: str) -> int | None:
        rank = self.ranks.get((corpus, metric))
        return rank.place if rank else None


@dataclass(frozen=True)
class BoardView:
    """A leaderboard with the numbers of all entries."""

    board: Board

    @cached_property
    def entries(self) -> list[EntryView]:
        """The entries that have numbers, in the order of the first ranking; unranked ones last."""
        ranks = read_ranks(self.board.ranks)
        views = [
            EntryView(name, entry, rows, {key: places[name] for key, places in ranks.items() if name in places})
            for name, entry in sorted(self.board.entries.items())
            if (rows := read_numbers(self.board.results(name)))
        ]
        site = self.board.settings.site
        order = (site.languages, site.ratio)

        def key(view: EntryView) -> tuple[bool, float]:
            return not view.place(*order), -(view.number(*order) or 0)

        return sorted(views, key=key)

    @cached_property
    def rows(self) -> list[list[EntryView]]:
        """The entries in their order, together where they have the same ids, and the same numbers in the table."""
        site, rows = self.board.settings.site, dict[tuple[object, ...], list[EntryView]]()
        for view in self.entries:
            texts = (row for row in view.rows if row.corpus in {site.languages, site.code})
            columns = (view.number(column.corpus, column.metric) for column in site.columns)
            rows.setdefault((view.digest(TEXT_IDS) or view.name, *texts, *columns), []).append(view)
        return list(rows.values())

    def others(self, name: str) -> list[str]:
        """Return the other names in the row of an entry."""
        [row] = [names for row in self.rows if name in (names := [view.name for view in row])]
        return [other for other in row if other != name]

    @cached_property
    def unverified(self) -> frozenset[str]:
        return unverified(load_registry())

    def groups(self, corpus: str) -> list[str]:
        groups = {row.group for view in self.entries for row in view.rows if row.corpus == corpus}
        return sorted(groups - {WHOLE})

    @cached_property
    def names(self) -> dict[str, str]:
        return language_names(self.groups(self.board.settings.site.languages))

    @cached_property
    def choices(self) -> dict[str, list[TextChoice]]:
        site = self.board.settings.site
        languages, code = self.groups(site.languages), self.groups(site.code)
        choices: dict[str, list[TextChoice]] = {
            "All": [
                TextChoice(site.languages, f"all {len(languages)} languages", site.languages, tuple(languages)),
                TextChoice(site.code, f"code in {len(code)} programming languages", site.code, tuple(code)),
            ],
            "Language": [TextChoice(g, self.names.get(g, g), site.languages, (g,)) for g in languages],
        }
        for part in slices(languages):
            if part.value and part.facet != "resource class":
                label = f"{part.value}: {len(part.groups)}"
                choice = TextChoice(f"{part.facet}-{part.value}", label, site.languages, part.groups)
                choices.setdefault(part.facet.capitalize(), []).append(choice)
        choices["Code"] = [TextChoice(f"code-{g}", g, site.code, (g,)) for g in code]
        return choices

    def data(self) -> dict[str, object]:
        site = self.board.settings.site
        metrics = (site.tokens, site.ratio, site.lost, site.fertility)
        numbers = {
            view.name: {
                corpus: {
                    group: [view.number(corpus, metric, group) for metric in metrics] for group in self.groups(corpus)
                }
                for corpus in (site.languages, site.code)
            }
            for view, *_ in self.rows
        }
        places = {
            view.name: {
                corpus: [rank.place, rank.level]
                for (corpus, metric), rank in view.ranks.items()
                if metric == site.ratio
            }
            for view, *_ in self.rows
        }
        choices = {
            choice.key: {"corpus": choice.corpus, "groups": choice.groups, "whole": heading == "All"}
            for heading, listed in self.choices.items()
            for choice in listed
        }
        return {"reference": site.reference, "choices": choices, "numbers": numbers, "places": places}

    @cached_property
    def tabled(self) -> set[tuple[str, str, str]]:
        """The places of whole-corpus numbers above the groups' table."""
        kept = self.board.settings.numbers
        return {(numbers.corpus, WHOLE, metric) for numbers in kept if numbers.groups for metric in numbers.metrics}

    @cached_property
    def definitions(self) -> dict[str, Metric]:
        kept = {name for numbers in self.board.settings.numbers for name in numbers.metrics}
        families = load_registry().metrics.entries.values()
        return {metric.id: metric for family in families for metric in family.spec.values if metric.id in kept}

    def label(self, metric: str) -> str:
        known = self.definitions.get(metric)
        return (known and (known.short_label or known.label)) or metric.replace("_", " ")

    def formula(self, metric: str) -> str:
        """Return the formula of a metric, or the meaning of a count of ids; empty if unknown."""
        known = self.definitions.get(metric)
        return known.formula if known else _COUNTS.get(metric, "")
