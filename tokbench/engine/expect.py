"""The amount of work that a plan means, from which the time left is estimated."""

from __future__ import annotations

from collections.abc import Sequence

from tokbench.engine.check import Checked
from tokbench.foundation.plain_values import plain
from tokbench.foundation.progress import RunProgress
from tokbench.measuring.metric import EstimatesTiming
from tokbench.measuring.plan import Plan
from tokbench.results.cells import TokenizerState


def expect_work(checked: Checked, progress: RunProgress, workers: int = 1) -> None:
    """Tell the progress of a run how many bytes are to be trained on, measured, given to studies, and timed.

    Args:
        checked: the plan, and its tokenizers, not yet trained.
        progress: the progress that gets the amounts.
        workers: the processes that measure side by side.
    """
    registry, plan, prepared = checked
    names = [tokenizer.name for tokenizer in prepared if tokenizer.state == TokenizerState.READY]
    training = {
        tokenizer.name: sum(_training_bytes(plan, corpus) for corpus in tokenizer.planned.train_on)
        for tokenizer in prepared
        if tokenizer.name in names and tokenizer.planned.train_on
    }
    measuring = {
        corpus: plan.surveys[corpus].evaluated_bytes * _count(plan, corpus, names)
        for corpus in plan.measured
        if plan.families_on(corpus)
    }
    # One more group: the whole corpus.
    cells = sum(plan.cells_on(name, _count(plan, name, names), len(plan.groups(name)) + 1) for name in plan.measured)
    progress.expect(training, measuring, _timing_bytes(plan, names), workers, cells)
    for name, options in plan.studies.items():
        spec = registry.studies.get(name)
        if amounts := spec.work(plan, options, names):
            progress.expect_study(name, spec.step, amounts)


def _training_bytes(plan: Plan, corpus: str) -> int:
    survey = plan.surveys[corpus]
    return survey.bytes - (survey.evaluated_bytes if plan.config.corpora[corpus].holdout else 0)


def _count(plan: Plan, corpus: str, names: Sequence[str]) -> int:
    return len([name for name in plan.names_on(corpus) if name in names])


def _timing_bytes(plan: Plan, names: Sequence[str]) -> dict[str, int]:
    """Return the bytes that are timed, by corpus, those of a document once for each tokenizer and round."""
    amounts: dict[str, int] = {}
    for family, options in plan.metrics:
        metric = family.timed(options) if family.timed else None
        for corpus in plan.corpora_of(family) if metric else ():
            size, count = plan.surveys[corpus].evaluated_bytes, _count(plan, corpus, names)
            timed = metric.bytes_to_time(size, count) if isinstance(metric, EstimatesTiming) else size * count
            amount = plain(timed, int, "bytes_to_time")
            amounts[corpus] = amounts.get(corpus, 0) + amount
    return amounts
