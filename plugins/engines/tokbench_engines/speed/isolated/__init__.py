"""The study ``isolated``: one tokenizer after the other, each in a process of its own, which may die."""

from __future__ import annotations

from typing import Any, Final

from tokbench.plugin import Options
from tokbench.plugin.metrics import Outcome, StudyContext, StudySpec
from tokbench.tokenizers.members import missing_members
from tokbench_engines.speed.isolated import footprint, growth
from tokbench_engines.speed.isolated.contract import IsolatedMetric


def run(context: StudyContext, _: Options) -> Outcome:
    """Measure the families of the study."""
    from tokbench_engines.speed.isolated.study import measure_all

    return measure_all(context)


def lacks(metric: Any) -> str:
    """Return what an isolated metric lacks; empty if nothing."""
    return missing_members(metric, "an isolated metric", IsolatedMetric)


SPECS: Final = (
    StudySpec(
        name="isolated",
        title="isolated steps",
        summary="families that measure one tokenizer at a time, each in a process that may die",
        run=run,
        lacks=lacks,
        alone=True,
        own_texts=True,
        trainings=True,
    ),
    footprint.SPEC,
    growth.SPEC,
)
