"""Registers the study of vocabulary sizes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Final

from tokbench.measuring.encoded_shard import EncodedShard
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import Measured, NotApplicable, Role
from tokbench.measuring.plan import Plan
from tokbench.measuring.study import Outcome, StudyContext, StudyProblem, StudySpec
from tokbench.measuring.sums import SummedMetric
from tokbench.measuring.token_counts import TokenCounts
from tokbench.report.section import SectionSpec
from tokbench.studies.vocabulary_size import csv
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
        bound = ", ".join(repr(name) for name in families if name in plan.restricted_to) or "no corpus"
        message = f"the study needs {bound}, and no corpus has all of them measured"
        yield StudyProblem((), f"{message}; give them a corpus in common")


def largest(options: VocabularyStudy) -> int:
    """Return a size that is larger than the best one for every model, from 4,096 to 1,048,576.

    It is a power of two at which the output layer costs half as much as the rest of the model, or more. Twice the size
    would have to save a quarter of the tokens to pay there.

    >>> largest(VocabularyStudy(model="125m")), largest(VocabularyStudy(model="1b")), largest(VocabularyStudy())
    (65536, 524288, 1048576)
    """
    from tokbench.studies.vocabulary_size.advice import flops_per_token

    rest = [(flops_per_token(model, 0), flops_per_token(model, 1)) for model in options.models.values()]
    enough = max(float(without / 2 / (one - without)) for without, one in rest)
    return min(max(1 << math.ceil(math.log2(enough)), _LEAST), _MOST)


_LEAST: Final = 1 << 12
_MOST: Final = 1 << 20
"""Published vocabularies have at most a quarter of it."""


def outlook(plan: Plan, options: VocabularyStudy) -> Iterator[str]:  # noqa: ARG001 - as a check calls it
    """Yield what the training text of each tokenizer supports."""
    from tokbench.studies.vocabulary_size.advice import ENOUGH, support
    from tokbench.studies.vocabulary_size.lines import mixture_of, training_bytes

    weights = mixture_of(plan, plan.corpora_with(STUDIED)).weights
    for entry, train_on in {planned.entry: planned.train_on for planned in plan.tokenizers}.items():
        if train_on and weights:
            said = support(weights, training_bytes(plan, train_on, weights))
            yield f"{entry}: {said}; a size needs {ENOUGH} bytes for each token, of each corpus its share"


class CountTokens(SummedMetric):
    """Counts ids, by jackknife group."""

    def map(self, encoded: EncodedShard) -> TokenCounts:
        return TokenCounts.of(encoded)

    def finish(self, state: TokenCounts) -> Mapping[str, Measured | NotApplicable]:
        """The run computes values from the merges."""
        del state
        return {}


CURVE: Final = MetricFamily(
    name="curve",
    summary="how often each id occurs: the basis of 'study: vocabulary'",
    text=CountTokens,
    from_counts=True,
    values=(),
    role=Role.ID_COUNTS,
)


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
        largest=largest,
        outlook=outlook,
    ),
    CURVE,
    csv.SPEC,
)


def late_specs() -> tuple[SectionSpec, ...]:
    """Return the section, which workers do not import."""
    from tokbench.studies.vocabulary_size.section import SECTION

    return (SECTION,)
