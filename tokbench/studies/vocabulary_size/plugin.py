"""Registers the study of vocabulary sizes; needs ``language_models``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tokbench.plugin import (
    MetricFamily,
    Outcome,
    Plan,
    PreparedTokenizer,
    ReporterSpec,
    SectionSpec,
    StudyContext,
    StudyProblem,
    StudySpec,
    did_you_mean,
    hookimpl,
)
from tokbench.studies.vocabulary_size import csv, curve
from tokbench.studies.vocabulary_size.block import VOCABULARY_SIZES
from tokbench.studies.vocabulary_size.options import STUDIED, VocabularyStudy


def run(context: StudyContext, options: VocabularyStudy) -> Outcome:
    """Run the study."""
    from tokbench.studies.vocabulary_size.study import study_vocabulary

    return study_vocabulary(context, options)


def check(plan: Plan, options: VocabularyStudy) -> Iterator[StudyProblem]:
    """Yield unknown names, and a study without a corpus."""
    for name in options.weights:
        if problem := plan.corpus_problem(name):
            yield StudyProblem(("weights", name), problem)
    yield from _measured(plan, options)
    corpora = plan.corpora_with(STUDIED)
    if plan.measured and not any(map(plan.names_on, corpora)) and len(plan.corpora) == len(plan.config.named):
        families = dict.fromkeys(family.name for role in STUDIED if (family := plan.family(role)))
        bound = ", ".join(repr(name) for name in families if name in plan.bound) or "no corpus"
        message = f"the study rests on {bound}, and there is no corpus on which all are measured"
        yield StudyProblem((), f"{message}; give them a corpus in common")


def _measured(plan: Plan, options: VocabularyStudy) -> Iterator[StudyProblem]:
    measured = options.measured
    if measured is None:
        return
    named = plan.config.named
    if measured.corpus and (problem := plan.corpus_problem(measured.corpus)):
        yield StudyProblem(("measured", "corpus"), problem)
    if measured.train and measured.train not in named:
        message = f"unknown corpus {measured.train!r}; {did_you_mean(measured.train, named)}"
        yield StudyProblem(("measured", "train"), message)
    for k, name in enumerate(measured.tokenizers):
        if name not in plan.config.tokenizers:
            message = f"unknown tokenizer {name!r}; {did_you_mean(name, plan.config.tokenizers)}"
            yield StudyProblem(("measured", "tokenizers", k), message)


def foresee(plan: Plan, options: VocabularyStudy, prepared: Sequence[PreparedTokenizer]) -> Iterator[str]:
    """Yield the memory and time of measured sizes."""
    if options.measured is not None:
        from tokbench.studies.vocabulary_size.measured_costs import foresee as costs

        yield from costs(plan, options.measured, plan.corpora_with(STUDIED), prepared)


@hookimpl
def register_studies(register: Callable[[StudySpec], None]) -> None:
    """Register the study."""
    register(
        StudySpec(
            name="vocabulary_size",
            title="vocabulary sizes",
            summary="what each vocabulary size gives and costs, and which one to take",
            key="study.vocabulary",
            options=VocabularyStudy,
            run=run,
            block=VOCABULARY_SIZES,
            roles=STUDIED,
            reads_texts=True,
            check=check,
            trained_sizes=lambda options: options.sizes,
            foresee=foresee,
        )
    )


@hookimpl
def register_metrics(register: Callable[[MetricFamily], None]) -> None:
    """Register the counts of ids."""
    register(curve.SPEC)


@hookimpl
def register_sections(register: Callable[[SectionSpec], None]) -> None:
    """Register the section."""
    from tokbench.studies.vocabulary_size.section import SECTION

    register(SECTION)


@hookimpl
def register_reporters(register: Callable[[ReporterSpec], None]) -> None:
    """Register the tables."""
    for spec in csv.SPECS:
        register(spec)
