"""The options of the study of validity."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from tokbench.plugin import LocalPath, Options

ALL_TOKENIZERS = "all"

SCORES = "scores"
"""All models of a table of scores, where a hypothesis names a family."""

_Correlation = Annotated[float, Field(gt=-1, lt=1)]


class Hypothesis(Options):
    """A claim about how a metric ranks tokenizers, which a run decides.

    >>> Hypothesis.model_validate({"metric": "fertility", "predicts": "bits_per_byte", "at_least": 0.5}).class_
    'all'
    """

    metric: str = Field(description="id of the metric that predicts")
    predicts: str = Field(
        description="id of a metric of bits per byte, or a family: each of its models that decides; of a table of "
        "scores a model, or 'scores' for all of them"
    )
    class_: str = Field(default=ALL_TOKENIZERS, alias="class", description="class of tokenizers")
    at_least: _Correlation | None = Field(
        default=None, description="Spearman's rho is larger than this; 0 says: ranks as the bits do, beyond chance"
    )
    at_most: _Correlation | None = Field(default=None, description="Spearman's rho is smaller than this")
    better_than: str = Field(default="", description="id of another metric whose rho is smaller; instead of a bound")
    source: str = Field(default="", max_length=200, description="source of the claim")

    @model_validator(mode="after")
    def _one_claim(self) -> Self:
        claims = [self.at_least is not None, self.at_most is not None, bool(self.better_than)]
        if sum(claims) != 1:
            raise ValueError("give one of at_least, at_most and better_than")
        return self


class ValidityStudy(Options):
    """Options of the study of validity."""

    classes: dict[str, Annotated[tuple[str, ...], Field(min_length=1)]] = Field(
        default_factory=dict,
        description="named sets of tokenizers, each a list of names with * and ?; 'all' is always added",
    )
    hypotheses: tuple[Hypothesis, ...] = Field(
        default=(), description="claims, written before the run; all else in the tables is exploratory"
    )
    least_tokens_per_id: float = Field(
        default=50,
        ge=0,
        description="minimum training tokens per id for a tokenizer to count in a correlation; 0 counts all",
    )
    scores: LocalPath | None = Field(
        default=None,
        description="a CSV file with scores of the tokenizers as further targets; columns: tokenizer, score, better",
    )

    @model_validator(mode="after")
    def _own_names(self) -> Self:
        if ALL_TOKENIZERS in self.classes:
            raise ValueError("the class 'all' always exists; give yours another name")
        return self
