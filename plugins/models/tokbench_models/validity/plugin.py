"""Registers the study of validity."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tokbench.measuring.plan import Plan
from tokbench.plugin import did_you_mean
from tokbench.plugin.metrics import Outcome, StudyContext, StudyProblem, StudySpec
from tokbench.plugin.report import SectionSpec
from tokbench_models.validity import csv
from tokbench_models.validity.block import VALIDITY
from tokbench_models.validity.options import ALL_TOKENIZERS, SCORES, ValidityStudy

if TYPE_CHECKING:
    from tokbench_models.validity.scores import ReadScores

_MODELS = "language_models"


def check(plan: Plan, study: ValidityStudy) -> Iterator[StudyProblem]:
    """Yield unknown names, and mistakes in scores."""
    modelled = {
        family.name: [metric.id for metric in family.values] for family, _ in plan.metrics if family.study == _MODELS
    }
    if not modelled and study.scores is None:
        message = "the study needs a family of metrics that trains models; add bits_per_byte to 'metrics'"
        yield StudyProblem((), message)
        return
    yield from _classes(plan, study)
    metrics = {metric.id for family, _ in plan.metrics if not plan.is_timed(family) for metric in family.values}
    targets = {*modelled, *(metric for metrics in modelled.values() for metric in metrics)}
    if study.scores is not None:
        scores = scores_of(plan, study)
        yield from (StudyProblem(("scores",), message) for message in scores.problems)
        models = [table.model for table in scores.tables]
        taken = [model for model in models if model in {*metrics, *targets}]
        message = "the table calls a model {!r}, which is the name of a metric; give it another one"
        yield from (StudyProblem(("scores",), message.format(model)) for model in taken)
        targets |= {SCORES, *models}
    refused = len(plan.metrics) < len(plan.config.metrics)  # a problem already; what it would have brought is not known
    for k, hypothesis in enumerate(study.hypotheses):
        asked = {"metric": (hypothesis.metric, metrics), "predicts": (hypothesis.predicts, targets)}
        asked |= {"better_than": (hypothesis.better_than, metrics)} if hypothesis.better_than else {}
        for key, (name, known) in asked.items():
            if name not in known and not refused:
                yield StudyProblem(("hypotheses", k, key), f"unknown metric {name!r}; {did_you_mean(name, known)}")
        name, classes = hypothesis.class_, [ALL_TOKENIZERS, *study.classes]
        if name not in classes:
            yield StudyProblem(("hypotheses", k, "class"), f"unknown class {name!r}; {did_you_mean(name, classes)}")


def scores_of(plan: Plan, study: ValidityStudy) -> ReadScores:
    """Read the table of scores."""
    from tokbench_models.validity.scores import ReadScores, read_scores

    if study.scores is None:
        return ReadScores()
    names = [planned.name for planned in plan.tokenizers]
    return read_scores(study.scores, names, some=bool(plan.config.overrides.only))


def _classes(plan: Plan, study: ValidityStudy) -> Iterator[StudyProblem]:
    tokenizers = {planned.name for planned in plan.tokenizers}
    for name, globs in study.classes.items():
        for k, glob in enumerate(globs):
            if tokenizers and not fnmatch.filter(tokenizers, glob):
                message = f"no tokenizer is called {glob!r}; {did_you_mean(glob, tokenizers)}"
                yield StudyProblem(("classes", name, k), message)


def run(context: StudyContext, study: ValidityStudy) -> Outcome:
    """Run the study."""
    from tokbench_models.validity.correlate import correlate

    return correlate(context, study, scores_of(context.plan, study))


SPECS: Final = (
    StudySpec(
        name="validity",
        title="validity",
        summary="which metrics rank tokenizers as bits per byte do",
        key="study.validity",
        options=ValidityStudy,
        run=run,
        block=VALIDITY,
        after=(_MODELS,),
        check=check,
    ),
    csv.SPEC,
)


def late_specs() -> tuple[SectionSpec, ...]:
    """Return the section, which workers do not import."""
    from tokbench_models.validity.section import SECTION

    return (SECTION,)
