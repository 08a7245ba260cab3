"""The options of the study: sizes, and a decoder-only transformer."""

from __future__ import annotations

from dataclasses import asdict
from importlib.util import find_spec
from typing import Annotated, Any, Final, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BeforeValidator, Field, model_validator

from tokbench.plugin import Options, Role, did_you_mean
from tokbench.studies.language_models.body import LEARNING_RATES, PRESETS, Body
from tokbench.studies.language_models.contract import ModelTexts
from tokbench.studies.vocabulary_size.checks import vocab_sizes

Precision = Literal["fp32", "bf16", "fp16", "fp8", "int8", "int4"]

BYTES: Final[dict[str, float]] = {"fp32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1, "int4": 0.5}
"""Bytes of one number, without the scales of quantized formats."""

STUDIED: Final = (Role.TEXT_PER_TOKEN, Role.TOKENS_PER_WORD, Role.ERRORS, Role.LOST_CHARACTERS, Role.ID_COUNTS)


class Model(Options):
    """The shape of a model whose vocabulary is to be chosen.

    The count has the matrices and norms of a decoder with two norms in each layer and one at the end, exact for GPT-2,
    Llama and Mistral. Mixtures of experts are not supported.

    GPT-2 small (Radford et al. 2019), and Llama 3 8B (Grattafiori et al. 2024):

    >>> gpt2 = Model(width=768, layers=12, context=1024, positions=1024, biases=True, tied=True)
    >>> int(gpt2.parameters(50257))
    124439808
    >>> llama3 = Model(
    ...     width=4096, layers=32, context=8192, heads=32, kv_heads=8, feed_forward=14336, gated=True, tied=False
    ... )
    >>> int(llama3.parameters(128256))
    8030261248
    """

    width: int = Field(gt=0, description="width of the model: numbers in the vector of a token")
    layers: int = Field(gt=0, description="layers, each with attention and feed-forward")
    context: int = Field(gt=0, description="tokens the model sees at once")
    heads: int | None = Field(None, gt=0, description="heads of attention; needed with kv_heads or head_width")
    kv_heads: int | None = Field(None, gt=0, description="heads of keys and values where queries share them")
    head_width: int | None = Field(None, gt=0, description="width of a head; default: width / heads")
    feed_forward: int | None = Field(None, gt=0, description="inner width of the feed-forward; default: 4 x width")
    gated: bool = Field(default=False, description="three matrices in the feed-forward (SwiGLU), not two")
    tied: bool = Field(default=False, description="the output layer is the embedding, not a matrix of its own")
    positions: int = Field(default=0, ge=0, description="learned position embeddings, as GPT-2 has; 0: none")
    biases: bool = Field(default=False, description="biases in every matrix and norm, as GPT-2 has")
    precision: Precision = Field(default="bf16", description="format of the weights")
    cache_precision: Precision = Field(default="bf16", description="format of the cache of keys and values")
    training_tokens: float | None = Field(None, gt=0, allow_inf_nan=False, description="tokens of training")
    training_bytes: float | None = Field(None, gt=0, allow_inf_nan=False, description="bytes of training text")

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.training_tokens is not None and self.training_bytes is not None:
            raise ValueError("give training_tokens or training_bytes, not both")
        if self.heads is None:
            if self.kv_heads is not None or self.head_width is not None:
                raise ValueError("kv_heads and head_width need heads; give the number of heads as well")
            return self
        if self.head_width is None and self.width % self.heads:
            raise ValueError(f"width {self.width} is no multiple of {self.heads} heads; give head_width as well")
        if self.kv_heads is not None and self.heads % self.kv_heads:
            raise ValueError(f"{self.heads} heads cannot share {self.kv_heads} kv_heads evenly")
        return self

    @property
    def attention_width(self) -> int:
        """Heads x head width."""
        return self.heads * self.head_width if self.heads and self.head_width else self.width

    @property
    def kv_width(self) -> int:
        """Width of a token's keys, and of its values; less where heads share them.

        >>> Model(width=4096, layers=32, context=8192, heads=32, kv_heads=8).kv_width
        1024
        """
        if self.heads is None or self.kv_heads is None:
            return self.attention_width
        return self.attention_width // self.heads * self.kv_heads

    @property
    def inner_width(self) -> int:
        return self.feed_forward or 4 * self.width

    @property
    def attention_weights(self) -> int:
        """Of one layer: width x (2 x queries + keys + values)."""
        return 2 * self.width * (self.attention_width + self.kv_width)

    @property
    def feed_forward_weights(self) -> int:
        """Of one layer: 2 matrices, or 3 with a gate (Shazeer 2020, "GLU Variants")."""
        return (3 if self.gated else 2) * self.width * self.inner_width

    @property
    def parameters_without_vocabulary(self) -> int:
        """With learned positions, without embedding and output layer.

        layers x (attention + feed-forward + 2 norms) + a norm + positions x width, and all biases.

        >>> gpt2 = Model(width=768, layers=12, context=1024, positions=1024, biases=True)
        >>> gpt2.parameters_without_vocabulary  # 12 x (12 x 768**2 + 13 x 768) + 2 x 768 + 1,024 x 768
        85842432
        """
        norm = 2 * self.width if self.biases else self.width
        layer = self.attention_weights + self.feed_forward_weights + 2 * norm
        if self.biases:
            layer += self.attention_width + 2 * self.kv_width + self.width  # queries, keys and values, back
            layer += (2 if self.gated else 1) * self.inner_width + self.width  # in, and back
        return self.layers * layer + norm + self.positions * self.width

    def embedding_parameters(self, vocab_size: ArrayLike) -> NDArray[np.int64]:
        """Parameters of the embedding: int64, vocab_size x width.

        >>> int(Model(width=768, layers=12, context=1024).embedding_parameters(50257))
        38597376
        """
        return vocab_sizes(vocab_size) * self.width

    def output_parameters(self, vocab_size: ArrayLike) -> NDArray[np.int64]:
        """int64; 0 if tied to the embedding (Press and Wolf 2017).

        >>> Model(width=4096, layers=32, context=4096).output_parameters([32000, 128256]).tolist()
        [131072000, 525336576]
        """
        return self.embedding_parameters(vocab_size) * (0 if self.tied else 1)

    def vocabulary_parameters(self, vocab_size: ArrayLike) -> NDArray[np.int64]:
        """Parameters of embedding and output layer: int64.

        >>> Model(width=4096, layers=32, context=4096).vocabulary_parameters([32000, 128256]).tolist()
        [262144000, 1050673152]
        """
        return self.embedding_parameters(vocab_size) + self.output_parameters(vocab_size)

    def parameters(self, vocab_size: ArrayLike) -> NDArray[np.int64]:
        """Return all parameters: int64.

        Llama 2 7B (Touvron et al. 2023):

        >>> llama2 = Model(width=4096, layers=32, context=4096, feed_forward=11008, gated=True)
        >>> int(llama2.parameters(32000))
        6738415616
        """
        return self.parameters_without_vocabulary + self.vocabulary_parameters(vocab_size)

    def vocabulary_share(self, vocab_size: ArrayLike) -> NDArray[np.float64]:
        """Of embedding and output layer in all parameters: float64, 0 … 1.

        >>> gpt2 = Model(width=768, layers=12, context=1024, positions=1024, biases=True, tied=True)
        >>> gpt2.vocabulary_share([8192, 50257]).round(3).tolist()
        [0.068, 0.31]
        """
        return self.vocabulary_parameters(vocab_size) / self.parameters(vocab_size)

    def vocabulary_bytes(self, vocab_size: ArrayLike) -> NDArray[np.float64]:
        """Memory of embedding and output layer in ``precision``: float64, bytes.

        >>> (Model(width=4096, layers=32, context=4096).vocabulary_bytes([32000, 128256]) / 2**20).tolist()
        [500.0, 2004.0]
        """
        return self.vocabulary_parameters(vocab_size).astype(np.float64) * BYTES[self.precision]


COMMON_SIZES: Final = (
    1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 50_000, 64_000, 100_000, 128_000, 150_000, 200_000, 256_000
)  # fmt: skip


_NO_JAX: Final = (
    "bits per byte are measured with JAX and optax, which are not installed; type: pip install 'tokbench[lm]'"
)


class BodyShape(Options):
    """The shape of a small transformer, and its training.

    >>> BodyShape(width=64, layers=2, heads=2).body == PRESETS["tiny"]
    True
    """

    width: int = Field(gt=0, description="width: numbers in the vector of a token; a multiple of 2 x heads")
    layers: int = Field(gt=0, description="layers, each with attention and feed-forward")
    heads: int = Field(gt=0, description="heads of attention")
    context_bytes: int = Field(default=256, ge=8, description="bytes of text that a window has, on average")
    step_bytes: int = Field(default=1024, ge=8, description="bytes of text of one step of training")

    @model_validator(mode="after")
    def _heads_divide(self) -> Self:
        if self.width % (2 * self.heads):
            raise ValueError(f"width {self.width} is no multiple of 2 x {self.heads} heads; give another one of them")
        return self

    @property
    def body(self) -> Body:
        return Body(self.width, self.layers, self.heads, self.context_bytes, self.step_bytes)

    @property
    def name(self) -> str:
        """The name of an equal preset, or its numbers.

        >>> BodyShape(width=64, layers=2, heads=2).name, BodyShape(width=32, layers=2, heads=2).name
        ('tiny', 'width 32, layers 2')
        """
        preset = next((name for name, body in PRESETS.items() if body == self.body), "")
        return preset or f"width {self.width}, layers {self.layers}"


def _shape(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    if given not in PRESETS:
        raise ValueError(f"unknown body {given!r}; {did_you_mean(given, PRESETS)}")
    return asdict(PRESETS[given])


class MeasuredStudy(Options):
    """Options of sizes measured with a small transformer."""

    sizes: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=2)] = Field(
        description="sizes; a vocabulary of merges is cut to each, others are taken at the sizes they were trained at"
    )
    bodies: tuple[Annotated[BodyShape, BeforeValidator(_shape)], ...] = Field(
        default=(BodyShape(width=64, layers=2, heads=2),),
        description="transformers: tiny, small, gpu, or {width: 128, layers: 2, heads: 2}",
    )
    tokenizers: tuple[str, ...] = Field(
        default=(), description="tokenizers of the configuration that are measured; default: all that the run trains"
    )
    corpus: str = Field(default="", description="corpus whose documents are scored; default: the first one studied")
    train: str = Field(default="", description="corpus that trains; default: what 'corpus' does not score")
    holdout: float = Field(
        default=0.2, gt=0, lt=1, description="share that is scored of a corpus that trains and has no holdout"
    )
    training_mb: float = Field(default=2.0, gt=0, allow_inf_nan=False, description="training text at most, 10^6 bytes")
    scored_mb: float = Field(default=0.5, gt=0, allow_inf_nan=False, description="scored text at most, 10^6 bytes")
    document_kb: float = Field(
        default=8.0, gt=0, allow_inf_nan=False, description="scored text of a document at most, 10^3 bytes"
    )
    shares: Annotated[tuple[Annotated[float, Field(gt=0, le=1)], ...], Field(min_length=1)] = Field(
        default=(0.25, 1.0), description="shares of the training text after which a model is scored, rising to 1"
    )
    seeds: int = Field(default=3, ge=1, description="trainings of each size and body; an interval needs two")
    learning_rates: Annotated[tuple[Annotated[float, Field(gt=0)], ...], Field(min_length=1)] = Field(
        default=LEARNING_RATES, description="learning rates that are tried on a tenth of the text for each size"
    )

    @property
    def texts(self) -> ModelTexts:
        most = (int(1e6 * self.training_mb), int(1e6 * self.scored_mb))
        document = int(1e3 * self.document_kb)
        return ModelTexts(self.train, self.holdout, *most, most_document=document, training_piece=document)

    @model_validator(mode="after")
    def _can_run(self) -> Self:
        if list(self.shares) != sorted(set(self.shares)) or self.shares[-1] != 1:
            raise ValueError("shares must rise to 1, such as [0.25, 1.0]")
        names = [body.name for body in self.bodies]
        if not names:
            raise ValueError("bodies must not be empty; give one, such as tiny")
        if len(set(names)) < len(names):
            raise ValueError("two bodies have the same width and layers; give them other ones")
        if not all(map(find_spec, ("jax", "optax"))):
            raise ValueError(_NO_JAX)
        return self


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
    weights: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(
        default_factory=dict,
        description="share of each corpus in the text of the model, such as {prose: 3, code: 1}; default: all alike",
    )
    measured: MeasuredStudy | None = Field(
        default=None, description="bits per byte of small transformers that are trained at several sizes"
    )

    @model_validator(mode="after")
    def _some_weight(self) -> Self:
        if self.weights and not any(self.weights.values()):
            raise ValueError("every weight is 0; give at least one corpus a weight above 0")
        return self
