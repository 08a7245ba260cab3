"""The options under ``study: vocabulary`` in a configuration."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from tokbench.contracts.options import Options
from tokbench.vocabulary.size.model import Model

COMMON_SIZES: Final = (
    1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 50_000, 64_000, 100_000, 128_000, 150_000, 200_000, 256_000
)  # fmt: skip
"""Common vocabulary sizes, rounded."""


class VocabularyStudy(Options):
    """Options of the study of vocabulary sizes."""

    sizes: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1)] = Field(
        default=COMMON_SIZES,
        description="sizes in the tables; those beyond a vocabulary are left out, its own size is always there",
    )
    points: Literal["sizes", "all"] = Field(
        default="sizes", description="rows of curve.csv: these sizes, or every size there is"
    )
    model: Model | None = Field(default=None, description="the model for which the size is chosen")
