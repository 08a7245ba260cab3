"""The cost of a token and of a byte in a model."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tokbench.studies.vocabulary_size.checks import positive, vocab_sizes
from tokbench.studies.vocabulary_size.options import BYTES, Model

TRAINING_FACTOR: Final = 3
"""Three forward passes: the backward pass does each product twice (Kaplan et al. 2020, section 2.1)."""

LOGIT_BYTES: Final = BYTES["fp32"]


class Flops(NamedTuple):
    """Floating-point operations of one token's forward pass; a multiplication and an addition are two.

    ``output`` is float64 by vocabulary size, the rest is of all layers.
    """

    projections: float
    attention: float
    feed_forward: float
    output: NDArray[np.float64]

    @property
    def total(self) -> NDArray[np.float64]:
        return self.projections + self.attention + self.feed_forward + self.output


def forward_flops(model: Model, vocab_size: ArrayLike) -> Flops:
    """Return the FLOPs of the forward pass of one token in training, with a full context.

    2 for each weight of a product, and 2 x layers x context x attention width for attention: both its products see
    context / 2 tokens on average (Kaplan et al. 2020, "Scaling Laws for Neural Language Models", table 1). Embedding,
    norms, biases and softmax are not counted.

    >>> gpt2 = Model(width=768, layers=12, context=1024, positions=1024, biases=True, tied=True)
    >>> flops = forward_flops(gpt2, [8192, 50257])
    >>> flops.projections, flops.attention, flops.feed_forward, flops.output.tolist()
    (56623104.0, 18874368.0, 113246208.0, [12582912.0, 77194752.0])
    >>> flops.total.tolist()
    [201326592.0, 265938432.0]
    """
    return Flops(
        2.0 * model.layers * model.attention_weights,
        2.0 * model.layers * model.context * model.attention_width,
        2.0 * model.layers * model.feed_forward_weights,
        2.0 * model.width * vocab_sizes(vocab_size).astype(np.float64),
    )


def flops_per_byte(model: Model, vocab_size: ArrayLike, bytes_per_token: ArrayLike) -> NDArray[np.float64]:
    """Return float64[s], the forward FLOPs of a byte of text at full context: FLOPs of a token / bytes per token.

    >>> gpt2 = Model(width=768, layers=12, context=1024, positions=1024, biases=True, tied=True)
    >>> (flops_per_byte(gpt2, [8192, 50257], [3.6, 4.4]) / 1e6).round(1).tolist()
    [55.9, 60.4]
    """
    return forward_flops(model, vocab_size).total / positive(bytes_per_token, "bytes per token")


def training_tokens(model: Model, bytes_per_token: ArrayLike) -> NDArray[np.float64] | None:
    """Return the tokens of training at each size, or its bytes / bytes per token, if known.

    >>> training_tokens(Model(width=8, layers=1, context=8, training_bytes=1e12), [4.0, 5.0]).tolist()
    [250000000000.0, 200000000000.0]
    """
    length = positive(bytes_per_token, "bytes per token")
    if model.training_tokens is not None:
        return np.full_like(length, model.training_tokens)
    return None if model.training_bytes is None else model.training_bytes / length


def training_flops(model: Model, vocab_size: ArrayLike, bytes_per_token: ArrayLike) -> NDArray[np.float64] | None:
    """Return the training FLOPs at each size: 3 x forward FLOPs x tokens, if known.

    >>> gpt2 = Model(width=768, layers=12, context=1024, tied=True, training_tokens=1e10)
    >>> training_flops(gpt2, [50257], [4.4]).tolist()
    [7.97815296e+18]
    """
    tokens = training_tokens(model, bytes_per_token)
    return None if tokens is None else TRAINING_FACTOR * forward_flops(model, vocab_size).total * tokens


def kv_cache_per_token(model: Model) -> float:
    """Return the bytes of keys and values of one token: 2 x layers x kv width x bytes of ``cache_precision``.

    Shared heads make it smaller (Ainslie et al. 2023, "GQA").

    >>> kv_cache_per_token(Model(width=4096, layers=32, context=8192, heads=32, kv_heads=8)) / 1024
    128.0
    """
    return 2 * model.layers * model.kv_width * BYTES[model.cache_precision]


def kv_cache_per_byte(model: Model, bytes_per_token: ArrayLike) -> NDArray[np.float64]:
    """Return the bytes of cache for a byte of text: float64.

    >>> kv_cache_per_byte(Model(width=4096, layers=32, context=8192, heads=32, kv_heads=8), [4.0, 5.0]).tolist()
    [32768.0, 26214.4]
    """
    return kv_cache_per_token(model) / positive(bytes_per_token, "bytes per token")


def context_bytes(model: Model, bytes_per_token: ArrayLike) -> NDArray[np.float64]:
    """Return the bytes of text in the context: float64, context x bytes per token.

    >>> context_bytes(Model(width=768, layers=12, context=1024), [1.0, 4.5]).tolist()
    [1024.0, 4608.0]
    """
    return model.context * positive(bytes_per_token, "bytes per token")


def logits_per_token(vocab_size: ArrayLike) -> NDArray[np.float64]:
    """Return the bytes of the logits of one token in fp32: float64.

    >>> (logits_per_token([32000, 256000]) * 8192 / 2**30).round(2).tolist()  # GiB for 8,192 tokens
    [0.98, 7.81]
    """
    return LOGIT_BYTES * vocab_sizes(vocab_size).astype(np.float64)
