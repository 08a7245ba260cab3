"""The family ``transformer``: bits per byte of small transformers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from tokbench.plugin import Progress
from tokbench.plugin.metrics import Measured, Metric, MetricFamily, NotApplicable
from tokbench_models.language_models.bits_per_byte import ModelTextOptions
from tokbench_models.language_models.block import ModelTraining, TrainedAmount
from tokbench_models.language_models.body import LEARNING_RATES, PRESETS, TransformerShape, memory_bytes
from tokbench_models.language_models.contract import ModelOutcome, ModelStates, ModelTask, ModelTexts
from tokbench_models.language_models.scored_bits import LEAST_DIFFERENCE, ScoredBits, compare_bits

if TYPE_CHECKING:
    from tokbench_models.language_models.learning_rate import SeedCurves

_QUARTER = "transformer_bits_per_byte_quarter"
_TEXT, _FLOPS = "transformer_bits_per_byte", "transformer_bits_per_byte_flops"

_INSTALL: Final = "the family transformer needs JAX and optax: pip install 'tokbench-models[lm]'"


class TransformerOptions(ModelTextOptions):
    """Options of the family ``transformer``."""

    training_mb: float = Field(default=1, gt=0, le=10_000, description="maximum training text, in 10⁶ bytes")
    scored_mb: float = Field(default=0.2, gt=0, le=100, description="maximum scored text, in 10⁶ bytes")
    document_bytes: int = Field(
        default=4096,
        ge=64,
        description="maximum bytes of a document: a longer scored document is cut, a longer training document is split",
    )
    preset: Literal["tiny", "small", "gpu"] = Field(
        default="tiny", description="the size of the model; the five options after it replace its numbers"
    )
    width: int | None = Field(default=None, ge=4, le=8192, description="width of the model")
    layers: int | None = Field(default=None, ge=1, le=128, description="layers")
    heads: int | None = Field(
        default=None, ge=1, le=128, description="attention heads; the width must be a multiple of twice their number"
    )
    context_bytes: int | None = Field(default=None, ge=8, le=65_536, description="average bytes of text in a window")
    step_bytes: int | None = Field(default=None, ge=64, description="bytes of text in a training step")
    seeds: int = Field(
        default=3,
        ge=2,
        le=100,
        description="trainings of each tokenizer, with other initial parameters and another order of the text",
    )
    rates: list[float] = Field(
        default=list(LEARNING_RATES),
        min_length=1,
        description="learning rates to try on a tenth of the text; a single one is used as it is",
    )

    @property
    def body(self) -> TransformerShape:
        chosen = {name: getattr(self, name) for name in ("width", "layers", "heads", "context_bytes", "step_bytes")}
        preset = PRESETS[self.preset]
        return TransformerShape(
            **{name: getattr(preset, name) if value is None else value for name, value in chosen.items()}
        )

    @model_validator(mode="after")
    def _possible(self) -> TransformerOptions:
        if find_spec("jax") is None or find_spec("optax") is None:
            raise ValueError(_INSTALL)
        body = self.body
        if body.width % (2 * body.heads):
            raise ValueError(f"a width of {body.width} is not a multiple of twice {body.heads} heads")
        if any(not 0 < rate <= 1 for rate in self.rates):
            raise ValueError("learning rates are above 0, and 1 at most")
        return self


@dataclass(frozen=True, eq=False)
class TrainedModels:
    """The models of one tokenizer, on one corpus.

    Attributes:
        rates: bits per byte by learning rate, on a tenth of the text.
        seen, flops: int64[p], UTF-8 bytes of text and operations up to each point; means over seeds.
        bits: float64[s, p, g], by seed, point and jackknife group.
        n_bytes: float64[g].
    """

    n_ids: int
    window: int
    learning_rate: float
    rates: Mapping[float, float]
    seen: NDArray[np.int64]
    flops: NDArray[np.int64]
    seconds: float
    bits: NDArray[np.float64]
    n_bytes: NDArray[np.float64]
    documents: int

    def at(self, *places: float) -> ScoredBits:
        """Return the mean bits at places between points, such as 1.5."""
        bits = np.stack([self._between(place) for place in places], axis=1)  # by seed, place and group
        by_seed = bits.sum(axis=2) / self.n_bytes.sum()
        return ScoredBits(bits.mean(axis=0), self.n_bytes, by_seed, self.documents)

    def _between(self, place: float) -> NDArray[np.float64]:
        low = min(int(place), len(self.flops) - 1)
        high = min(low + 1, len(self.flops) - 1)
        return np.asarray(self.bits[:, low] + (place - low) * (self.bits[:, high] - self.bits[:, low]))

    def place_of(self, flops: float) -> float | None:
        """Return the place of a budget between the points, linear in its logarithm, if inside."""
        logs = np.log(self.flops.astype(np.float64))
        wanted = math.log(flops)
        if not logs[0] <= wanted <= logs[-1] + 1e-12:
            return None
        return float(np.interp(wanted, logs, np.arange(len(logs))))

    @property
    def quarter(self) -> int | None:
        shares = self.seen / self.seen[-1]
        near = int(np.abs(np.log2(shares) + 2).argmin())
        return near if 0.2 <= shares[near] <= 0.3 else None  # noqa: PLR2004 - a fifth more or less is still a quarter


class TransformerBits:
    """Transformers of one body with several seeds."""

    def __init__(self, options: TransformerOptions) -> None:
        self._options = options

    @property
    def texts(self) -> ModelTexts:
        return self._options.texts._replace(training_piece=self._options.document_bytes)

    def fit(self, task: ModelTask, progress: Progress) -> TrainedModels:
        from tokbench_models.language_models.learning_rate import train_seeds
        from tokbench_models.language_models.transformer_model import window_of  # imports JAX, which takes a second
        from tokbench_models.language_models.windows import renumbered

        options, body = self._options, self._options.body
        learned, scored = renumbered(task.training, task.scored)
        window = window_of(learned, body.context_bytes)
        memory = f"about {memory_bytes(task.n_ids, body, window) / 1e6:,.0f} MB"
        trained = train_seeds(
            task._replace(training=learned, scored=scored),
            body,
            seeds=range(1, options.seeds + 1),
            rates=options.rates,
            progress=lambda step, done, total: progress(f"{step} ({memory})", done, total),
        )
        return _state(task, trained, window)

    def finish_models(self, states: ModelStates) -> ModelOutcome:
        trained: Mapping[str, TrainedModels] = states.states
        budget = min((int(state.flops[-1]) for state in trained.values()), default=0)
        places = {name: state.place_of(budget) for name, state in trained.items()}
        scored = {
            name: state.at(state.quarter or 0, len(state.flops) - 1, places[name] or 0.0)
            for name, state in trained.items()
        }
        values = {name: self._values(name, scored[name], places[name], trained, budget) for name in trained}
        both = [pair for pair in states.comparable if all(places[name] is not None for name in pair)]
        return ModelOutcome(
            values,
            [compare_bits(one, other, scored, (1, 2)) for one, other in both],
            {_QUARTER: "a quarter of the text", _TEXT: "equal text", _FLOPS: "equal computing"},
            [_TEXT, _FLOPS],
            LEAST_DIFFERENCE,
            {name: self._training(state) for name, state in trained.items()},
        )

    def _values(
        self, name: str, scored: ScoredBits, place: float | None, trained: Mapping[str, TrainedModels], budget: int
    ) -> dict[str, Measured | NotApplicable]:
        values: dict[str, Measured | NotApplicable] = {}
        for number, metric in enumerate((_QUARTER, _TEXT, _FLOPS)):
            bits = scored.value(number)
            values[metric] = Measured(bits.value, scored.documents, *bits.ends(), no_interval=bits.reason)
        if trained[name].quarter is None:
            values[_QUARTER] = NotApplicable("the training documents are too few or too long for a quarter of the text")
        if place is None:
            first = int(trained[name].flops[0])
            values[_FLOPS] = NotApplicable(
                f"the budget of all is {budget:.3g} operations, and the first model of {name} took {first:.3g}; "
                "nothing is extrapolated"
            )
        return values

    def _training(self, state: TrainedModels) -> ModelTraining:
        body, amounts = self._options.body, []
        for point, (seen, flops) in enumerate(zip(state.seen.tolist(), state.flops.tolist(), strict=True)):
            bits = state.at(point).value(0)
            amounts.append(TrainedAmount(n_bytes=seen, flops=flops, bits_per_byte=bits.value, error=bits.error))
        return ModelTraining(
            parameters=body.parameters + (state.n_ids + 2) * body.width,
            window=state.window,
            learning_rate=state.learning_rate,
            rates={f"{rate:g}": bits for rate, bits in state.rates.items()},
            seconds=state.seconds,
            memory=memory_bytes(state.n_ids, body, state.window),
            amounts=amounts,
            seeds=(state.bits[:, -1].sum(axis=1) / state.n_bytes.sum()).tolist(),
        )


def _state(task: ModelTask, trained: SeedCurves, window: int) -> TrainedModels:
    points = min(map(len, trained.curves))
    last = [curve[-points:] for curve in trained.curves]
    by_seed = [ScoredBits.of(np.array([point.bits for point in curve]), [], task.scored.n_bytes) for curve in last]
    return TrainedModels(
        n_ids=task.n_ids,
        window=window,
        learning_rate=trained.learning_rate,
        rates=trained.tried,
        seen=np.mean([[point.n_bytes for point in curve] for curve in last], axis=0).astype(np.int64),
        flops=np.mean([[point.flops for point in curve] for curve in last], axis=0).astype(np.int64),
        seconds=sum(curve[-1].seconds for curve in last),
        bits=np.stack([bits.bits for bits in by_seed]),
        n_bytes=by_seed[0].n_bytes,
        documents=by_seed[0].documents,
    )


def _metric(identity: str, label: str, budget: str) -> Metric:
    return Metric(
        id=identity,
        unit="bits/byte",
        direction="none",
        label=f"bits per byte of a transformer, {label}",
        short_label=label,
        whole=True,
        formula="-log₂ probability of the scored documents / their UTF-8 bytes, the mean over seeds",
        loss_cannot_help="a tokenizer that does not round-trip every scored document has no value",
        definition=(
            "Bits per byte of text under a small transformer, trained on a tokenizer's ids of one part of the text "
            f"and scored on another. {budget} Near-duplicates are left out of both parts; the interval has the errors "
            "of documents and of seeds together. Lower is better under this one model."
        ),
    )


SPEC: Final = MetricFamily(
    name="transformer",
    summary="bits per byte of small transformers trained on the ids of each tokenizer, at equal text and computing",
    study="language_models",
    make=TransformerBits,
    options=TransformerOptions,
    values=(
        _metric(
            _QUARTER,
            "a quarter of the text",
            "The models have learned from a quarter of the training text; this shows what more text changes.",
        ),
        _metric(_TEXT, "equal text", "All tokenizers are trained on the same bytes of text."),
        _metric(
            _FLOPS,
            "equal computing",
            "All tokenizers are trained with as many floating-point operations as the one that took fewest: read off "
            "between the models after a 16th, an eighth, a quarter, a half and all of the text, never beyond them.",
        ),
    ),
)
