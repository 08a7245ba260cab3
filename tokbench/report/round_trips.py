"""The round trip of each cell of a run, by the rule of loss."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from tokbench.corpus.languages import slices
from tokbench.measuring.metric import Role
from tokbench.measuring.round_trip import Loss, Number, RoundTrip, judge
from tokbench.results.cells import OWN_TEXTS, WHOLE, Cell

if TYPE_CHECKING:
    from tokbench.report.tables import CellTables


class RoundTrips:
    """The losses of a run by place."""

    def __init__(self, tables: CellTables) -> None:
        self._tables = tables
        self._losses: dict[tuple[str, str, str], Loss | RoundTrip] = {}

    def of(self, cell: Cell) -> RoundTrip:
        direction = self._tables.metric(cell.metric).direction
        higher = None if direction == "none" else direction == "higher"
        return judge(self.number(cell), self._rivals(cell), higher=higher)

    def _rivals(self, cell: Cell) -> Iterator[Number]:
        for name in self._tables.tokenizers:
            rival = self._tables.cell(cell.metric, cell.corpus, cell.group, name)
            if rival and self._tables.comparable(rival):
                yield self.number(rival)

    def number(self, cell: Cell) -> Number:
        metric, value = self._tables.metric(cell.metric), cell.value or 0.0
        loss = self._loss(cell)
        in_tokens = "tokens" in {metric.unit, *metric.ratio_of} or metric.family == self._premiums
        if isinstance(loss, RoundTrip) or not in_tokens:
            return Number(value, value, loss)
        return Number(value, value / loss.factor if metric.direction == "higher" else value * loss.factor, loss)

    def _loss(self, cell: Cell) -> Loss | RoundTrip:
        """Return the loss of a cell; ``EXACT`` if losing text cannot improve its metric.

        A premium compares two languages, so both count.
        """
        metric = self._tables.metric(cell.metric)
        if metric.loss_cannot_help:
            return RoundTrip.EXACT
        if cell.corpus == OWN_TEXTS:
            return self._probed.get((cell.metric, cell.tokenizer), RoundTrip.UNKNOWN)
        reference = self._tables.corpus(cell.corpus).reference if metric.family == self._premiums else ""
        found = [self._loss_at(cell.tokenizer, cell.corpus, group) for group in {cell.group, reference or cell.group}]
        return next((loss for loss in found if isinstance(loss, RoundTrip)), None) or Loss.worst(
            loss for loss in found if isinstance(loss, Loss)
        )

    @cached_property
    def _premiums(self) -> str:
        return self._tables.metric(self._tables.with_role(Role.PREMIUM)).family or "(none)"

    @cached_property
    def _probed(self) -> dict[tuple[str, str], RoundTrip]:
        return {(own.metric, own.tokenizer): RoundTrip(own.round_trip) for own in self._tables.results.own_texts}

    def _loss_at(self, tokenizer: str, corpus: str, group: str) -> Loss | RoundTrip:
        place = tokenizer, corpus, group
        if place not in self._losses:
            known = self._measured_loss(*place)
            whole = None if known else self._measured_loss(tokenizer, corpus, WHOLE)
            if whole and whole.exact:
                known = whole
            parts = () if known else self._slices.get((corpus, group), ())
            several = [loss for part in parts if (loss := self._measured_loss(tokenizer, corpus, part))]
            if several and len(several) == len(parts):
                known = Loss.worst(several)
            self._losses[place] = known or (RoundTrip.UNKNOWN if self._tables.losses_checked else RoundTrip.NOT_CHECKED)
        return self._losses[place]

    def _measured_loss(self, tokenizer: str, corpus: str, group: str) -> Loss | None:
        roles = (Role.ROUND_TRIP, Role.ERRORS, Role.CHARGE)
        cells = [self._tables.cell(self._tables.with_role(role), corpus, group, tokenizer) for role in roles]
        exact, *loss = [None if cell is None else cell.value for cell in cells]
        if exact is None:
            return None
        errors, charge = (1.0 if value is None else value for value in loss)  # not known: everything may be lost
        return Loss(exact=True) if exact == 1 else Loss(exact=False, cer=errors, charge=charge)

    @cached_property
    def _slices(self) -> dict[tuple[str, str], tuple[str, ...]]:
        return {
            (corpus, f"{part.facet}: {part.value or 'unknown'}"): part.groups
            for corpus in self._tables.corpora
            for part in slices(self._tables.corpus(corpus).groups)
        }
