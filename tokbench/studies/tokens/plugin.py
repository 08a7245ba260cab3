"""Registers the study that shows texts as tokens, and ``worst_documents``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tokbench.measuring.plan import Plan
from tokbench.measuring.study import Outcome, StudyContext, StudyProblem, StudySpec
from tokbench.report.section import SectionSpec
from tokbench.segmentation.segmented_text import SHOWN_TEXTS
from tokbench.studies.tokens import worst_documents
from tokbench.studies.tokens.options import KEY, ShowOptions, named_texts


def run(context: StudyContext, options: ShowOptions) -> Outcome:
    """Cut the texts to show."""
    from tokbench.studies.tokens.shown import show_texts

    return Outcome(block=show_texts(context, options))


def check(plan: Plan, options: ShowOptions) -> Iterator[StudyProblem]:
    """Yield the problems with the texts."""
    plan.problems += named_texts(plan.config, options).problems
    yield from ()


SPECS: Final = (
    StudySpec(
        name="tokens",
        title="shown tokens",
        summary="texts as tokens: named ones, excerpts of documents, the worst documents",
        key=KEY,
        options=ShowOptions,
        check=check,
        run=run,
        due=lambda plan: [tokenizer.name for tokenizer in plan.tokenizers],
        block=SHOWN_TEXTS,
    ),
    worst_documents.SPEC,
)


def late_specs() -> tuple[SectionSpec, ...]:
    """Return the section, which workers do not import."""
    from tokbench.studies.tokens.section import SECTION

    return (SECTION,)
