"""The cells of a run by key, and the best among those that can be compared."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from tokbench.report.cells import DisplayCell, Series, display_cell
from tokbench.report.escaping import plain
from tokbench.report.number_format import Style, style_for
from tokbench.results.cells import WHOLE, Cell, TokenizerState
from tokbench.results.model import Results

__all__ = ["MANY_UNKNOWN", "Tables"]

_TEXT_SAVERS = frozenset({"compression", "fertility", "continued_words"})
"""Families in which losing text would look like a gain."""

_SPEED_DIGITS = 3  # no machine is steadier than that

MANY_UNKNOWN = 0.001
"""From this share of unknown tokens on, what is missing shows in the digits of a ratio."""


class Tables:
    """The cells of a run, by key, and the names in them in their order."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self._cells = {(c.metric, c.corpus, c.group, c.tokenizer): c for c in results.cells}
        cells = results.cells
        self.tokenizers = _names(results.tokenizers, (c.tokenizer for c in cells))
        self.corpora = _names(results.corpora, (c.corpus for c in cells))
        self.metrics = _names(results.metrics, (c.metric for c in cells))

    @cached_property
    def _present(self) -> dict[tuple[str, str], list[str]]:
        """The groups of each metric and corpus that have cells, in the order of the cells."""
        groups: dict[tuple[str, str], dict[str, None]] = {}
        for cell in self.results.cells:
            groups.setdefault((cell.metric, cell.corpus), {})[cell.group] = None
        return {key: list(names) for key, names in groups.items()}

    def groups(self, metric: str, corpus: str) -> list[str]:
        """The groups for which a metric has cells, in the order of the corpus."""
        present = [group for group in self._present.get((metric, corpus), []) if group != WHOLE]
        known = list(self.results.corpora.get(corpus, {}).get("groups", {}))
        rank = {group: place for place, group in enumerate(known)}
        return sorted(present, key=lambda group: rank.get(group, len(rank)))

    def cell(self, metric: str, corpus: str, group: str, tokenizer: str) -> Cell | None:
        """One cell, if the run left it."""
        return self._cells.get((metric, corpus, group, tokenizer))

    def family(self, metric: str) -> str:
        """The family of a metric, ``""`` if nobody described it."""
        return self.results.metrics.get(metric, {}).get("family", "")

    def direction(self, metric: str) -> str:
        """Which way is better: ``higher``, ``lower`` or ``none``."""
        return self.results.metrics.get(metric, {}).get("direction", "none")

    def series(
        self, metric: str, corpus: str, group: str = WHOLE, *, digits: int = 4, style: Style | None = None
    ) -> Series:
        """One metric of one group for every tokenizer, with the best of them marked."""
        cells = {name: self.cell(metric, corpus, group, name) for name in self.tokenizers}
        usable = [cell for cell in cells.values() if cell and cell.value is not None]
        units = {cell.unit for cell in usable}
        unit = units.pop() if len(units) == 1 else ""
        if self.family(metric) == "speed":
            digits = min(digits, _SPEED_DIGITS)
        style = style or style_for([cell.value for cell in usable if cell.value is not None], unit, digits)
        best = self._best(usable) if len({cell.unit for cell in usable}) == 1 else set()
        shown = {
            name: self._shown(cell, style, best=name in best) if cell else self._missing(name)
            for name, cell in cells.items()
        }
        return Series(metric, corpus, group, unit, self.direction(metric), shown)

    def _shown(self, cell: Cell, style: Style, *, best: bool) -> DisplayCell:
        family = self.family(cell.metric)
        lossy = family in _TEXT_SAVERS and self._loses(cell)
        unknown = lossy and self._unknown(cell) >= MANY_UNKNOWN
        return display_cell(cell, style, best=best, rounds=family == "speed", lossy=lossy, unknown=unknown)

    def _missing(self, name: str) -> DisplayCell:
        entry = self.results.tokenizers.get(name, {})
        state = str(entry.get("state", TokenizerState.READY))
        if state == TokenizerState.READY:
            return DisplayCell(text="not run", title="the run has no such cell")
        return DisplayCell(text=state, title=plain(entry.get("reason") or "no reason given"))

    def _unknown(self, cell: Cell) -> float:
        """The share of unknown tokens where the cell is, as far as that is known."""
        rate = self.cell("unk_rate", cell.corpus, cell.group, cell.tokenizer)
        return (rate and rate.value) or 0.0

    def _loses(self, cell: Cell) -> bool:
        """Whether the tokenizer is known to lose text where the cell is: fewer tokens are then no merit."""
        share = self.cell("roundtrip_exact", cell.corpus, cell.group, cell.tokenizer)
        return self._unknown(cell) > 0 or bool(share and share.value is not None and share.value < 1)

    def _best(self, cells: list[Cell]) -> set[str]:
        """The tokenizers whose cells are best among those that can be compared."""
        family, direction = self.family(cells[0].metric), self.direction(cells[0].metric)
        pool = [cell for cell in cells if not cell.in_sample]
        if family in _TEXT_SAVERS:
            pool = [cell for cell in pool if not self._loses(cell)]
        if direction == "none" or len(pool) < 2:  # noqa: PLR2004 - one alone is no comparison
            return set()
        top = (max if direction == "higher" else min)(pool, key=lambda cell: cell.value or 0.0)
        best = {cell.tokenizer for cell in pool if cell.value == top.value}
        if family == "speed":
            best |= {cell.tokenizer for cell in pool if _overlap(cell, top)}
        # Where most are best, as in a round trip without loss, bold would only be noise.
        return best if 2 * len(best) <= len(pool) else set()


def _names(first: Iterable[str], more: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*first, *more]))


def _overlap(one: Cell, other: Cell) -> bool:
    if one.ci_low is None or one.ci_high is None or other.ci_low is None or other.ci_high is None:
        return False
    return one.ci_low <= other.ci_high and other.ci_low <= one.ci_high
