"""The study ``isolated``: one tokenizer after the other, each in a process of its own, which may die."""

from __future__ import annotations

from typing import Final

from tokbench.plugin import Options
from tokbench.plugin.metrics import Outcome, StudyContext, StudySpec
from tokbench_engines.speed.isolated import footprint, growth
from tokbench_engines.speed.isolated.contract import IsolatedMetric


def run(context: StudyContext, _: Options) -> Outcome:
    """Measure the families of the study."""
    from tokbench_engines.speed.isolated.study import measure_all

    return measure_all(context)


SPECS: Final = (
    StudySpec(
        name="isolated",
        title="isolated steps",
        summary="families that measure one tokenizer at a time, each in a process that may die",
        run=run,
        makes=("an isolated metric", IsolatedMetric),
        alone=True,
        own_texts=True,
        trainings=True,
    ),
    footprint.SPEC,
    growth.SPEC,
)
