"""The family ``bits_per_byte``: n-gram models of the orders 1 to 6."""

from __future__ import annotations

from typing import Final

import numpy as np
from pydantic import Field

from tokbench.plugin import Options, Progress
from tokbench.plugin.metrics import Measured, Metric, MetricFamily, NotApplicable
from tokbench.tokenizers.options import CorpusName
from tokbench_models.language_models.contract import ModelOutcome, ModelStates, ModelTask, ModelTexts
from tokbench_models.language_models.ngram_model import bits_by_order
from tokbench_models.language_models.scored_bits import LEAST_DIFFERENCE, TRAINING_PARTS, ScoredBits, compare_bits
from tokbench_models.language_models.windows import documents

ORDERS: Final = 6

DECIDING: Final = range(3, ORDERS + 1)
"""Orders 1 and 2 know hardly any context."""

_MB: Final = 10**6


class ModelTextOptions(Options):
    """Options of every family of models: the texts."""

    train: CorpusName = Field(default="", description="corpus that trains the models; default: the one that is scored")
    holdout: float = Field(
        default=0.1,
        gt=0,
        lt=1,
        description="share scored, where the scored corpus also trains and has no holdout",
    )
    training_mb: float = Field(default=10, gt=0, le=100, description="maximum training text, in 10⁶ bytes")
    scored_mb: float = Field(default=1, gt=0, le=100, description="maximum scored text, in 10⁶ bytes")
    document_bytes: int = Field(
        default=8192,
        ge=64,
        description="maximum bytes of a scored document, so that no long one decides; longer ones are cut",
    )

    @property
    def texts(self) -> ModelTexts:
        training, scored = int(self.training_mb * _MB), int(self.scored_mb * _MB)
        return ModelTexts(self.train, self.holdout, training, scored, self.document_bytes)


class NgramBits:
    """Interpolated modified Kneser-Ney models of all orders."""

    def __init__(self, options: ModelTextOptions) -> None:
        self._options = options

    @property
    def texts(self) -> ModelTexts:
        return self._options.texts

    def fit(self, task: ModelTask, progress: Progress) -> ScoredBits:
        training, scored = task.training.encoded, task.scored.encoded
        numbers = np.arange(len(training.offsets) - 1)
        several = range(TRAINING_PARTS) if len(numbers) >= 2 * TRAINING_PARTS else ()
        parts = [documents(task.training, numbers[k::TRAINING_PARTS]).encoded for k in several]
        bits = []
        for done, chosen in enumerate([training, *parts]):
            progress("training models", done, 1 + len(parts))
            bits.append(bits_by_order(chosen, scored, task.n_ids, ORDERS))
        whole, *by_part = bits
        return ScoredBits.of(whole, by_part, task.scored.n_bytes)

    def finish_models(self, states: ModelStates) -> ModelOutcome:
        values = {name: _values(state) for name, state in states.states.items()}
        pairs = [
            compare_bits(one, other, states.states, [order - 1 for order in DECIDING])
            for one, other in states.comparable
        ]
        models = {_id(order): f"order {order}" for order in range(1, ORDERS + 1)}
        return ModelOutcome(values, pairs, models, [_id(order) for order in DECIDING], LEAST_DIFFERENCE)


def _values(state: ScoredBits) -> dict[str, Measured | NotApplicable]:
    values: dict[str, Measured | NotApplicable] = {}
    for order in range(1, ORDERS + 1):
        number = state.value(order - 1)
        values[_id(order)] = Measured(number.value, state.documents, *number.ends(), no_interval=number.reason)
    return values


def _id(order: int) -> str:
    return f"bits_per_byte_{order}"


def _metric(order: int) -> Metric:
    context = "no context" if order == 1 else f"the {order - 1} ids before" if order > 2 else "the id before"  # noqa: PLR2004
    return Metric(
        id=_id(order),
        unit="bits/byte",
        direction="none",
        label=f"bits per byte, order {order}",
        short_label=f"order {order}",
        whole=True,
        formula=f"-log₂ probability of the scored documents under the model of order {order} / their UTF-8 bytes",
        loss_cannot_help="a tokenizer that does not round-trip every scored document has no value",
        definition=(
            f"Bits per byte of text under an n-gram model that sees {context}, trained on a tokenizer's ids of one "
            "part of the text and scored on another (interpolated modified Kneser-Ney, Chen and Goodman 1999). Lower "
            "is better under this one model. No order is neutral about the size of the vocabulary: compare by the "
            "verdict over the orders 3 to 6, never by one column. Near-duplicates are left out of both parts; the "
            "interval has the errors of documents and of training text together."
        ),
    )


SPEC: Final = MetricFamily(
    name="bits_per_byte",
    summary="bits per byte of small language models trained on the ids of each tokenizer, for six orders of n-grams",
    study="language_models",
    make=NgramBits,
    options=ModelTextOptions,
    values=tuple(_metric(order) for order in range(1, ORDERS + 1)),
)
