"""Registers the study of vocabulary sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tokbench.measuring.plan import Plan
from tokbench.measuring.study import Outcome, StudyContext, StudyProblem, StudySpec
from tokbench.report.section import SectionSpec
from tokbench.studies.vocabulary_size import csv, curve
from tokbench.studies.vocabulary_size.block import VOCABULARY_SIZES
from tokbench.studies.vocabulary_size.options import STUDIED, VocabularyStudy


def run(context: StudyContext, options: VocabularyStudy) -> Outcome:
    """Run the study."""
    from tokbench.studies.vocabulary_size.study import study_vocabulary

    return study_vocabulary(context, options)


def check(plan: Plan, options: VocabularyStudy) -> Iterator[StudyProblem]:  # noqa: ARG001 - as a run calls it
    """Yield a study without a corpus."""
    corpora = plan.corpora_with(STUDIED)
    if plan.measured and not any(map(plan.names_on, corpora)) and len(plan.corpora) == len(plan.config.named):
        families = dict.fromkeys(family.name for role in STUDIED if (family := plan.family(role)))
        bound = ", ".join(repr(name) for name in families if name in plan.bound) or "no corpus"
        message = f"the study needs {bound}, and no corpus has all of them measured"
        yield StudyProblem((), f"{message}; give them a corpus in common")


def outlook(plan: Plan, options: VocabularyStudy) -> Iterator[str]:  # noqa: ARG001 - as a check calls it
    """Yield how sure the size of each vocabulary will be that is trained."""
    from tokbench.studies.vocabulary_size.advice import confidence
    from tokbench.studies.vocabulary_size.mixture import shares, training_bytes

    weights = shares(plan, plan.corpora_with(STUDIED))
    largest = {planned.entry: planned for planned in sorted(plan.tokenizers, key=lambda planned: planned.vocab_size)}
    for entry, planned in largest.items():
        if planned.train_on and weights:
            trained = training_bytes(plan, planned.train_on, weights)
            yield f"confidence in a size of {entry}: {confidence(planned.vocab_size, weights, trained)}"


SPECS: Final = (
    StudySpec(
        name="vocabulary_size",
        title="vocabulary sizes",
        summary="what each vocabulary size gives and costs, and which one to take",
        key="study.vocabulary",
        options=VocabularyStudy,
        run=run,
        block=VOCABULARY_SIZES,
        roles=STUDIED,
        check=check,
        outlook=outlook,
    ),
    curve.SPEC,
    csv.SPEC,
)


def late_specs() -> tuple[SectionSpec, ...]:
    """Return the section, which workers do not import."""
    from tokbench.studies.vocabulary_size.section import SECTION

    return (SECTION,)
