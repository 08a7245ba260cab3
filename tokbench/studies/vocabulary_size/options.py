"""The options of the study: sizes, and a decoder-only transformer."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Self

from pydantic import BeforeValidator, Field, model_validator

from tokbench.foundation.errors import close_name
from tokbench.measuring.metric import Role
from tokbench.tokenizers.options import Options

STUDIED: Final = (Role.TEXT_PER_TOKEN, Role.TOKENS_PER_WORD, Role.LOST_CHARACTERS, Role.ID_COUNTS)


class Model(Options):
    """The shape of a model whose vocabulary is to be chosen.

    The count has the matrices and norms of a decoder with two norms in each layer and one at the end, exact for GPT-2,
    Llama and Mistral. Mixtures of experts are not supported.
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
            raise ValueError(f"width {self.width} is not a multiple of {self.heads} heads; give head_width as well")
        if self.kv_heads is not None and self.heads % self.kv_heads:
            raise ValueError(f"{self.heads} heads cannot share {self.kv_heads} kv_heads evenly")
        return self

    @property
    def attention_width(self) -> int:
        """Heads x head width."""
        return self.heads * self.head_width if self.heads and self.head_width else self.width

    @property
    def kv_width(self) -> int:
        """Width of a token's keys, and of its values; less where heads share them."""
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


_LLAMA: Final = {"context": 8192, "gated": True}

MODELS: Final[Mapping[str, Model]] = {
    name: Model.model_validate(shape)
    for name, shape in {
        "125m": {"width": 768, "layers": 12, "context": 1024, "positions": 1024, "biases": True, "tied": True},
        "1b": {**_LLAMA, "width": 2048, "layers": 16, "heads": 32, "kv_heads": 8, "feed_forward": 8192, "tied": True},
        "8b": {**_LLAMA, "width": 4096, "layers": 32, "heads": 32, "kv_heads": 8, "feed_forward": 14336},
        "70b": {**_LLAMA, "width": 8192, "layers": 80, "heads": 64, "kv_heads": 8, "feed_forward": 28672},
        "405b": {**_LLAMA, "width": 16384, "layers": 126, "heads": 128, "kv_heads": 8, "feed_forward": 53248},
    }.items()
}
"""Published shapes by name: GPT-2 small, Llama 3.2 1B, and Llama 3 8B, 70B and 405B."""

DEFAULT_MODELS: Final = ("125m", "1b", "8b")

_WIDTH_STEP: Final = 128


def _millions(name: str) -> float:
    return float(name[:-1]) * (1000 if name.endswith("b") else 1)


def model_named(name: str) -> Model:
    """Return the model of a number of parameters from 125m to 405b, or of a width and layers, in any letter case.

    Between two published shapes, width, layers, feed-forward and context are interpolated: their logarithms are linear
    in the logarithm of the parameters. All else is as in the larger one. Raise a ValueError for any other name.

    >>> model_named("8B").layers, model_named("4096x32").width
    (32, 4096)
    >>> between = model_named("3b")  # Llama 3.2 3B has a width of 3,072 and 28 layers
    >>> between.width, between.layers, round(between.parameters_without_vocabulary / 1e9, 2)
    (2944, 23, 2.73)
    """
    name = name.lower()
    if shape := re.fullmatch(r"([1-9][0-9]{0,5})x([1-9][0-9]{0,3})", name):
        return Model.model_validate({"width": int(shape[1]), "layers": int(shape[2]), "context": 2048})
    size = _millions(name) if re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?[mb]", name) else 0.0
    known = {_millions(each): model for each, model in MODELS.items()}
    if not min(known) <= size <= max(known):
        close = f"{name}b" if re.fullmatch(r"[0-9]{1,2}(\.[0-9]+)?", name) else "" if size else close_name(name, MODELS)
        hint = f"; did you mean {close!r}?" if close else ""
        raise ValueError(f"a model is 125m to 405b, or WIDTHxLAYERS such as 4096x32; {name[:40]!r} is not{hint}")
    below, above = max(n for n in known if n <= size), min(n for n in known if n >= size)
    small, large = known[below], known[above]
    if below == above:
        return large
    share = math.log(size / below) / math.log(above / below)

    def between(one: int, other: int, step: int = 1) -> int:
        return round(one * math.exp(share * math.log(other / one)) / step) * step

    shape_between = {
        "width": between(small.width, large.width, _WIDTH_STEP),
        "layers": between(small.layers, large.layers),
        "feed_forward": between(small.inner_width, large.inner_width, _WIDTH_STEP),
        "context": between(small.context, large.context, _WIDTH_STEP),
    }
    return Model.model_validate({**large.model_dump(exclude_none=True), **shape_between})


COMMON_SIZES: Final = (
    1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 50_000, 64_000, 100_000, 128_000, 150_000, 200_000, 256_000
)  # fmt: skip


def _known(model: Any) -> Any:
    if not isinstance(model, str | int | float):
        return model
    model_named(str(model))
    return str(model).lower()


class VocabularyStudy(Options):
    """Options of the study of vocabulary sizes."""

    sizes: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1)] = Field(
        default=COMMON_SIZES,
        description="sizes in the tables; those beyond a vocabulary are left out, its own size is always there",
    )
    model: Annotated[str | Model, BeforeValidator(_known)] | None = Field(
        default=None,
        description="the model for which the size is chosen: 125m to 405b, WIDTHxLAYERS, or a shape; default: three",
    )

    @property
    def models(self) -> dict[str, Model]:
        """The models by name."""
        if self.model is None:
            return {name: MODELS[name] for name in DEFAULT_MODELS}
        return {self.model: model_named(self.model)} if isinstance(self.model, str) else {"own": self.model}
