"""Registers the study of mixtures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tokbench.plugin.metrics import Outcome, StudyContext, StudyProblem, StudySpec
from tokbench_trainers.mixtures.block import MIXTURES
from tokbench_trainers.mixtures.options import MixturesStudy

if TYPE_CHECKING:
    from tokbench.measuring.plan import Plan
    from tokbench.plugin.report import SectionSpec


def run(context: StudyContext, options: MixturesStudy) -> Outcome:
    """Run the study."""
    from tokbench_trainers.mixtures.study import study_mixtures

    return study_mixtures(context, options)


def check(plan: Plan, options: MixturesStudy) -> Iterator[StudyProblem]:  # noqa: ARG001 - as a run calls it
    """Yield what is wrong with tables and shares."""
    from tokbench_trainers.mixtures.tables import problems

    return problems(options)


SPECS: Final = (
    StudySpec(
        name="mixtures",
        title="mixtures",
        summary="what a vocabulary costs each language, by the shares of the text that it is trained on",
        key="study.mixtures",
        options=MixturesStudy,
        run=run,
        block=MIXTURES,
        check=check,
    ),
)


def late_specs() -> tuple[SectionSpec, ...]:
    """Return the section, which workers do not import."""
    from tokbench_trainers.mixtures.section import SECTION

    return (SECTION,)
