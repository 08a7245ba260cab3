"""The round trip of each cell of a run, by the rule of loss."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

from tokbench.corpus.languages import slices
from tokbench.measuring.metric import Role
from tokbench.measuring.round_trip import Loss, RoundTrip
from tokbench.results.blocks import CorpusInfo, MetricInfo
from tokbench.results.cells import WHOLE, Cell
from tokbench.results.model import Results


class CellLookup(Protocol):
    """The cells of a run by key, as :class:`tokbench.report.tables.CellTables` has them."""

    results: Results
    corpora: list[str]

    @property
    def losses_checked(self) -> bool: ...
    def metric(self, name: str) -> MetricInfo: ...
    def corpus(self, name: str) -> CorpusInfo: ...
    def with_role(self, role: Role) -> str: ...
    def cell(self, metric: str, corpus: str, group: str, tokenizer: str) -> Cell | None: ...


class RoundTrips:
    """The losses of a run by place."""

    def __init__(self, tables: CellLookup) -> None:
        self._tables = tables
        self._losses: dict[tuple[str, str, str], Loss | RoundTrip] = {}

    def of(self, cell: Cell) -> RoundTrip:
        """Return the round trip of a cell; ``EXACT`` if losing text cannot improve its metric.

        A premium compares two languages, so both count.
        """
        metric = self._tables.metric(cell.metric)
        if metric.loss_cannot_help:
            return RoundTrip.EXACT
        reference = self._tables.corpus(cell.corpus).reference if metric.family == self._premiums else ""
        found = [self._loss_at(cell.tokenizer, cell.corpus, group) for group in {cell.group, reference or cell.group}]
        unknown = next((loss for loss in found if isinstance(loss, RoundTrip)), None)
        worst = unknown or Loss.worst(loss for loss in found if isinstance(loss, Loss))
        return worst if isinstance(worst, RoundTrip) else worst.round_trip(self._tables.results.config.most_lost)

    @cached_property
    def _premiums(self) -> str:
        return self._tables.metric(self._tables.with_role(Role.PREMIUM)).family or "(none)"

    def _loss_at(self, tokenizer: str, corpus: str, group: str) -> Loss | RoundTrip:
        """Return the loss at a place. Whether text is lost is a fact of the group, and how much one of the corpus."""
        place = tokenizer, corpus, group
        if place not in self._losses:
            known, whole = self._measured_loss(*place), self._measured_loss(tokenizer, corpus, WHOLE)
            if known is None:
                parts = [self._measured_loss(tokenizer, corpus, part) for part in self._slices.get(place[1:], ())]
                several = [part for part in parts if part]
                known = Loss.worst(several) if several and len(several) == len(parts) else None
            if whole:
                known = known.within(whole) if known else whole if whole.exact else None
            self._losses[place] = known or (RoundTrip.UNKNOWN if self._tables.losses_checked else RoundTrip.NOT_CHECKED)
        return self._losses[place]

    def _measured_loss(self, tokenizer: str, corpus: str, group: str) -> Loss | None:
        cells = (
            self._tables.cell(self._tables.with_role(role), corpus, group, tokenizer)
            for role in (Role.ROUND_TRIP, Role.LOST_CHARACTERS, Role.ERRORS)
        )
        exact, *shares = (None if cell is None else cell.value for cell in cells)
        if exact is None:
            return None
        # Not known: everything may be lost.
        return Loss(exact == 1, *(1.0 if share is None else share for share in shares))

    @cached_property
    def _slices(self) -> dict[tuple[str, str], tuple[str, ...]]:
        return {
            (corpus, f"{part.facet}: {part.value or 'unknown'}"): part.groups
            for corpus in self._tables.corpora
            for part in slices(self._tables.corpus(corpus).groups)
        }
