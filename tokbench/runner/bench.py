"""What is timed: after the text metrics, alone on the machine, all tokenizers against one another."""

from __future__ import annotations

from collections.abc import Sequence

from tokbench.guard import Failure, attempt
from tokbench.metrics.contract import BenchMetric, BenchOutcome, BenchText, MetricSpec
from tokbench.progress import Progress
from tokbench.results import WHOLE, Cell, Status
from tokbench.runner.plan import Plan
from tokbench.runner.prepare import Prepared

__all__ = ["bench"]


def bench(plan: Plan, prepared: Sequence[Prepared], progress: Progress) -> BenchOutcome:
    """The cells and notes of every bench metric; a tokenizer that is not there gets cells that say why."""
    outcome = BenchOutcome([], [])
    for spec, options in plan.metrics:
        if spec.bench is not None:
            found = _measure(plan, prepared, spec, spec.bench(options), progress)
            outcome.cells.extend(found.cells)
            outcome.notes.extend(found.notes)
    return outcome


def _measure(
    plan: Plan, prepared: Sequence[Prepared], spec: MetricSpec, metric: BenchMetric, progress: Progress
) -> BenchOutcome:
    ready = {each.name: each.tokenizer for each in prepared if each.tokenizer is not None}
    texts = [
        BenchText(
            corpus=name,
            evaluated=name in plan.measured,
            n_bytes=plan.surveys[name].evaluated_bytes,
            documents=(document.text for document in corpus.evaluation()),
        )
        for name, corpus in plan.corpora.items()
    ]
    found = attempt(lambda: metric.measure(ready, texts, progress), spec.name)
    if isinstance(found, Failure):
        reason = found.reason
        failed = [
            Cell(name, corpus, WHOLE, value.id, unit=value.unit, status=Status.FAILED, reason=reason)
            for name in ready
            for corpus in plan.measured
            for value in spec.values
        ]
        found = BenchOutcome(failed, [reason])
    places = dict.fromkeys((cell.corpus, cell.group, cell.metric, cell.unit) for cell in found.cells)
    absent = [
        Cell(each.name, corpus, group, metric_id, unit=unit, status=Status(each.state.value), reason=each.reason)
        for each in prepared
        if each.tokenizer is None
        for corpus, group, metric_id, unit in places
    ]
    return BenchOutcome(found.cells + absent, found.notes)
