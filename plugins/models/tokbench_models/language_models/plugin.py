"""Registers the study of language models and its families."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tokbench.plugin import hookimpl, missing_members
from tokbench.plugin.metrics import MetricFamily, StudySpec
from tokbench.plugin.report import SectionSpec
from tokbench_models.language_models import bits_per_byte, transformer
from tokbench_models.language_models.block import BITS_PER_BYTE
from tokbench_models.language_models.contract import ModelMetric
from tokbench_models.language_models.costs import foresee
from tokbench_models.language_models.fit import fit_models


def lacks(metric: Any) -> str:
    """Return what a metric of models lacks; empty if nothing."""
    return missing_members(metric, "a metric of models", ModelMetric)


@hookimpl
def register_studies(register: Callable[[StudySpec], None]) -> None:
    """Register the study."""
    register(
        StudySpec(
            name="language_models",
            title="bits per byte",
            summary="small language models trained on the ids of each tokenizer",
            run=lambda context, _: fit_models(context),
            block=BITS_PER_BYTE,
            long=True,
            reads_texts=True,
            lacks=lacks,
            foresee=lambda plan, _, prepared: foresee(plan, prepared),
        )
    )


@hookimpl
def register_metrics(register: Callable[[MetricFamily], None]) -> None:
    """Register the families."""
    register(bits_per_byte.SPEC)
    register(transformer.SPEC)


@hookimpl
def register_sections(register: Callable[[SectionSpec], None]) -> None:
    """Register the section."""
    from tokbench_models.language_models.section import BITS

    register(BITS)
