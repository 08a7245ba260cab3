"""Registers the study of language models and its families."""

from __future__ import annotations

from typing import Final

from tokbench.plugin.metrics import StudySpec
from tokbench.plugin.report import SectionSpec
from tokbench_models.language_models import bits_per_byte, transformer
from tokbench_models.language_models.block import BITS_PER_BYTE
from tokbench_models.language_models.contract import ModelMetric
from tokbench_models.language_models.fit import fit_models

SPECS: Final = (
    StudySpec(
        name="language_models",
        title="bits per byte",
        summary="small language models trained on the ids of each tokenizer",
        run=lambda context, _: fit_models(context),
        block=BITS_PER_BYTE,
        makes=("a metric of models", ModelMetric),
    ),
    bits_per_byte.SPEC,
    transformer.SPEC,
)


def late_specs() -> tuple[SectionSpec, ...]:
    """Return the sections, which workers do not import."""
    from tokbench_models.language_models.best_size import BEST_SIZE
    from tokbench_models.language_models.section import BITS

    return BITS, BEST_SIZE
