"""From a value, or the reason why there is none, to the cell of a tokenizer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final, TypeAlias

from tokbench.foundation.errors import ContractError
from tokbench.foundation.failures import Failure, attempt
from tokbench.foundation.plain_values import plain
from tokbench.measuring.metric import Measured, Metric, NotApplicable
from tokbench.measuring.plan import RunTokenizer
from tokbench.results.cells import Cell, Status, TokenizerState

Values = Mapping[str, Measured | NotApplicable]
PlainValues: TypeAlias = Mapping[str, Measured | NotApplicable | Failure]

_NO_VALUE: Final = Failure("the metric returned neither a value nor a reason")


def plain_values(values: object) -> PlainValues:
    """Return the values of a metric family as plain ones or failures; a ContractError if they are not by metric."""
    return {
        name: attempt(partial(plain, value, Measured | NotApplicable, f"the value of {name}"))
        for name, value in plain(values, dict[str, object], "finish").items()
    }


def cell_of(
    tokenizer: RunTokenizer,
    at: tuple[str, str],
    metric: Metric,
    values: PlainValues | Failure,
    seen: float | None = None,
) -> Cell:
    """Make the cell of a value of ``values`` (by metric id), or of the reason why there is none.

    ``at`` is corpus and group, ``seen`` the share of the documents on which the tokenizer was trained, if known.
    """
    place = (tokenizer.name, *at, metric.id)
    if problem := _problem(tokenizer, metric):
        return Cell(*place, unit=metric.unit, status=problem[0], reason=problem[1])
    value = values if isinstance(values, Failure) else values.get(metric.id, _NO_VALUE)
    if isinstance(value, Failure):
        return Cell(*place, unit=metric.unit, status=Status.of(value), reason=value.reason)
    if isinstance(value, NotApplicable):
        return Cell(*place, unit=metric.unit, status=Status.NOT_APPLICABLE, reason=value.reason, in_sample=seen)
    return Cell(
        *place,
        value=value.value,
        unit=value.unit or metric.unit,
        ci_low=value.ci_low,
        ci_high=value.ci_high,
        n=value.n,
        in_sample=seen,
        caution=value.no_interval,
    )


def without_interval(cell: Cell) -> Cell:
    """Return the cell of a designed corpus, from which nothing is inferred."""
    return cell if cell.value is None else replace(cell, ci_low=None, ci_high=None, caution="")


def plain_cells(cells: object, member: str) -> list[Cell]:
    """Return plain cells, or raise a ContractError; one that is ok and has no value is failed."""
    made: list[Cell] = plain(cells, list[Cell], member)
    if wrong := next((cell for cell in made if cell.reason and cell.status == Status.OK), None):
        raise ContractError(f"{member}: {wrong.metric} is ok and has a reason, {wrong.reason!r}; give it as caution")
    return [
        replace(cell, status=Status.FAILED, reason=_NO_VALUE.reason, caution="")
        if cell.value is None and cell.status == Status.OK
        else cell
        for cell in made
    ]


def _problem(tokenizer: RunTokenizer, metric: Metric) -> tuple[Status, str] | None:
    info = tokenizer.info
    if info.state != TokenizerState.READY:
        return Status(info.state.value), info.reason
    if metric.id in info.lacks:
        names = " or ".join(need.__name__ for need in metric.needs)
        return Status.NOT_APPLICABLE, f"backend {info.backend} lacks the capability {names}"
    return None
