"""Registers the study of equal ids, and the family whose states it compares."""

from __future__ import annotations

from typing import Final

from tokbench.measuring.metric import Role
from tokbench.measuring.plan import Plan
from tokbench.measuring.study import Outcome, StudyContext, StudySpec
from tokbench.report.section import SectionSpec
from tokbench.studies.same_ids import metric
from tokbench.studies.same_ids.block import DIFFERENCES
from tokbench.tokenizers.options import Options


def run(context: StudyContext, _: Options) -> Outcome:
    """Compare the tokenizers with a ``same_as``."""
    from tokbench.studies.same_ids.compare import compare

    return compare(context)


def due(plan: Plan) -> set[str]:
    """Return the tokenizers with a ``same_as``, and those that they name."""
    return {
        name
        for tokenizer in plan.tokenizers
        if tokenizer.info.same_as
        for name in (tokenizer.name, tokenizer.info.same_as)
    }


SPECS: Final = (
    StudySpec(
        name="same_ids",
        title="same ids",
        summary="whether tokenizers have the ids of the one that 'same_as' names, and the first document that differs",
        run=run,
        due=due,
        block=DIFFERENCES,
        roles=(Role.ID_HASHES,),
    ),
    metric.SPEC,
)


def late_specs() -> tuple[SectionSpec, ...]:
    """Return the section, which workers do not import."""
    from tokbench.studies.same_ids.section import SECTION

    return (SECTION,)
