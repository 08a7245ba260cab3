"""From a value, or the reason why there is none, to the cell of a tokenizer."""

from __future__ import annotations

import math
from collections.abc import Mapping

from tokbench.foundation.failures import Failure
from tokbench.measuring.metric import Measured, Metric, NotApplicable
from tokbench.measuring.scope import MeasuredTokenizer
from tokbench.results.cells import Cell, Status, TokenizerState

Values = Mapping[str, Measured | NotApplicable]


def make_cell(
    tokenizer: MeasuredTokenizer,
    corpus: str,
    group: str,
    metric: Metric,
    values: Values | Failure,
    seen: float | None = None,
    share: float | None = None,
) -> Cell:
    """Make the cell of a value, or of the reason why there is none.

    ``values`` are by metric id; ``seen`` is the share of the documents that the tokenizer was trained on, ``None`` if
    that is unknown; ``share`` is that on which the values rest, ``None`` for all.
    """
    place = (tokenizer.name, corpus, group, metric.id)
    problem = _problem(tokenizer, metric, values)
    if problem:
        return Cell(*place, unit=metric.unit, status=problem[0], reason=problem[1])
    assert not isinstance(values, Failure)
    value = values[metric.id]
    if isinstance(value, NotApplicable):
        return Cell(*place, unit=metric.unit, status=Status.NOT_APPLICABLE, reason=value.reason, in_sample=seen)
    return Cell(
        *place,
        value=float(value.value),
        unit=value.unit or metric.unit,
        ci_low=value.ci_low,
        ci_high=value.ci_high,
        n=value.n,
        reason=value.no_interval,
        in_sample=seen,
        measured=share,
    )


def _problem(tokenizer: MeasuredTokenizer, metric: Metric, values: Values | Failure) -> tuple[Status, str] | None:
    """Return why there is neither a number nor a reason of the metric itself, or ``None``."""
    if tokenizer.state != TokenizerState.READY:
        return Status(tokenizer.state.value), tokenizer.reason
    if tokenizer.facts and metric.id in tokenizer.facts.lacks:
        names = " or ".join(need.__name__ for need in metric.needs)
        return Status.NOT_APPLICABLE, f"backend {tokenizer.backend} lacks the capability {names}"
    if isinstance(values, Failure):
        return Status.of(values), values.reason
    value = values.get(metric.id)
    if value is None:
        return Status.FAILED, "the metric gave no value and no reason"
    if isinstance(value, Measured) and not math.isfinite(value.value):
        return Status.FAILED, f"the metric gave {value.value}"
    return None
